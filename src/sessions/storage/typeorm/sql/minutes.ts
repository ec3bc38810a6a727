import type { SessionRecord } from '../../../domain/stored/session-record.js';

const MINUTE_MS = 60_000;

/**
 * The minute of a time. Indexes by times that change with appends hold minutes, so that most appends change no index: PostgreSQL then
 * writes a row beside its old version (HOT), and SQLite fewer pages. Whoever reads them makes the exact order.
 */
export function minuteOf(time: number): number {
  return Math.floor(time / MINUTE_MS);
}

/** The columns of a session that indexes have instead of its times. */
export function minuteColumns({
  lastUpdateTime,
  expiresAt,
}: SessionRecord): readonly (readonly [column: string, value: number])[] {
  return [
    ['update_minute', minuteOf(lastUpdateTime)],
    ['expiry_minute', minuteOf(expiresAt)],
  ];
}
