import type { WorkEntry } from '../domain/consumer-work.js';
import type { SessionKey } from '../domain/ids.js';
import { checkedLimit } from '../domain/paging.js';
import type { ConsumerStore } from '../storage/coordination.js';
import type { SessionStorage } from '../storage/session-storage.js';

/** An event that a consumer gave up. */
export interface DeadLetter extends SessionKey {
  readonly consumer: string;
  /** The event. `listEvents` with `afterSeq: seq - 1` and `limit: 1` reads it. */
  readonly seq: number;
  /** Failed tries. */
  readonly tries: number;
  /** The message of the last error. */
  readonly problem: string;
  /** Identifies the session among those that had its id. */
  readonly incarnation: string;
}

/** Which dead letters to list. */
export interface DeadLettersRequest {
  readonly consumer: string;
  /** Default 100, at most 1,000. */
  readonly limit?: number | undefined;
}

/** Dead letters of sessions that still exist. The others are removed. */
export async function deadLetters(
  storage: SessionStorage,
  { consumer, limit }: DeadLettersRequest,
): Promise<DeadLetter[]> {
  const most = checkedLimit(limit);
  const found = most === 0 ? [] : await storage.consumers.deadLetters(consumer, most);
  const living: DeadLetter[] = [];
  const lives = await areLiving(storage, found);
  for (const [index, entry] of found.entries()) {
    if (lives[index]) living.push(letterOf(entry));
    else await storage.consumers.resolve(entry, 'drop');
  }
  return living;
}

export function resolveLetter(store: ConsumerStore, letter: DeadLetter, how: 'retry' | 'drop'): Promise<boolean> {
  const { consumer, appName, userId, sessionId, incarnation, seq, tries, problem } = letter;
  const key = { appName, userId, sessionId };
  const entry = { consumer, key, incarnation, letterSeq: seq, seq: seq - 1, upTo: seq, since: 0, tries, problem };
  return store.resolve({ ...entry, claim: '' }, how);
}

async function areLiving(storage: SessionStorage, entries: readonly WorkEntry[]): Promise<boolean[]> {
  if (storage.changes) return (await storage.changes.positions(entries)).map((position) => position !== undefined);
  const reads = entries.map(async ({ key, incarnation }) => {
    const read = await storage.read({ key });
    return read?.record.incarnation === incarnation;
  });
  return Promise.all(reads);
}

function letterOf({ consumer, key, incarnation, letterSeq, tries, problem }: WorkEntry): DeadLetter {
  return { consumer, ...key, seq: letterSeq, tries, problem, incarnation };
}
