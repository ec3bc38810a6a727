import { SessionService } from '../dist/index.js';
import { SummarizerSessionManager } from '../dist/summarizer/index.js';
import { makeEvents } from './support/events.mjs';
import { comparisonOf, passes, turns } from './support/measure.mjs';
import { OWNER } from './support/owner.mjs';
import { withServer } from './support/server-sides.mjs';
import { STORE_NAMES, withSides } from './support/sides.mjs';

export const title = 'Appends with summaries (ours) and without (raw), one after the other; latencies in microseconds';

const EVENTS = 200;
const HANGS_MS = 30_000;

/** The work of summaries in the background. */
const CASES = {
  'nothing is due': { events: 1_000_000, idleSeconds: 3_600 },
  'a model answers immediately': {
    events: 20,
    model: { name: 'instant', summarize: async () => ({ text: 'in short' }) },
  },
  'a model hangs for 30 s': { events: 20, model: { name: 'hanging', summarize: hang } },
};

export async function run() {
  const rows = [];
  for (const store of STORE_NAMES) rows.push(...(await withSides(store, ({ ours }) => measured(store, ours.storage))));
  rows.push(...((await withServer('redis', ({ ours }) => measured('redis', ours.storage))) ?? []));
  return rows;
}

async function measured(store, storage) {
  const rows = [];
  for (const [name, options] of Object.entries(CASES)) {
    const found = await compareLatencies(passes(9), async (side, pass) => {
      const sessionId = `${store}-${name}-${side}-${pass}`;
      return side === 'ours' ? withSummaries(storage, options, sessionId) : append(storage, sessionId);
    });
    rows.push({ what: `${store}, ${name}`, unit: 'events/s', ...found.rate });
    rows.push({ what: `${store}, ${name}: p50`, unit: 'µs', ...found.p50 });
    rows.push({ what: `${store}, ${name}: p99`, unit: 'µs', ...found.p99 });
  }
  return rows;
}

/** As `compare` does, of what each append took. */
async function compareLatencies(count, measure) {
  const found = { rate: [], p50: [], p99: [] };
  for (let pass = 0; pass <= count; pass++) {
    const times = {};
    for (const side of turns(pass)) times[side] = (await measure(side, pass)).toSorted((a, b) => a - b);
    if (pass === 0) continue;
    found.rate.push(ofBoth(times, (sorted) => (sorted.length * 1e6) / sorted.reduce((sum, time) => sum + time)));
    found.p50.push(ofBoth(times, (sorted) => sorted[Math.floor(sorted.length * 0.5)]));
    found.p99.push(ofBoth(times, (sorted) => sorted[Math.floor(sorted.length * 0.99)]));
  }
  return Object.fromEntries(Object.entries(found).map(([name, ofPasses]) => [name, comparisonOf(ofPasses)]));
}

function ofBoth({ ours, raw }, figureOf) {
  return { ours: figureOf(ours), raw: figureOf(raw) };
}

/** Nothing of them is left when the other side has its turn. */
async function withSummaries(storage, options, sessionId) {
  const sessions = new SessionService({ storage });
  const rest = { turns: 0, contentLength: 0, keepRecentEvents: 5, shutdownSeconds: 0.001 };
  const summaries = new SummarizerSessionManager({ sessions }, { ...rest, ...options });
  const times = await append(storage, sessionId, sessions);
  if (options.model?.name === 'instant') await summaries.whenIdle();
  await summaries.close();
  return times;
}

/** Microseconds that each append took. */
async function append(storage, sessionId, sessions = new SessionService({ storage })) {
  const session = await sessions.createSession({ ...OWNER, sessionId });
  const events = makeEvents(EVENTS);
  const times = [];
  for (const event of events) {
    const start = performance.now();
    await sessions.appendEvent({ session, event });
    times.push((performance.now() - start) * 1_000);
  }
  return times;
}

function hang(_request, { signal }) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve({ text: 'at last' }), HANGS_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
