// How long a piece of an answer takes from the agent to a reader on another instance: two processes, all settings as they are by default.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { rowsOfStores } from './support/durable-stores.mjs';

export const title = 'A piece of an answer at a reader on another instance';

const COUNTS = [1, 100];
/** Of each answer. */
const PIECES = Math.round(40 * Number(process.env.BENCH_SCALE ?? 1));
const PAUSE_MS = 50;
const SERVER = fileURLToPath(new URL('support/stream-server.mjs', import.meta.url));

/** @param selection the stores */
export async function run({ stores } = {}) {
  console.table(await rowsOfStores(stores, onStore));
  return [];
}

async function onStore(store, place) {
  const speaker = await startServer(store, place);
  const other = await startServer(store, place);
  const rows = [];
  try {
    for (const count of COUNTS) {
      // The first answers load what is loaded once.
      if (count === 1) await lagsOf(speaker, other, { count, name: 'warm' });
      const lags = await lagsOf(speaker, other, { count, name: `of-${count}` });
      rows.push({ store, streams: count, pieces: lags.length, ...quantilesOf(lags), load: loadavg()[0].toFixed(1) });
    }
  } finally {
    for (const { child } of [speaker, other]) child.kill();
    await Promise.all([speaker, other].map(({ exit }) => exit));
  }
  return rows;
}

async function startServer(store, place) {
  const child = fork(SERVER, [JSON.stringify({ store, place, pieces: PIECES, pauseMs: PAUSE_MS })]);
  const exit = once(child, 'exit');
  const [{ port }] = await Promise.race([
    once(child, 'message'),
    exit.then(() => Promise.reject(new Error(`the server of ${store} ended`))),
  ]);
  return { child, exit, url: `http://127.0.0.1:${port}/apps/bench/users/ann/sessions` };
}

/** The lags of all pieces, as so many readers on the other instance see them. */
async function lagsOf(speaker, other, { count, name }) {
  const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  await Promise.all(ids.map((id) => post(`${speaker.url}/${id}`, {})));
  const readers = await Promise.all(ids.map((id) => startReader(`${other.url}/${id}`)));
  const runs = ids.map((id) => post(`${speaker.url}/${id}/run`, { newMessage: 'Hello' }));
  const lags = await Promise.all(readers.map((reader) => reader.lags()));
  await Promise.all(runs);
  return lags.flat();
}

async function post(url, body) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
}

/** Reads a stream to the end of the answer. */
async function startReader(url) {
  const { body, ok } = await fetch(`${url}/events/stream?partials=true`);
  if (!ok) throw new Error(`no stream at ${url}`);
  const lags = async () => {
    const found = [];
    let rest = '';
    for await (const chunk of body) {
      const now = performance.timeOrigin + performance.now();
      const messages = (rest + Buffer.from(chunk).toString()).split('\n\n');
      rest = messages.pop();
      for (const message of messages) {
        const [, data] = /^data: (.*)$/m.exec(message) ?? [];
        const event = data && JSON.parse(data);
        if (!event || event.author === 'user') continue;
        // Leaving the loop ends the stream.
        if (!event.partial) return found;
        for (const { text } of event.content.parts) {
          for (const time of text.trim().split(' ')) found.push(now - Number(time));
        }
      }
    }
    throw new Error('the stream ended before the answer');
  };
  return { lags };
}

function quantilesOf(lags) {
  const sorted = lags.toSorted((a, b) => a - b);
  const at = (part) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]);
  return { 'median ms': at(0.5), 'p95 ms': at(0.95), 'slowest ms': at(1) };
}
