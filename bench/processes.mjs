// Writers in processes of their own, all on one session: does each come on, and is the log whole in the end?
import { fork } from 'node:child_process';
import { SessionService } from '../dist/index.js';
import { openStorage, rowsOfStores } from './support/durable-stores.mjs';
import { OWNER } from './support/owner.mjs';

export const title = 'Processes that append to one session, each 8 at a time';

const COUNTS = [1, 2, 4, 16];
const IN_FLIGHT = 8;
const SECONDS = 3 * Number(process.env.BENCH_SCALE ?? 1);
const SESSION = { ...OWNER, id: 'one' };

/** @param selection the stores */
export async function run({ stores } = {}) {
  console.table(await rowsOfStores(stores, onStore));
  return [];
}

async function onStore(store, place) {
  const sessions = new SessionService({ storage: openStorage(store, place) });
  const rows = [];
  for (const count of COUNTS) {
    const key = { ...OWNER, sessionId: `of-${count}` };
    await sessions.createSession(key);
    const writers = await Promise.all(
      Array.from({ length: count }, (_, writer) => startWriter({ store, place, id: key.sessionId, writer })),
    );
    const results = await Promise.all(writers.map((writer) => writer.run()));
    rows.push({ store, processes: count, ...summaryOf(results), ...(await checked(sessions, key, results)) });
  }
  await sessions.close();
  return rows;
}

function summaryOf(results) {
  const appended = results.map(({ count }) => count);
  const all = appended.reduce((sum, count) => sum + count, 0);
  return {
    'appends/s': Math.round(all / SECONDS),
    'least of most': (Math.min(...appended) / Math.max(...appended)).toFixed(2),
    'slowest ms': Math.round(Math.max(...results.map(({ slowest }) => slowest))),
    errors: results.reduce((sum, { errors }) => sum + errors, 0),
  };
}

/** Each acknowledged event is there once, and the numbers have no gap. */
async function checked(sessions, key, results) {
  const seqs = [];
  for (let afterSeq = 0; ;) {
    const { events } = await sessions.listEvents({ ...key, afterSeq, limit: 1_000 });
    if (events.length === 0) break;
    seqs.push(...events.map(({ seq }) => seq));
    afterSeq = seqs.at(-1);
  }
  const all = results.reduce((sum, { count }) => sum + count, 0);
  return { lost: all - seqs.length, gapless: seqs.every((seq, index) => seq === index + 1) };
}

/** Starts a process, and waits until it has written once, so that all begin together. */
async function startWriter(task) {
  const child = fork(new URL(import.meta.url), { env: { ...process.env, BENCH_WRITER: JSON.stringify(task) } });
  const answers = [];
  const waiting = [];
  child.on('message', (message) => (waiting.shift() ?? ((late) => answers.push(late)))(message));
  child.on('exit', (code) => {
    if (code !== 0) throw new Error(`A writer ended with ${code}`);
  });
  const next = () =>
    answers.length > 0 ? Promise.resolve(answers.shift()) : new Promise((resolve) => waiting.push(resolve));
  await next();
  return {
    run: () => {
      child.send('start');
      return next();
    },
  };
}

async function write({ store, place, id, writer }) {
  const sessions = new SessionService({ storage: openStorage(store, place) });
  const session = { ...SESSION, id };
  await sessions.getSession({ ...OWNER, sessionId: id });
  process.send('ready');
  await new Promise((resolve) => process.once('message', resolve));
  const end = performance.now() + SECONDS * 1_000;
  const result = { count: 0, errors: 0, slowest: 0 };
  const append = async (lane) => {
    for (let number = 0; performance.now() < end; number++) {
      const startedAt = performance.now();
      const event = {
        id: `${writer}-${lane}-${number}`,
        author: 'agent',
        content: { parts: [{ text: 'x'.repeat(200) }] },
      };
      await sessions.appendEvent({ session, event }).then(
        () => (result.count += 1),
        () => (result.errors += 1),
      );
      result.slowest = Math.max(result.slowest, performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, (_, lane) => append(lane)));
  process.send(result);
  await sessions.close();
  process.disconnect();
}

if (process.env.BENCH_WRITER) await write(JSON.parse(process.env.BENCH_WRITER));
