import { env } from 'node:process';

/** CI uses a fixed seed, so that a failure is caused by the change and not by chance. */
const SEED_OF_CI = 42;

/** The seed of random numbers. It differs in each run, unless SEED sets it to repeat a run. */
export const seed: number = Number(env['SEED'] ?? (env['CI'] ? SEED_OF_CI : Date.now() % 1_000_000_000));

/** Pseudo-random numbers from 0 up to 1 with the seed `from`: mulberry32. */
export function randomNumbers(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
