import { env } from 'node:process';

/** What CI tries is the same each time: a change is judged by what it did, not by its luck. */
const SEED_OF_CI = 42;

/** What is random follows from it: another one in each run, or the one that SEED gives, to repeat a run. */
export const seed: number = Number(env['SEED'] ?? (env['CI'] ? SEED_OF_CI : Date.now() % 1_000_000_000));

/** Numbers from 0 up to 1 that look random and depend on nothing but `from`: mulberry32. */
export function randomNumbers(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
