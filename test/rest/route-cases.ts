import type { RouteCase } from './route-case.js';
import type { Call } from '../transports/recording-service.js';
import {
  FULL_EVENT,
  FULL_SESSION,
  KEY,
  LARGE,
  LARGEST,
  REFERENCE,
  SMALL_EVENT,
  SMALL_SESSION,
  STORED_EVENT,
  USER,
  sessionOf,
} from '../transports/samples.js';

const SESSIONS = '/apps/:appName/users/:userId/sessions';
const SESSION = `${SESSIONS}/:sessionId`;
const [FULL, SMALL] = [sessionOf(FULL_SESSION), sessionOf(SMALL_SESSION)];
const refusal = (problem: string, path: string): object => ({
  type: 'about:blank',
  title: 'Bad Request',
  status: 400,
  detail: `${path}: ${problem}`,
  code: 'INVALID_INPUT',
  path,
});
const CHANGE = { seq: 4, eventId: 'e-4', key: 'a', scope: 'session', before: null } as const;
const CHANGE_PAGE = { changes: [CHANGE], firstSeq: 1, lastSeq: LARGE, nextCursor: 'n' };
const PAGE = { sessions: [SMALL], limit: 2 };
const URL_OF_SESSIONS = '/apps/shop/users/ann/sessions';

const call = (method: string, request: object): readonly Call[] => [{ method, request }];
const append = (event: object, expectedVersion?: number): readonly Call[] =>
  call('append', { session: REFERENCE, event, expectedVersion });
const appended = (duplicate: boolean) => ({ append: { event: STORED_EVENT, duplicate } });

