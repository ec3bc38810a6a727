import { hostname } from 'node:os';
import { SessionNotFoundError, StaleSessionError, StoreUnavailableError } from '../domain/errors/errors.js';
import { isAnchor } from '../domain/event/event-inspection.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { type SessionKey, sessionKeyOf } from '../domain/values/ids.js';
import { digestOf } from '../domain/values/json-digest.js';
import { retryOvertaken, retryUndefined } from '../domain/process/retry-overtaken.js';
import { type SessionRecord, retentionProblem } from '../domain/stored/session-record.js';
import { UnsupportedByStoreError } from '../domain/errors/unsupported-error.js';
import { withLease } from '../leases/with-lease.js';
import type { SessionStorage } from '../storage/session-storage.js';

/** How long others wait after a crash in between. */
const LEASE_MS = 10_000;

/**
 * Reads events and replaces them while nobody else does. A store does not compare the texts that it replaces, so one who had read them
 * before another would bring back what that one took away.
 */
export async function whileNobodyReplaces<Result>(
  { leases }: Pick<SessionStorage, 'leases'>,
  { appName, userId, sessionId }: SessionKey,
  work: () => Promise<Result>,
): Promise<Result> {
  const name = `redaction:${digestOf([appName, userId, sessionId])}`;
  const holder = `${hostname()}:${process.pid}`;
  const done = await retryUndefined(async () => {
    const outcome = await withLease({ leases, name, holder, ttlMs: LEASE_MS }, () => retryOvertaken(work));
    return outcome.ran ? outcome : undefined;
  });
  if (done) return done.result;
  throw new StoreUnavailableError('Others redact events of the same session again and again.', false);
}

/**
 * Replaces the texts of events. Throws if the session, or one of the events, is gone, or if others have appended since it was read: a label
 * may have come, for which a hold keeps them.
 */
export async function replaceEvents(
  storage: SessionStorage,
  record: SessionRecord,
  events: readonly LoggedEvent[],
): Promise<void> {
  const session = { key: sessionKeyOf(record), incarnation: record.incarnation, lastSeq: record.lastSeq };
  const texts = events.map(({ seq, ...event }) => ({ seq, id: event.id, payload: JSON.stringify(event) }));
  const anchors = events.filter(isAnchor).map(({ seq }) => seq);
  if (!(await storage.rebuild({ ...session, events: texts, anchors }))) await explainRefusal(storage, record, events);
}

async function explainRefusal(
  storage: SessionStorage,
  { incarnation, lastSeq, ...session }: SessionRecord,
  events: readonly LoggedEvent[],
): Promise<never> {
  const key = sessionKeyOf(session);
  const read = await storage.read({ key });
  if (read?.record.incarnation !== incarnation) throw new SessionNotFoundError(key.sessionId);
  if (read.record.lastSeq !== lastSeq) throw new StaleSessionError(lastSeq, read.record.lastSeq);
  const [trimmed] = events.flatMap(({ seq }) => retentionProblem(read.record, seq, 'seq') ?? []);
  throw trimmed ?? new UnsupportedByStoreError('The store cannot replace an event. Delete the session instead.');
}
