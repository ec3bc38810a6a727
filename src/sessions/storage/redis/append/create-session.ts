import { randomUUID } from 'node:crypto';
import { type Lifetimes, NEVER } from '../../../domain/values/expiry.js';
import { NOTHING_WAITS } from '../../../domain/stored/session-record.js';
import { readExcessError, writeExcessError } from '../../../domain/stored/state-size.js';
import { newStamp } from '../../../domain/values/stamp.js';
import { type StateWrites, changesNothing, writesOf } from '../../../domain/stored/stored-json.js';
import type { NewSessionRequest } from '../../session-store.js';
import type { ReadSession } from '../read/read-session.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import type { RedisKeys } from '../redis-keys.js';
import {
  type FlatHash,
  type OwnStateReply,
  STATE_HAS_KEYS,
  excessFrom,
  keyArguments,
  lifetimeArguments,
  limitArguments,
  stateOfScopes,
  writeArguments,
} from '../script/codec.js';
import { parseRecord, type RecordText, recordText } from '../../record-text.js';
import type { ScriptRunner } from '../script/script.js';
import { CREATE_SESSION } from './create-session.lua.js';
import { logArguments } from './initial-log.js';
import type { ServerClock } from './server-clock.js';

type LateReply = readonly [kind: 'late', serverTime: string];
type ExcessReply = readonly [kind: 'excess', scope: string, bytes: string, isByWrite: number];

type CreateReply =
  | LateReply
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
  request: NewSessionRequest,
  clock: ServerClock,
): Promise<ReadSession | undefined> {
  const { key, upserts, expiry, metadata = '', maxStateBytes, stateText, recordAt } = request;
  const incarnation = randomUUID();
  const writes = { upserts, removals: [] };
  const before = await app.stateBefore(key.appName, maxStateBytes);
  const excess = await app.excessOf(key, writes, maxStateBytes);
  if (excess) throw writeExcessError(excess);
  for (;;) {
    // The first answer says what time it is.
    const plannedAt = clock.moment()?.now ?? 0;
    const planned = { ...recordAt(plannedAt), incarnation };
    const text = recordText({ record: planned, stamp: newStamp() });
    const reply = await sendCreation(scripts, keys, app, request, { text, range: clock.rangeFrom(plannedAt) });
    if (!reply) return undefined;
    if (isLate(reply)) {
      clock.note(reply[1]);
      clock.renew();
      continue;
    }
    if (isExcess(reply)) {
      const [, scope, bytes, isByWrite] = reply;
      const found = excessFrom(scope, bytes, maxStateBytes);
      throw isByWrite ? writeExcessError(found) : readExcessError(found, key);
    }
    const [now, recordReply, session, user, appReply, pending = [], readAt = ''] = reply;
    clock.note(now);
    const isNew = recordReply === '';
    const record = isNew ? planned : parseRecord(key, recordReply);
    if (record.waitingSince !== NOTHING_WAITS) app.announceChange(key);
    const appState = await afterWrite(async () => {
      await app.applyPending({ key, incarnation: record.incarnation, pending, readAt });
      await app.renewIfDue(key.appName, expiry.app, Number(now));
      const isUnchanged = changesNothing(writesOf('app', writes)) && expiry.app.ttlMs >= NEVER;
      return (isUnchanged && before) || app.stateOf(key.appName, appReply, maxStateBytes);
    });
    const ofNew = stateText ?? writesOf('session', writes).upserts.flatMap(({ name, value }) => [name, value]);
    const ownState = isNew ? ofNew : session;
    const created = { record, now: Number(now), events: [], metadata, ...stateOfScopes(ownState, user, appState) };
    return { session: created, stateText: typeof ownState === 'string' ? ownState : undefined };
  }
}

/** What is planned of a creation. */
interface PlannedCreation {
  readonly text: RecordText;
  readonly range: readonly [from: number | string, to: number | string];
}

function sendCreation(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  request: NewSessionRequest,
  { text, range }: PlannedCreation,
): Promise<CreateReply> {
  const { key, baseState, upserts, expiry, metadata = '', log, maxStateBytes, stateText } = request;
  const writes = { upserts, removals: [] };
  const ofSession = writesOf('session', writes);
  const own = stateText === undefined ? ofSession : NO_WRITES;
  const isPlain =
    !app.isCluster && ofSession.upserts.length === upserts.length && isEndless(expiry) && metadata === '' && !log;
  const { app: appPart, user, id, recordKey } = keys.partsOf(key);
  const begin = [...keyArguments(key), text, baseState, range.join(' ').trim()];
  return scripts.write<CreateReply>(CREATE_SESSION, {
    keys: isPlain ? [recordKey] : app.sessionKeys(key),
    usedKeys: () => app.sessionKeys(key),
    wroteNothing: (reply) => !reply || isLate(reply) || isExcess(reply),
    args: isPlain
      ? [
          ...begin,
          appPart.length,
          user.length,
          id.length,
          ...limitArguments(maxStateBytes),
          stateText ?? STATE_HAS_KEYS,
          ...own.upserts.flatMap(({ name, value }) => [name, value]),
        ]
      : [
          ...begin,
          metadata,
          stateText ?? STATE_HAS_KEYS,
          ...limitArguments(maxStateBytes),
          ...lifetimeArguments(expiry.user),
          ...lifetimeArguments(expiry.app),
          ...writeArguments(own),
          ...writeArguments(writesOf('user', writes)),
          ...app.writeArguments(writesOf('app', writes), expiry.app),
          ...logArguments(log),
        ],
  });
}

const NO_WRITES: StateWrites = { upserts: [], removals: [] };

function isLate(reply: NonNullable<CreateReply>): reply is LateReply {
  return reply[0] === 'late';
}

function isExcess(reply: NonNullable<CreateReply>): reply is ExcessReply {
  return reply[0] === 'excess';
}

function isEndless({ session, user, app }: Lifetimes): boolean {
  return Math.min(session.ttlMs, user.ttlMs, app.ttlMs) >= NEVER;
}
