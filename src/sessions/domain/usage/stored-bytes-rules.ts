import { DAY_MS } from '../values/expiry.js';
import type { ShareRequest } from './rate-rules.js';
import { SETTLED_MS } from './session-quota.js';

/** For so long an instance may spend what it has taken. Its writes have the rest of `SETTLED_MS` to become visible. */
export const BYTES_SHARE_MS = SETTLED_MS / 2;

/** What was taken in a second. */
interface Take {
  /** When the last of it was. */
  readonly at: number;
  readonly bytes: number;
}

/** How many bytes a user has stored at most, in all instances. */
export interface StoredBytes {
  /** What the last count found. */
  readonly found: number;
  readonly countedAt: number;
  /** What had been taken just before it, so that it may have missed that. */
  readonly missed: number;
  /** What was taken since. */
  readonly taken: number;
  /** What was taken in the last ten seconds. */
  readonly recent: readonly Take[];
}

/** A count of what is stored. */
export interface BytesFound {
  /** What was known when it began. */
  readonly before: StoredBytes | undefined;
  readonly beganAt: number;
  readonly found: number;
}

/** What an instance may take; `taken` is missing for a refusal. */
export interface BytesDecision {
  readonly taken?: number;
  readonly next: StoredBytes;
}

/**
 * Whether so many bytes may be stored. What is taken is added up, and what goes is found by counting: if the limit is reached, and once a
 * day, but not more often than every ten seconds. `undefined`: count, and decide again.
 */
export function decideBytes(
  stored: StoredBytes,
  now: number,
  { limit, need, wish, isForced }: Omit<ShareRequest, 'windowMs'>,
): BytesDecision | undefined {
  const used = usedBytes(stored);
  const left = Math.max(0, limit - used);
  const recent = stored.recent.filter(({ at }) => now - at < SETTLED_MS);
  const isOld = now - stored.countedAt >= DAY_MS && recent.length === 0;
  if ((left >= Math.max(1, need) || isForced) && !isOld) {
    const taken = Math.max(need, Math.min(left, wish));
    return { taken, next: { ...stored, taken: stored.taken + taken, recent: withTake(recent, now, taken) } };
  }
  return now < countsAgainAt(stored) ? { next: stored } : undefined;
}

/** What is known after a count. Others may have taken bytes meanwhile, or counted too: then theirs is used. */
export function afterCount(
  stored: StoredBytes | undefined,
  now: number,
  { before, beganAt, found }: BytesFound,
): StoredBytes {
  if (stored && stored.countedAt !== before?.countedAt) return stored;
  const { taken, recent } = stored ?? { taken: 0, recent: [] };
  const seen = (before?.recent ?? []).filter(({ at }) => beganAt - at < SETTLED_MS);
  return {
    found,
    countedAt: now,
    missed: seen.reduce((sum, { bytes }) => sum + bytes, 0),
    taken: taken - (stored && before ? before.taken : 0),
    recent,
  };
}

/** When bytes may be counted again. */
export function countsAgainAt({ countedAt }: StoredBytes): number {
  return countedAt + SETTLED_MS;
}

/** What instances may have stored. */
function usedBytes({ found, missed, taken }: StoredBytes): number {
  return found + missed + taken;
}

/** What to show: without what may be counted twice, unless that is why a limit is reached. */
export function shownBytes(stored: StoredBytes, limit = 0): number {
  return Math.max(stored.found + stored.taken, Math.min(usedBytes(stored), limit));
}

function withTake(recent: readonly Take[], now: number, bytes: number): readonly Take[] {
  const last = recent.at(-1);
  if (!last || secondOf(last.at) !== secondOf(now)) return [...recent, { at: now, bytes }];
  return [...recent.slice(0, -1), { at: now, bytes: last.bytes + bytes }];
}

function secondOf(at: number): number {
  return Math.floor(at / 1_000);
}
