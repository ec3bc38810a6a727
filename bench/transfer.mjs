import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { SessionService } from '../dist/index.js';
import { exportSessions, importSessions, verifySessions } from '../dist/transfer/index.js';
import { TypeOrmSessionStorage } from '../dist/typeorm.js';
import { makeEvents } from './support/events.mjs';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 100_000);
const FEW = 1_000;
/** How often memory is measured: after so many calls of the store. */
const samplesOf = (count) => Math.ceil(count / 5_000);

export const title = `Moving a session of ${EVENTS.toLocaleString('en')} events ("ours") and of ${FEW.toLocaleString('en')} ("raw") between SQLite files`;

/** Memory: what is in use at its highest, after a collection of garbage. Each size has a process of its own. */
export async function run() {
  const [many, few] = [await measuredApart(EVENTS), await measuredApart(FEW)];
  const row = (what, unit, of) => ({ what, unit, ours: of(many), raw: of(few), ratio: of(many) / of(few) });
  return [
    row('export, memory', 'KB, or events/s', ({ exported }) => exported.peak),
    row('import, memory', 'KB, or events/s', ({ imported }) => imported.peak),
    row('export, events/s', 'KB, or events/s', ({ exported }) => exported.rate),
    row('import, events/s', 'KB, or events/s', ({ imported }) => imported.rate),
  ];
}

async function measuredApart(count) {
  const child = fork(fileURLToPath(import.meta.url), [String(count)], { execArgv: ['--expose-gc'] });
  const [figures] = await once(child, 'message');
  return figures;
}

async function measured(count) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-transfer-'));
  const [from, to] = ['from.db', 'to.db'].map((name) => new TypeOrmSessionStorage({ database: join(folder, name) }));
  try {
    await fill(from, count);
    const file = join(folder, 'sessions.ndjson');
    const exported = await observed(from, count, (storage) =>
      pipeline(Readable.from(exportSessions(storage)), createWriteStream(file)),
    );
    const imported = await observed(to, count, (storage) => importSessions(storage, createReadStream(file)));
    const { isEqual } = await verifySessions(to, createReadStream(file));
    if (!isEqual) throw new Error('The import differs');
    return { exported, imported };
  } finally {
    await Promise.all([from.close(), to.close()]);
    rmSync(folder, { recursive: true });
  }
}

async function fill(storage, count) {
  const sessions = new SessionService({ storage });
  await sessions.createSession({ appName: 'bench', userId: 'ann', sessionId: 's-1' });
  const session = { appName: 'bench', userId: 'ann', id: 's-1' };
  for (let at = 0; at < count; at += 100) await sessions.appendEvents({ session, events: makeEvents(100, at) });
  await sessions.whenIdle();
}

/** Runs work over a store whose calls measure memory now and then. */
async function observed(storage, count, work) {
  const before = memoryInUse();
  let [calls, peak] = [0, 0];
  const sample = (on) =>
    new Proxy(on, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (name === 'transfer') return sample(value);
        if (typeof value !== 'function') return value;
        return (...args) => {
          if (calls++ % samplesOf(count) === 0) peak = Math.max(peak, memoryInUse() - before);
          return value.apply(target, args);
        };
      },
    });
  const startedAt = performance.now();
  await work(sample(storage));
  return { peak: peak / 1e3, rate: (count / (performance.now() - startedAt)) * 1e3 };
}

function memoryInUse() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

if (process.send) process.send(await measured(Number(process.argv[2])));
