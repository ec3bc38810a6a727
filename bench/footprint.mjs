import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { makeEvents } from './support/events.mjs';
import { withSides } from './support/sides.mjs';

export const title = 'Bytes held in memory for an event, 200,000 events in 10,000 sessions';

const SESSIONS = 10_000;
const EVENTS_EACH = 20;

/** Each side has its own process, so that nothing of the other is counted. */
export async function run() {
  const [ours, raw] = [await measuredApart('ours'), await measuredApart('raw')];
  return [{ what: 'memory', unit: 'bytes', ours, raw, ratio: ours / raw }];
}

async function measuredApart(side) {
  const child = fork(fileURLToPath(import.meta.url), [side], { execArgv: ['--expose-gc'] });
  const [bytes] = await once(child, 'message');
  return bytes;
}

/** The callers' session objects are let go: what counts is what the store keeps. */
function bytesAnEvent(name) {
  return withSides('memory', async (sides) => {
    const side = sides[name];
    const before = heapBytes();
    for (let number = 0; number < SESSIONS; number++) {
      const session = await side.create(`session-${number}`);
      for (const event of makeEvents(EVENTS_EACH, number * EVENTS_EACH)) await side.append(session, event);
    }
    return (heapBytes() - before) / (SESSIONS * EVENTS_EACH);
  });
}

function heapBytes() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

if (process.send) process.send(await bytesAnEvent(process.argv[2]));
