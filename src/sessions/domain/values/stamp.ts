/**
 * A number that no other change of the same session has: random, so that no other process has it, and no server that lost its last
 * writes. A store sets one with each change of a session's record, and compares it before a planned write.
 *
 * @example UPDATE sessions SET expires_at = :expiry, stamp = :newStamp WHERE pk = :pk
 */
export function newStamp(): number {
  return Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
}
