import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { EventInput } from '../../../../src/index.js';
import { documentOf, fieldsOf } from '../../../graphql/schema-documents.js';
import type { WalkAnswer, WalkApp } from './walk-app.js';
import type { Headers } from './walk-users.js';
import { OF_ANN, type Place, SECRET, bodyFor, namesItsOwner, pathOf, variablesFor } from './walk-requests.js';

const REFUSALS = ['UNAUTHENTICATED', 'FORBIDDEN', 'SESSION_NOT_FOUND'];

/** Gives ann a session with state, a log, a turn to come and a pending approval. */
export async function plant(app: WalkApp, place: Place = OF_ANN): Promise<void> {
  const { sessions } = app;
  await sessions.createSession({ ...place, state: { secret: SECRET, 'user:secret': SECRET } });
  const { appName, userId, sessionId: id } = place;
  const event: EventInput = { author: 'shop', content: { role: 'model', parts: [{ text: SECRET }] } };
  await sessions.appendEvent({ session: { appName, userId, id }, event });
}

/** A pending approval of ann: `c1@i1`. */
export async function askApproval(app: WalkApp, sessionId: string, headers: Headers): Promise<void> {
  const path = pathOf('/apps/:appName/users/:userId/sessions/:sessionId/run', { ...OF_ANN, sessionId });
  const refund = { newMessage: { parts: [{ text: 'refund' }] }, invocationId: 'i1' };
  const { status, text } = await app.send('POST', path, refund, headers);
  if (status !== 200) throw new Error(text);
}

/** Whether the answer says no more than that of a session that does not exist. */
function isRefusal({ status, code }: WalkAnswer, headers: Headers): boolean {
  if (!('x-user' in headers)) return status === 401;
  return [401, 403, 404].includes(status) && REFUSALS.includes(code ?? '');
}

/**
 * Asks all routes for what ann has, and returns what a caller got by that: an answer, a secret or a change. Deletions look done.
 */
export async function walkRoutes(app: WalkApp, headers: Headers): Promise<string[]> {
  const found: string[] = [];
  const before = await app.everythingOf('ann');
  for (const route of app.routes) {
    const [method = '', pattern = ''] = route.split(' ');
    const answer = await app.send(method, pathOf(pattern, OF_ANN), bodyFor(OF_ANN), headers);
    if (answer.text.includes(SECRET)) found.push(`${route} shows it`);
    const isOfCaller = 'x-user' in headers && !namesItsOwner(route) && !route.includes(':appName');
    const isOpenState = route === 'GET /apps/:appName/state' && headers['x-app'] === undefined && 'x-user' in headers;
    if (
      !isOfCaller &&
      !isOpenState &&
      !isRefusal(answer, headers) &&
      !(await looksMissing(app, route, answer, headers))
    )
      found.push(`${route} answers ${answer.status}`);
    if ((await app.everythingOf('ann')) !== before) found.push(`${route} changes it`);
  }
  return found;
}

async function looksMissing(app: WalkApp, route: string, answer: WalkAnswer, headers: Headers): Promise<boolean> {
  const [method = '', pattern = ''] = route.split(' ');
  if (method !== 'DELETE' || !('x-user' in headers)) return false;
  const { status, text } = await app.send(method, pathOf(pattern, { ...OF_ANN, sessionId: 'none' }), {}, headers);
  return status === answer.status && text === answer.text;
}

/** Asks the own routes of a caller, with the ids of ann in all other places. */
export async function walkOwnRoutes(app: WalkApp, own: Place, headers: Headers): Promise<string[]> {
  const found: string[] = [];
  const before = await app.everythingOf('ann');
  for (const route of app.routes) {
    const [method = '', pattern = ''] = route.split(' ');
    const path = pathOf(pattern, own);
    const others = 'appName=shop&userId=ann&sessionId=s&user_id=ann';
    const answer = await app.send(
      method,
      `${path}${path.includes('?') ? '&' : '?'}${others}`,
      { ...bodyFor(OF_ANN), user_id: 'ann' },
      headers,
    );
    if (answer.text.includes(SECRET)) found.push(`${route} shows it`);
    if ((await app.everythingOf('ann')) !== before) found.push(`${route} changes it`);
  }
  return found;
}

