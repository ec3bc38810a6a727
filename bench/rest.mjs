import { fork } from 'node:child_process';
import { once } from 'node:events';
import { makeEvents } from './support/events.mjs';
import { answersPerSecond, requestOf } from './support/http-load.mjs';
import { compare, passes } from './support/measure.mjs';

export const title = 'REST over memory, 16 connections, against a route of Nest that does nothing but answer as much';

const CONNECTIONS = 16;
const MILLISECONDS = 1_000;
const SERVER = new URL('support/rest-server.mjs', import.meta.url);

const FRAMEWORKS = ['Express', 'Fastify'];

export async function run() {
  const rows = [];
  for (const framework of FRAMEWORKS) rows.push(...(await withServer(framework, (port) => allRows(framework, port))));
  return rows;
}

/** Only the appends. */
export async function runAppends() {
  const rows = [];
  for (const framework of FRAMEWORKS) rows.push(await withServer(framework, (port) => appendRow(framework, port)));
  return rows;
}

async function withServer(framework, work) {
  const server = fork(SERVER, [framework]);
  try {
    const [{ port }] = await once(server, 'message');
    return await work(port);
  } finally {
    server.disconnect();
    await once(server, 'exit');
  }
}

async function allRows(framework, port) {
  const rows = [await appendRow(framework, port)];
  for (const events of [0, 20]) {
    rows.push({ what: `${framework}, get with ${events} events`, unit: 'requests/s', ...(await gets(port, events)) });
  }
  return rows;
}

async function appendRow(framework, port) {
  return { what: `${framework}, append`, unit: 'requests/s', ...(await appends(port)) };
}

/** To a new session in every pass, so that no pass has a longer log than another. */
function appends(port) {
  const [event] = makeEvents(1);
  const { id: _, ...body } = event;
  return compare(passes(7), async (side, pass) => {
    const path = `/apps/bench/users/ann/sessions/append-${pass}`;
    if (side === 'ours') await send(port, 'POST', path, {});
    const write = requestOf('POST', side === 'ours' ? `${path}/events` : `/bare/bench/ann/append-${pass}`, body);
    return rate(port, write, 201);
  });
}

/** The bare route answers with the very same session. */
async function gets(port, events) {
  const path = `/apps/bench/users/ann/sessions/get-${events}`;
  const bare = `/bare/bench/ann/get-${events}`;
  await send(port, 'POST', path, {});
  for (const event of makeEvents(events)) await send(port, 'POST', `${path}/events`, event);
  await send(port, 'POST', `${bare}/answer`, await (await send(port, 'GET', path)).json());
  return compare(passes(7), (side) => rate(port, requestOf('GET', side === 'ours' ? path : bare), 200));
}

function rate(port, request, status) {
  return answersPerSecond({
    port,
    connections: CONNECTIONS,
    milliseconds: MILLISECONDS,
    request: () => request,
    status,
  });
}

async function send(port, method, path, body) {
  const init = { method, ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}`);
  return response;
}
