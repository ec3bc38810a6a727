interface Backoff {
  /** The pause after the first failure. It doubles with each failure. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Exponential backoff with jitter: how long to wait after some failures in a row.
 *
 * @param random 0 to 1, so that what failed together is not retried together
 */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff, random: number): number {
  const pauseMs = Math.min(maxMs, firstMs * 2 ** (failures - 1));
  return Math.round(pauseMs * (0.75 + random / 4));
}
