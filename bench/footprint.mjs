import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { makeEvents } from './support/events.mjs';
import { InMemorySessionStorage } from '../dist/index.js';
import { MinimumMap } from './support/minimum/minimum-map.mjs';
import { Ours } from './support/ours.mjs';
import { RawMap } from './support/raw-map.mjs';

export const title = 'Memory for 200,000 events in 10,000 sessions';

const SESSIONS = 10_000;
const EVENTS_EACH = 20;

export async function run() {
  const [ours, raw] = [await measuredApart('ours'), await measuredApart('raw')];
  return [
    { what: 'heap for an event', unit: 'bytes', ours: ours.heap, raw: raw.heap, ratio: ours.heap / raw.heap },
    {
      what: 'the process, in MB',
      unit: 'bytes',
      ours: ours.resident,
      raw: raw.resident,
      ratio: ours.resident / raw.resident,
    },
  ];
}

/**
 * Each side has its own process, so that nothing of the other is counted.
 *
 * @param {'ours' | 'raw' | 'minimum'} side
 * @returns {Promise<{ heap: number, resident: number }>} bytes of heap for an event, and MB of the process
 */
export async function measuredApart(side) {
  const child = fork(fileURLToPath(import.meta.url), [side], { execArgv: ['--expose-gc'] });
  const [figures] = await once(child, 'message');
  return figures;
}

const SIDES = {
  ours: () => new Ours(new InMemorySessionStorage()),
  raw: () => new RawMap(),
  minimum: () => new MinimumMap(),
};

/** The callers' session objects are let go: what counts is what the store keeps. The process loads no driver of another store. */
async function measured(name) {
  const side = SIDES[name]();
  const before = heapBytes();
  for (let number = 0; number < SESSIONS; number++) {
    const session = await side.create(`session-${number}`);
    for (const event of makeEvents(EVENTS_EACH, number * EVENTS_EACH)) await side.append(session, event);
  }
  // Before the collection of garbage: what an app sees.
  const resident = process.memoryUsage.rss() / 1e6;
  const heap = (heapBytes() - before) / (SESSIONS * EVENTS_EACH);
  await side.close();
  return { heap, resident };
}

function heapBytes() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

if (process.send) process.send(await measured(process.argv[2]));