/** What only HTTP has: links, headers, other answers. */
export const ROUTE_CASES: readonly RouteCase[] = [
  {
    title: 'a page of apps',
    route: 'GET /apps',
    query: '?limit=1&cursor=a',
    calls: call('listApps', {}),
    replies: { listApps: ['a', 'b', 'c'] },
    status: 200,
    received: { apps: ['b'], limit: 1, nextCursor: 'b' },
    responseHeaders: { link: '</apps?limit=1>; rel="first", </apps?limit=1&cursor=b>; rel="next"' },
  },
  {
    title: 'a filter of a list, which the link repeats',
    route: `GET ${SESSIONS}`,
    query: '?status=open&tag=vip&tag=n%C3%A9w&label=region:eu&label=a%253Ab:c%2525',
    calls: call('listSessions', {
      ...USER,
      filter: { status: 'open', tags: ['vip', 'néw'], labels: { region: 'eu', 'a:b': 'c%' } },
      includeState: true,
    }),
    replies: { listSessions: { sessions: [], limit: 100, nextCursor: 'n' } },
    status: 200,
    received: { sessions: [], limit: 100, nextCursor: 'n' },
    responseHeaders: {
      link: `<${URL_OF_SESSIONS}?status=open&tag=vip&tag=n%C3%A9w&label=region%3Aeu&label=a%253Ab%3Ac%2525&cursor=n>; rel="next"`,
    },
  },
  {
    title: 'a cursor, in the body and as a link',
    route: `GET ${SESSIONS}`,
    query: '?limit=2&cursor=c',
    calls: call('listSessions', { ...USER, limit: 2, cursor: 'c', includeState: true }),
    replies: { listSessions: { ...PAGE, nextCursor: 'n/+ä' } },
    status: 200,
    received: { sessions: [SMALL_SESSION], limit: 2, nextCursor: 'n/+ä' },
    responseHeaders: {
      link: `<${URL_OF_SESSIONS}?limit=2>; rel="first", <${URL_OF_SESSIONS}?limit=2&cursor=n%2F%2B%C3%A4>; rel="next"`,
      'cache-control': 'no-store',
    },
  },
  {
    title: 'a place and a condition',
    route: `POST ${SESSION}/rewind`,
    body: { toSeq: LARGEST },
    headers: { 'if-match': ' W/"3" ' },
    calls: call('rewindSession', { ...KEY, toSeq: LARGEST, expectedVersion: 3 }),
    replies: { rewindSession: FULL },
    status: 200,
    received: FULL_SESSION,
    responseHeaders: { etag: `"${LARGE}"` },
  },
  {
    title: 'an invocation and any version',
    route: `POST ${SESSION}/rewind`,
    body: { invocationId: 'inv/1 ä' },
    headers: { 'if-match': '*' },
    calls: call('rewindSession', { ...KEY, invocationId: 'inv/1 ä' }),
    replies: { rewindSession: SMALL },
    status: 200,
    received: SMALL_SESSION,
    responseHeaders: { etag: '"0"' },
  },
  {
    title: 'an end that is neither true nor false',
    route: `PATCH ${SESSION}/state`,
    body: { stateDelta: {} },
    headers: { 'turn-token': 't-1', 'turn-end': '1' },
    calls: [],
    replies: {},
    status: 400,
    received: refusal('must be true or false', 'Turn-End'),
  },
  {
    title: 'a key, and no holder',
    route: `GET ${SESSION}/turn`,
    calls: call('getTurn', KEY),
    replies: { getTurn: undefined },
    status: 204,
    received: {},
  },
  {
    title: 'no token',
    route: `PATCH ${SESSION}/turn`,
    body: {},
    calls: [],
    replies: {},
    status: 400,
    received: refusal('is missing: send the token of the turn', 'Turn-Token'),
  },
  {
    title: 'all parameters of a page',
    route: `GET ${SESSION}/events`,
    query: '?limit=2&cursor=c%2F%2B&order=desc&afterSeq=0&beforeSeq=9&invocationId=i%2F%2B',
    calls: call('listEvents', {
      ...KEY,
      limit: 2,
      cursor: 'c/+',
      order: 'desc',
      afterSeq: 0,
      beforeSeq: 9,
      invocationId: 'i/+',
    }),
    replies: { listEvents: { events: [STORED_EVENT], firstSeq: 2, lastSeq: 9, nextCursor: 'n/+' } },
    status: 200,
    received: { events: [STORED_EVENT], firstSeq: 2, lastSeq: 9, nextCursor: 'n/+' },
    responseHeaders: {
      link: `<${URL_OF_SESSIONS}/cart/events?limit=2&order=desc&afterSeq=0&beforeSeq=9&invocationId=i%2F%2B>; rel="first", <${URL_OF_SESSIONS}/cart/events?limit=2&cursor=n%2F%2B&order=desc&afterSeq=0&beforeSeq=9&invocationId=i%2F%2B>; rel="next"`,
    },
  },
  {
    title: 'an event without an id',
    route: `POST ${SESSION}/events`,
    body: { author: 'user', content: null },
    calls: append({ author: 'user', content: null }),
    replies: appended(false),
    status: 201,
    received: STORED_EVENT,
    responseHeaders: { etag: `"${LARGE}"`, 'idempotent-replayed': null },
  },
  {
    title: 'an event with its id in a header, and a version',
    route: `POST ${SESSION}/events`,
    body: { author: 'user' },
    headers: { 'idempotency-key': 'order 7/"a"', 'if-match': '"0"' },
    calls: append({ author: 'user', id: 'order 7/"a"' }, 0),
    replies: appended(true),
    status: 200,
    received: STORED_EVENT,
    responseHeaders: { etag: `"${LARGE}"`, 'idempotent-replayed': 'true' },
  },
  {
    title: 'a partial event',
    route: `POST ${SESSION}/events`,
    body: { ...FULL_EVENT, partial: true },
    calls: call('appendEvent', { session: REFERENCE, event: { ...FULL_EVENT, partial: true } }),
    replies: { appendEvent: { ...FULL_EVENT, partial: true } },
    status: 200,
    received: { ...FULL_EVENT, partial: true },
    responseHeaders: { etag: null },
  },
  {
    title: 'events with a partial one, and a version',
    route: `POST ${SESSION}/events/batch`,
    body: { events: [FULL_EVENT, { partial: true }, { author: 'user', content: null }] },
    headers: { 'if-match': '"0"' },
    calls: call('appendBatch', {
      session: REFERENCE,
      events: [FULL_EVENT, { partial: true }, { author: 'user', content: null }],
      expectedVersion: 0,
    }),
    replies: { appendBatch: { events: [SMALL_EVENT, { partial: true }, STORED_EVENT], duplicate: false } },
    status: 201,
    received: { events: [SMALL_EVENT, { partial: true }, STORED_EVENT] },
    responseHeaders: { etag: `"${LARGE}"`, 'idempotent-replayed': null },
  },
  {
    title: 'events that were stored before',
    route: `POST ${SESSION}/events/batch`,
    body: { events: [FULL_EVENT] },
    calls: call('appendBatch', { session: REFERENCE, events: [FULL_EVENT] }),
    replies: { appendBatch: { events: [STORED_EVENT], duplicate: true } },
    status: 200,
    received: { events: [STORED_EVENT] },
    responseHeaders: { etag: `"${LARGE}"`, 'idempotent-replayed': 'true' },
  },
  {
    title: 'null, which the service decides about',
    route: `POST ${SESSION}/events/batch`,
    body: { events: null },
    calls: call('appendBatch', { session: REFERENCE, events: null }),
    replies: { appendBatch: { events: [], duplicate: false } },
    status: 200,
    received: { events: [] },
    responseHeaders: { etag: null, 'idempotent-replayed': null },
  },
  {
    title: 'no moment',
    route: `GET ${SESSION}/state/at`,
    calls: [],
    replies: {},
    status: 400,
    received: refusal('is missing', 'seq'),
  },
  {
    title: 'all parameters of a page of changes',
    route: `GET ${SESSION}/state/changes`,
    query: '?key=user%3A%C3%A4%2F%26&afterSeq=3&limit=2&cursor=c%2F%2B',
    calls: call('stateChanges', { ...KEY, key: 'user:ä/&', afterSeq: 3, limit: 2, cursor: 'c/+' }),
    replies: { stateChanges: CHANGE_PAGE },
    status: 200,
    received: CHANGE_PAGE,
    responseHeaders: {
      link:
        `<${URL_OF_SESSIONS}/cart/state/changes?key=user%3A%C3%A4%2F%26&afterSeq=3&limit=2>; rel="first", ` +
        `<${URL_OF_SESSIONS}/cart/state/changes?key=user%3A%C3%A4%2F%26&afterSeq=3&limit=2&cursor=n>; rel="next"`,
    },
  },
  {
    title: 'null, and nothing to do',
    route: `POST ${SESSION}/summary`,
    body: { force: null },
    calls: call('createSessionSummary', { session: REFERENCE, force: null }),
    replies: { createSessionSummary: undefined },
    status: 204,
    received: {},
  },
];
