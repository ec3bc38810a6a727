import type { WorkEntry } from '../domain/background/consumer-work.js';
import type { SessionKey } from '../domain/values/ids.js';
import { checkedLimit } from '../domain/values/paging.js';
import type { ConsumerStore } from '../storage/coordination.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { consumerOf, startTime, wants } from './consumer-settings.js';

/** The backlog of a consumer. */
export interface ConsumerLag {
  /** Sessions with events that are not handled yet, including those in progress. */
  readonly sessions: number;
  /** Changed sessions that are not dispatched yet, at most 1,000. `sessions` may include some of them. */
  readonly undispatched: number;
  /** Wait of the oldest of them, or of a fill; 0 if there are none. */
  readonly oldestWaitMs: number;
  readonly deadLetters: number;
  /** Whether sessions that are older than the consumer are still being queued. Those that are not queued yet are not counted. */
  readonly isFilling: boolean;
}

const MAX_UNDISPATCHED = 1_000;

export async function lagOf(store: ConsumerStore, name: string): Promise<ConsumerLag | undefined> {
  const consumer = (await store.list()).map(consumerOf).find((known) => known.name === name);
  if (!consumer) return undefined;
  // A fill that has not come to a session yet will queue it.
  const filled = { ...consumer, fill: undefined };
  const changed = (await store.changed(MAX_UNDISPATCHED)).filter((session) => wants(filled, session));
  const { sessions, oldestSince, now, deadLetters: letters } = await store.lag(name);
  // A session that was marked before the consumer was registered may have no events for it.
  const times = changed.map(({ waitingSince }) => startTime(consumer, waitingSince) ?? waitingSince);
  const isFilling = consumer.fill !== undefined;
  const since = [oldestSince, isFilling ? consumer.registeredAt : undefined].filter((time) => time !== undefined);
  const oldest = [...times, ...since].reduce((a, b) => Math.min(a, b), now);
  const oldestWaitMs = Math.max(0, Math.floor(now - oldest));
  return { sessions, undispatched: changed.length, oldestWaitMs, deadLetters: letters, isFilling };
}

/** An event that failed too often. */
export interface DeadLetter extends SessionKey {
  readonly consumer: string;
  /** The event. `listEvents` with `afterSeq: seq - 1` and `limit: 1` reads it. */
  readonly seq: number;
  /** Failed tries. */
  readonly tries: number;
  /** The message of the last error. */
  readonly problem: string;
  /** Distinguishes the session from earlier ones with the same id. */
  readonly incarnation: string;
}

/** Which dead letters to list. */
export interface DeadLettersRequest {
  readonly consumer: string;
  /** Default 100, at most 1,000. */
  readonly limit?: number | undefined;
}

/** Lists dead letters of sessions that exist. Removes the others, and then looks again, since there may be more behind them. */
export async function deadLetters(
  storage: SessionStorage,
  { consumer, limit }: DeadLettersRequest,
): Promise<DeadLetter[]> {
  const most = checkedLimit(limit);
  for (;;) {
    const found = most === 0 ? [] : await storage.consumers.deadLetters(consumer, most);
    const exist = await areExisting(storage, found);
    const gone = found.filter((_, index) => !exist[index]);
    if (gone.length === 0) return found.map(toDeadLetter);
    for (const entry of gone) await storage.consumers.resolve(entry, 'drop');
  }
}

export function resolveLetter(store: ConsumerStore, letter: DeadLetter, how: 'retry' | 'drop'): Promise<boolean> {
  const { consumer, appName, userId, sessionId, incarnation, seq, tries, problem } = letter;
  const key = { appName, userId, sessionId };
  const entry = { consumer, key, incarnation, letterSeq: seq, seq: seq - 1, upTo: seq, since: 0, tries, problem };
  return store.resolve({ ...entry, claim: '' }, how);
}

async function areExisting(storage: SessionStorage, entries: readonly WorkEntry[]): Promise<boolean[]> {
  const found = await storage.tails(
    entries.map(({ key, incarnation }) => ({ key, incarnation, afterSeq: 0, limit: 0 })),
  );
  return found.map((tail) => tail !== undefined);
}

function toDeadLetter({ consumer, key, incarnation, letterSeq, tries, problem }: WorkEntry): DeadLetter {
  return { consumer, ...key, seq: letterSeq, tries, problem, incarnation };
}
