/** With `ROUNDS=full`, as each night, tests repeat what they do as often as they can; else a quarter of it. */
const DIVISOR = process.env.ROUNDS === 'full' ? 1 : 4;

/** How often a test repeats the same thing, to meet what happens rarely. */
export function rounds(full: number): number {
  return Math.ceil(full / DIVISOR);
}
