import { DAY_MS } from '../values/expiry.js';

/** How many sessions an owner has at most. */
export interface SessionCount {
  readonly used: number;
  /** When it last rose, or was counted. */
  readonly at: number;
  /** When sessions were last counted. */
  readonly countedAt: number;
}

/** A creation that was let in is visible to a count after this time. */
export const SETTLED_MS = 10_000;

/** What to do about one more session. */
export type SessionDecision =
  | { readonly kind: 'create'; readonly count: SessionCount }
  /** Sessions were deleted, have expired, or were never counted: count them, and decide again. */
  | { readonly kind: 'count' }
  | { readonly kind: 'refuse'; readonly used: number };

/**
 * Whether there may be one more session. Creations are added up, and what ends is found by counting: if the limit is reached, and
 * now and then. Never while a creation may be on its way, which a count would miss.
 */
export function decideSession(stored: SessionCount | undefined, now: number, limit: number): SessionDecision {
  if (!stored) return { kind: 'count' };
  const { used, at, countedAt } = stored;
  const isDoubtful = used >= limit || now - countedAt >= DAY_MS;
  if (isDoubtful && now - at >= SETTLED_MS) return { kind: 'count' };
  return used < limit ? { kind: 'create', count: { used: used + 1, at: now, countedAt } } : { kind: 'refuse', used };
}
