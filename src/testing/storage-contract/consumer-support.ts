import type { WorkEntry } from '../../sessions/domain/background/consumer-work.js';
import { sessionKeyOf } from '../../sessions/domain/values/ids.js';
import type { ChangedSession, DispatchRequest } from '../../sessions/storage/coordination.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';

/** Ids that keys and patterns could confuse. */
export const ODD_KEY = { appName: 'sh:op*', userId: '{ann}|é', sessionId: 'a/b%2F 😀' };

/** Retries, because a hint may arrive late. */
const MOST_CALLS = 500;

/** The changed sessions; at least `count`. */
export async function changedSessions(storage: SessionStorage, count: number): Promise<ChangedSession[]> {
  const found = new Map<string, ChangedSession>();
  for (let call = 0; call < MOST_CALLS; call++) {
    for (const changed of await storage.consumers.changed(100)) found.set(changed.incarnation, changed);
    if (found.size >= count) return [...found.values()];
  }
  throw new Error(`Only ${found.size} of ${count} changed sessions were found`);
}

/** Dispatches what has changed to these consumers. */
export async function dispatchTo(
  storage: SessionStorage,
  consumers: readonly string[],
  { count = 1, ...request }: { count?: number } & Partial<DispatchRequest> = {},
): Promise<ChangedSession[]> {
  const taken = await changedSessions(storage, count);
  const work = taken.flatMap((session) =>
    consumers.map((consumer) => ({
      consumer,
      key: sessionKeyOf(session),
      incarnation: session.incarnation,
      seq: session.dispatchedSeq,
      upTo: session.lastSeq,
      since: session.waitingSince,
    })),
  );
  expect(await storage.consumers.dispatch({ token: 1, work, taken, ...request })).toBe(true);
  return taken;
}

export async function claimed(
  storage: SessionStorage,
  consumer: string,
  claim = 'one',
  limit = 10,
): Promise<WorkEntry[]> {
  return storage.consumers.claim({ consumer, claim, limit, forMs: 1_000 });
}

/** The one entry that is due. */
export async function theClaimed(storage: SessionStorage, consumer: string, claim = 'one'): Promise<WorkEntry> {
  const [entry, ...others] = await claimed(storage, consumer, claim);
  if (!entry || others.length > 0) throw new Error(`${others.length + (entry ? 1 : 0)} entries are due, not one`);
  return entry;
}
