import { isFastLayer } from './layer.js';

/** With `ROUNDS=full`, as each night, tests do all they can, on all stores. */
const areRoundsFull = process.env.ROUNDS === 'full';

/** Whether all chosen stores are wanted, also where one of each kind is enough. */
export const isEveryStoreWanted = areRoundsFull || Boolean(process.env.STORES);

/** Otherwise, tests repeat a quarter of what they can. */
const DIVISOR = areRoundsFull ? 1 : 4;

/** How often a test repeats the same thing, to meet what happens rarely. */
export function rounds(full: number): number {
  return Math.ceil(full / DIVISOR);
}

/** How many there are where a test shows that it does not matter how many: a fifth in the fast layer. */
export function crowd(full: number): number {
  return isFastLayer ? Math.ceil(full / 5) : full;
}
