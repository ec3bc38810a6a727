import { randomInt } from 'node:crypto';

const EPOCH = Date.UTC(2024, 9, 9);
const INTERVAL_MS = 20_000;
const MOST_JITTER_SECONDS = 3_600;

/** The cursor of a live response: it always moves on, so that no cache answers the same request forever. */
export function nextCursor(given: string | undefined, now = Date.now()): string {
  const current = Math.floor((now - EPOCH) / INTERVAL_MS);
  const before = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  if (before < current) return `${current}`;
  return `${before + Math.max(1, Math.ceil((randomInt(MOST_JITTER_SECONDS) * 1_000) / INTERVAL_MS))}`;
}
