import { type UsageQuery, sessionOfUsage } from '../domain/usage/usage-periods.js';
import type { ModelUsage } from '../domain/usage/usage.js';
import type { UsageReply } from '../storage/session-storage.js';
import type { SessionStore, StampedSession } from '../storage/session-store.js';

/** Reads sums of usage: those of sessions are in their records, and the store has those of users and apps. */
export async function readUsage(
  store: Pick<SessionStore, 'read' | 'readUsage'>,
  queries: readonly UsageQuery[],
): Promise<UsageReply> {
  const shared = queries.filter((query) => !sessionOfUsage(query));
  const [ofShared, sessions] = await Promise.all([
    shared.length > 0 ? store.readUsage(shared) : undefined,
    Promise.all(queries.map((query) => readSession(store, query))),
  ]);
  const read = sessions.find((found) => found !== undefined)?.session;
  const now = ofShared?.now ?? read?.now ?? (await store.readUsage([])).now;
  const sums = new Map<UsageQuery, readonly ModelUsage[] | undefined>();
  shared.forEach((query, index) => sums.set(query, ofShared?.found[index]));
  const found = queries.map((query, index) => sums.get(query) ?? sessions[index]?.session.record.usage);
  return { now, found };
}

async function readSession(store: Pick<SessionStore, 'read'>, query: UsageQuery): Promise<StampedSession | undefined> {
  const key = sessionOfUsage(query);
  return key && store.read({ key });
}
