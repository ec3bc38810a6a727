import { createHash } from 'node:crypto';
import { SessionsError, StoreUnavailableError } from '../sessions/domain/errors/errors.js';
import { type SessionKey, type StateOwner, idProblem, sessionKeyOf } from '../sessions/domain/values/ids.js';
import { TransferFileError } from './transfer-errors.js';
import { isOwnKey } from '../sessions/domain/history/state-history.js';
import type { StateEntries } from '../sessions/storage/session-storage.js';
import type { TransferRecord } from './transfer-records.js';
import { type ForeignEvent, ForeignLog } from './foreign-log.js';

/** A session of another system. */
export interface ForeignSession extends SessionKey {
  /** Epoch milliseconds. */
  readonly createTime: number;
  readonly lastUpdateTime?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly state?: Readonly<Record<string, unknown>> | undefined;
  /** Called twice. */
  readonly events: () => AsyncIterable<ForeignEvent> | Iterable<ForeignEvent>;
}

/**
 * The records of a session of another system. Its events are read twice: first for what the record says about them, then for
 * themselves. For the same session the records are the same, so that an import can be repeated.
 *
 * @example
 * const session = { appName: 'shop', userId: 'ann', sessionId: 'chat-1', createTime: Date.parse('2026-11-23') };
 * const said = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };
 * await importRecords(storage, foreignRecords({ ...session, events: () => [said] }));
 */
export async function* foreignRecords(session: ForeignSession): AsyncGenerator<TransferRecord> {
  const state = ownState(session.state ?? {});
  const first = new ForeignLog(session.createTime);
  let lastTime = session.createTime;
  for await (const event of session.events()) lastTime = Math.max(lastTime, first.add(event)?.appendedAt ?? 0);
  const baseState = first.baseState(state);
  first.closing(state);
  yield {
    kind: 'session',
    ...sessionKeyOf(session),
    createTime: session.createTime,
    lastUpdateTime: session.lastUpdateTime ?? lastTime,
    expiresAt: session.expiresAt,
    firstSeq: 1,
    ...first.derived(),
    turnsOnly: false,
    metadata: [],
    state: serializeForeignState(state),
    baseState: JSON.stringify(baseState),
  };
  const digest = createHash('sha256');
  const second = new ForeignLog(session.createTime);
  for await (const event of session.events()) {
    const line = second.add(event);
    if (!line) continue;
    digest.update(line.payload).update('\n');
    yield line;
  }
  const closing = second.closing(state);
  if (closing) {
    digest.update(closing.payload).update('\n');
    yield closing;
  }
  yield { kind: 'end', events: second.lastSeq, digest: digest.digest('hex') };
}

/**
 * The records of a session, or what says why it cannot be read: then the import can go on without it. Failures of the database end
 * it. What is wrong in the data of the other system is a `TransferFileError`.
 *
 * @example yield* recordsOrBad(key, () => foreignRecords({ ...key, createTime: timeIn(row), events: () => eventsIn(row) }));
 */
export async function* recordsOrBad(
  ids: Partial<SessionKey>,
  read: () => AsyncIterable<TransferRecord> | Iterable<TransferRecord>,
): AsyncGenerator<TransferRecord> {
  try {
    for (const [name, id] of Object.entries(ids)) {
      const problem = idProblem(id);
      if (problem) throw new TransferFileError(`\`${name}\` ${problem}`);
    }
    yield* read();
  } catch (error) {
    if (!(error instanceof SessionsError) || error instanceof StoreUnavailableError) throw error;
    yield { kind: 'bad', ...ids, problem: error instanceof TransferFileError ? error.problem : error.message };
  }
}

/**
 * The record of state of a user or, without `userId`, an app of another system.
 *
 * @example yield stateRecord({ appName: 'shop', userId: 'ann' }, { theme: 'dark' });
 */
export function stateRecord(
  owner: StateOwner,
  state: Readonly<Record<string, unknown>>,
  expiresAt?: number,
): TransferRecord {
  return { kind: 'state', ...owner, expiresAt, entries: serializeForeignState(state) };
}

function serializeForeignState(state: Readonly<Record<string, unknown>>): StateEntries {
  return Object.entries(state)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, JSON.stringify(value)] as const);
}

/** Keys of other scopes are kept with their owners. */
function ownState(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(state).filter(([key, value]) => value !== undefined && isOwnKey(key)));
}
