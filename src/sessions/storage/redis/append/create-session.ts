import { randomUUID } from 'node:crypto';
import { type Lifetimes, NEVER, expiresAt } from '../../../domain/expiry.js';
import type { SessionKey } from '../../../domain/ids.js';
import { NOTHING_WAITS, newRecord } from '../../../domain/session-record.js';
import type { StateText } from '../../../domain/state-text.js';
import { initialExcess, readExcessError, sizeAfter, writeExcessError } from '../../../domain/state-size.js';
import { type StateWrites, changesNothing, writesOf } from '../../../domain/stored-json.js';
import type { NewSessionRequest } from '../../session-store.js';
import type { ReadSession } from '../read/read-session.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import type { RedisKeys } from '../redis-keys.js';
import {
  type FlatHash,
  type OwnStateReply,
  STATE_HAS_KEYS,
  type ScriptArguments,
  excessFrom,
  flag,
  keyArguments,
  lifetimeArguments,
  limitArguments,
  stateOfScopes,
  writeArguments,
} from '../script/codec.js';
import { type RecordText, parseRecord } from '../../record-text.js';
import type { ScriptRunner } from '../script/script.js';
import { CREATE_SESSION } from './create-session.lua.js';
import { logArguments } from './initial-log.js';

type ExcessReply = readonly [kind: 'excess', scope: string, bytes: string, isByWrite: number];

type CreateReply =
  | ExcessReply
  | readonly [
      now: string,
      record: RecordText,
      session: OwnStateReply,
      user: FlatHash,
      app: FlatHash,
      pending?: FlatHash,
      readAt?: string,
    ]
  | null;

export async function createSession(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  { key, baseState, upserts, expiry, metadata = '', log, turnsOnly, maxStateBytes, stateText }: NewSessionRequest,
  noteTime: (now: string) => void,
): Promise<ReadSession | undefined> {
  const incarnation = randomUUID();
  const writes = { upserts, removals: [] };
  const before = await app.stateBefore(key.appName, maxStateBytes);
  const excess = initialExcess(writes, maxStateBytes) ?? (await app.excessOf(key, writes, maxStateBytes));
  if (excess) throw writeExcessError(excess);
  const { atMost: stateBytes } = sizeAfter({ atMost: 0 }, writes, 'session');
  const ofSession = writesOf('session', writes);
  const own = { stateText, stateBytes, writes: stateText === undefined ? ofSession : NO_WRITES };
  const isPlain =
    !app.isCluster && ofSession.upserts.length === upserts.length && isEndless(expiry) && metadata === '' && !log;
  const reply = await scripts.write<CreateReply>(CREATE_SESSION, {
    keys: isPlain ? [keys.partsOf(key).recordKey] : app.sessionKeys(key),
    usedKeys: () => app.sessionKeys(key),
    args: isPlain
      ? plainArguments(key, keys, { incarnation, baseState, turnsOnly, own, maxStateBytes })
      : [
          ...keyArguments(key),
          incarnation,
          baseState,
          flag(turnsOnly),
          metadata,
          stateText ?? STATE_HAS_KEYS,
          stateBytes,
          ...limitArguments(maxStateBytes),
          expiry.session.ttlMs,
          ...lifetimeArguments(expiry.user),
          ...lifetimeArguments(expiry.app),
          ...writeArguments(own.writes),
          ...writeArguments(writesOf('user', writes)),
          ...app.writeArguments(writesOf('app', writes), expiry.app),
          ...logArguments(log),
        ],
  });
  if (!reply) return undefined;
  if (isExcess(reply)) {
    const [, scope, bytes, isByWrite] = reply;
    const found = excessFrom(scope, bytes, maxStateBytes);
    throw isByWrite ? writeExcessError(found) : readExcessError(found, key);
  }
  const [now, recordReply, session, user, appReply, pending = [], readAt = ''] = reply;
  noteTime(now);
  const isNew = recordReply === '';
  const record = isNew
    ? newRecord(key, incarnation, Number(now), expiresAt(Number(now), expiry.session), log, turnsOnly, stateBytes)
    : parseRecord(key, recordReply);
  if (record.waitingSince !== NOTHING_WAITS) app.announceChange(key);
  const appState = await afterWrite(async () => {
    await app.applyPending({ key, incarnation: record.incarnation, pending, readAt });
    await app.renewIfDue(key.appName, expiry.app, Number(now));
    const isUnchanged = changesNothing(writesOf('app', writes)) && expiry.app.ttlMs >= NEVER;
    return (isUnchanged && before) || app.stateOf(key.appName, appReply, maxStateBytes);
  });
  const ofNew = stateText ?? ofSession.upserts.flatMap(({ name, value }) => [name, value]);
  const ownState = isNew ? ofNew : session;
  const created = { record, now: Number(now), events: [], metadata, ...stateOfScopes(ownState, user, appState) };
  return { session: created, stateText: typeof ownState === 'string' ? ownState : undefined };
}

const NO_WRITES: StateWrites = { upserts: [], removals: [] };

function isExcess(reply: NonNullable<CreateReply>): reply is ExcessReply {
  return reply[0] === 'excess';
}

function isEndless({ session, user, app }: Lifetimes): boolean {
  return Math.min(session.ttlMs, user.ttlMs, app.ttlMs) >= NEVER;
}

/** A session's own state: as one text, or what writes its keys. */
interface OwnState {
  readonly stateText: StateText | undefined;
  readonly stateBytes: number;
  readonly writes: StateWrites;
}

/** What most new sessions have, and the lengths of their encoded ids. */
function plainArguments(
  key: SessionKey,
  keys: RedisKeys,
  {
    incarnation,
    baseState,
    turnsOnly,
    own,
    maxStateBytes,
  }: { own: OwnState; incarnation: string } & Pick<NewSessionRequest, 'baseState' | 'turnsOnly' | 'maxStateBytes'>,
): ScriptArguments {
  const { app, user, id } = keys.partsOf(key);
  const args = [...keyArguments(key), incarnation, baseState, flag(turnsOnly), app.length, user.length, id.length];
  args.push(...limitArguments(maxStateBytes), own.stateText ?? STATE_HAS_KEYS, own.stateBytes);
  for (const { name, value } of own.writes.upserts) args.push(name, value);
  return args;
}
