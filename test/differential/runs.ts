import { env } from 'node:process';
import { isFastLayer } from '../support/layer.js';
import { seed } from '../support/random.js';

/** With `RUNS`, more sequences are tried, which may take longer. */
export const TIMEOUT_MS = env['RUNS'] === undefined ? 240_000 : 900_000;

/** For fast-check. Limits the time for shrinking, so that the counterexample is reported in time. */
export const searching = { seed, interruptAfterTimeLimit: TIMEOUT_MS / 4 };

interface Scale {
  /** The number of operation sequences and their average length. */
  readonly sequences: { readonly numRuns: number; readonly length: number };
  readonly consumers: { readonly numRuns: number; readonly length: number };
  readonly longLogs: { readonly numRuns: number; readonly minLength: number; readonly maxLength: number };
}

/** How much to try. Fast stores are tried more, but for the fast layer, and all of them more each night. */
const SCALES: Record<string, Scale> = {
  memory: {
    sequences: { numRuns: 40, length: 60 },
    consumers: { numRuns: 20, length: 60 },
    longLogs: { numRuns: 3, minLength: 200, maxLength: 600 },
  },
};
const OTHERS: Scale = {
  sequences: { numRuns: 10, length: 40 },
  consumers: { numRuns: 5, length: 40 },
  longLogs: { numRuns: 1, minLength: 200, maxLength: 300 },
};

export function sequencesOf(store: string): Scale['sequences'] {
  return scaled(scaleOf(store).sequences);
}

export function consumersOf(store: string): Scale['consumers'] {
  return scaled(scaleOf(store).consumers);
}

export function longLogsOf(store: string): Scale['longLogs'] {
  return scaled(scaleOf(store).longLogs);
}

function scaleOf(store: string): Scale {
  return (isFastLayer ? undefined : SCALES[store]) ?? OTHERS;
}

function scaled<T extends { readonly numRuns: number }>(scale: T): T {
  return env['RUNS'] === undefined ? scale : { ...scale, numRuns: Number(env['RUNS']) };
}

/** The number of runs that `RUNS` sets, or the given default, a quarter of it in the fast layer. */
export function runsOr(numRuns: number): number {
  return scaled({ numRuns: isFastLayer ? Math.ceil(numRuns / 4) : numRuns }).numRuns;
}
