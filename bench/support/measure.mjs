/**
 * What was measured on one side against the other.
 *
 * @typedef {object} Comparison
 * @property {number} ours operations a second, the median of all passes
 * @property {number} raw the same of the raw thing
 * @property {number} ratio ours / raw, the median of the ratios that each pass has by itself
 * @property {number} lowest ratio of all passes
 * @property {number} highest ratio of all passes
 */

/** Multiplies the number of passes; sizes stay as they are, so that figures of all scales compare. */
const SCALE = Number(process.env.BENCH_SCALE ?? 1);

/** @param {number} count passes at scale 1 */
export function passes(count) {
  return Math.max(1, Math.round(count * SCALE));
}

/**
 * Measures both sides again and again, directly after each other and each as often first, so that what else
 * the machine does hits both. The first pass warms up and does not count.
 *
 * @param {number} count
 * @param {(side: 'ours' | 'raw', pass: number) => Promise<number>} measure answers operations a second
 * @returns {Promise<Comparison>}
 */
export async function compare(count, measure) {
  const rates = [];
  for (let pass = 0; pass <= count; pass++) {
    /** @type {{ ours: number, raw: number }} */
    const rate = { ours: 0, raw: 0 };
    for (const side of turns(pass)) rate[side] = await measure(side, pass);
    rates.push(rate);
  }
  return comparisonOf(rates.slice(1));
}

/**
 * The same, with the CPU time of this process for an operation: the lowest of all passes.
 *
 * @param {number} count
 * @param {(side: 'ours' | 'raw', pass: number) => Promise<Cost>} measure
 * @returns {Promise<Comparison & { cpu: { ours: number, raw: number } }>}
 */
export async function compareCosts(count, measure) {
  const cpu = { ours: Infinity, raw: Infinity };
  const comparison = await compare(count, async (side, pass) => {
    const { rate, microseconds } = await measure(side, pass);
    cpu[side] = Math.min(cpu[side], microseconds);
    return rate;
  });
  return { ...comparison, cpu };
}

/** Who goes first in turn `number`. @returns {readonly ('ours' | 'raw')[]} */
export function turns(number) {
  return number % 2 === 0 ? ['ours', 'raw'] : ['raw', 'ours'];
}

/** @param {readonly { ours: number, raw: number }[]} rates one a pass @returns {Comparison} */
export function comparisonOf(rates) {
  const ratios = rates.map(({ ours, raw }) => ours / raw);
  return {
    ours: median(rates.map(({ ours }) => ours)),
    raw: median(rates.map(({ raw }) => raw)),
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
  };
}

/** @typedef {{ rate: number, microseconds: number }} Cost operations a second, and CPU time of one */

/** Does `work`, which is so many `operations`. @returns {Promise<Cost>} */
export async function costOf(operations, work) {
  const before = process.cpuUsage();
  const rate = await rateOf(operations, work);
  const { user, system } = process.cpuUsage(before);
  return { rate, microseconds: (user + system) / operations };
}

/** Repeats `operation` for `milliseconds`. @returns {Promise<Cost>} */
export async function costFor(milliseconds, operation) {
  const before = process.cpuUsage();
  const start = performance.now();
  const rate = await rateFor(milliseconds, operation);
  const operations = (rate * (performance.now() - start)) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { rate, microseconds: (user + system) / operations };
}

/** Does `work` and answers how often a second its `operations` would be done. */
export async function rateOf(operations, work) {
  return operations / (await secondsOf(work));
}

export async function secondsOf(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Repeats `operation` for `milliseconds` and answers how often a second it was done. */
export async function rateFor(milliseconds, operation) {
  const start = performance.now();
  let operations = 0;
  while (performance.now() - start < milliseconds) {
    await operation();
    operations++;
  }
  return (operations * 1000) / (performance.now() - start);
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