/** The routes by which the owner of a session of their own is refused, and those that show them what it holds. */
export async function walkAsOwner(
  app: WalkApp,
  headers: Headers,
  name = 'own',
): Promise<{ refused: string[]; shown: string[] }> {
  const [refused, shown]: [string[], string[]] = [[], []];
  for (const [index, route] of app.routes.entries()) {
    const [method = '', pattern = ''] = route.split(' ');
    const place = { ...OF_ANN, sessionId: `${name}-${index}` };
    await plant(app, place);
    const answer = await app.send(method, pathOf(pattern, place), bodyFor(place), headers);
    if (REFUSALS.includes(answer.code ?? '')) refused.push(route);
    if (answer.text.includes(SECRET) || answer.isStream) shown.push(route);
  }
  return { refused, shown };
}

/** The same as {@link walkRoutes} for all fields of the schema, subscriptions over WebSockets. */
export async function walkFields(app: WalkApp, headers: Headers): Promise<string[]> {
  const found: string[] = [];
  const before = await app.everythingOf('ann');
  for (const [field, kind] of Object.entries(fieldsOf(app.schema))) {
    const ask = kind === 'subscription' ? subscribe : query;
    const answer = await ask(app, field, OF_ANN, headers);
    if (answer.includes(SECRET)) found.push(`${field} shows it`);
    const isOpenState = field === 'appState' && headers['x-app'] === undefined && 'x-user' in headers;
    const isRefused = REFUSALS.some((code) => answer.includes(`"${code}"`));
    if (!isRefused && !isOpenState) {
      const missing = await ask(app, field, { ...OF_ANN, sessionId: 'none' }, headers);
      const isNothing = kind === 'mutation' || /^\{"data":\{"\w+":null\}\}/.test(answer);
      if (!isNothing || !('x-user' in headers) || missing !== answer) found.push(`${field} answers ${answer}`);
    }
    if ((await app.everythingOf('ann')) !== before) found.push(`${field} changes it`);
  }
  return found;
}

/** The fields by which the owner of a session of their own is refused, and those that show them what it holds. */
export async function walkFieldsAsOwner(app: WalkApp, headers: Headers, name = 'own') {
  const [refused, shown]: [string[], string[]] = [[], []];
  for (const [field, kind] of Object.entries(fieldsOf(app.schema))) {
    const place = { ...OF_ANN, sessionId: `${name}-${field}` };
    await plant(app, place);
    const answer = await (kind === 'subscription' ? subscribe : query)(app, field, place, headers);
    if (REFUSALS.some((code) => answer.includes(`"${code}"`))) refused.push(field);
    if (answer.includes(SECRET)) shown.push(field);
  }
  return { refused, shown };
}

/** Whole approvals of a page are too many fields for one document. */
const FEW = { PendingApproval: ['approvalId', 'hint'] };

async function query(app: WalkApp, field: string, place: Place, headers: Headers): Promise<string> {
  const body = { query: documentOf(app.schema, field, FEW), variables: variablesFor(app.schema, field, place) };
  return (await app.send('POST', '/graphql', body, headers)).text;
}

/** What browsers send when they open a WebSocket, which scripts cannot set. */
const BY_BROWSERS = new Set(['cookie', 'origin', 'sec-fetch-site']);

/** The first event, or the refusal. A browser says from which page it connects. */
async function subscribe(app: WalkApp, field: string, place: Place, sent: Headers): Promise<string> {
  const url = `${app.url.replace('http', 'ws')}/graphql`;
  const named = Object.entries({ origin: app.url, ...sent });
  const headers = Object.fromEntries(named.filter(([name]) => BY_BROWSERS.has(name)));
  const connectionParams = Object.fromEntries(named.filter(([name]) => !BY_BROWSERS.has(name)));
  class BrowserSocket extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers });
    }
  }
  const client = createClient({ url, webSocketImpl: BrowserSocket, retryAttempts: 0, connectionParams });
  const variables = variablesFor(app.schema, field, place);
  const events = client.iterate({ query: documentOf(app.schema, field), variables });
  try {
    return JSON.stringify(await events.next());
  } catch (error) {
    return JSON.stringify(isRefusedSocket(error) ? 'FORBIDDEN' : error);
  } finally {
    await events.return?.();
    await client.dispose();
  }
}

/** Whether the server has not accepted the WebSocket. */
function isRefusedSocket(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 4403;
}
