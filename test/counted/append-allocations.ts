/** A program that prints how many bytes an append in memory allocates once its code is compiled. */
import type { HeapProfiler } from 'node:inspector';
import { Session as Inspector } from 'node:inspector/promises';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { KEY, eventOf } from './agent-events.js';

const ROUNDS = 8;
const COUNT = 1_000;

const sessions = new SessionService({ storage: new InMemorySessionStorage() });

async function appendAll(from: number): Promise<void> {
  const session = { ...KEY, id: 'one' };
  for (let number = from; number < from + COUNT; number++) {
    await sessions.appendEvent({ session, event: eventOf(number) });
  }
  await sessions.whenIdle();
}

/** Bytes that were allocated on the heap while `work` ran, garbage included. Samples one in so many. */
async function allocatedBytes(work: () => Promise<void>): Promise<number> {
  const inspector = new Inspector();
  inspector.connect();
  try {
    await inspector.post('HeapProfiler.enable');
    const collected = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
    await inspector.post('HeapProfiler.startSampling', { samplingInterval: 4_096, ...collected });
    await work();
    const { profile } = await inspector.post('HeapProfiler.stopSampling');
    return bytesIn(profile.head);
  } finally {
    inspector.disconnect();
  }
}

function bytesIn({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + bytesIn(child), selfSize);
}

async function main(): Promise<void> {
  await sessions.createSession({ ...KEY, sessionId: 'one' });
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    least = Math.min(least, (await allocatedBytes(() => appendAll(round * COUNT))) / COUNT);
  }
  await sessions.close();
  console.log(Math.round(least));
}

void main();
