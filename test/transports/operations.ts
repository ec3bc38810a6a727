import type { SessionsClient } from '../../src/client/index.js';
import type { EventInput, ModelRequestReport, SessionPage, SessionService } from '../../src/index.js';
import type { SessionAction } from '../../src/sessions/rest/index.js';
import type { SessionSearch } from '../../src/search/index.js';
import type { SummarizerSessionManager } from '../../src/summarizer/index.js';
import type { Values } from './made-requests.js';
import type { Call } from './recording-service.js';
import { ROWS, type RowName } from './rows.js';
import {
  FULL_EVENT,
  FULL_SESSION,
  FULL_SUMMARY,
  LARGE,
  LARGEST,
  SMALL_EVENT,
  SMALL_SESSION,
  SMALL_SUMMARY,
  STORED_EVENT,
  jsonOf,
  sessionOf,
} from './samples.js';

type Method = keyof SessionService | keyof SummarizerSessionManager | keyof SessionSearch;

/** What an operation has to do. Its row says how requests and answers look; this says what is right. */
export interface Expected {
  /** What the access rule is asked, in order. */
  readonly asks: readonly `${SessionAction} ${'session' | 'sessions' | 'userState' | 'appState'}`[];
  /** The operations of `WriteDescription` that the write is. */
  readonly controls?: readonly string[];
  /** The method of the service that gets the request; or the calls, where it gets something else. The first one may fail. */
  readonly calls: Method | readonly [Method, (request: Values) => object];
  /** Requests that have a meaning, without ids. Default: made from the fields. */
  readonly requests?: readonly object[];
  /** A request that succeeds on the session of the tests. Default: none but the required fields. */
  readonly good?: object;
  /** What the service returns. Default: made from the shape of the result. */
  readonly replies?: readonly unknown[];
  /** What REST answers. Default: what the service returns. */
  readonly answers?: (result: never, request: Values) => unknown;
  /** Default: 201 for POST, 204 for DELETE, else 200. */
  readonly status?: number;
  /** The call of the client; or why it has none. Default: the method with the name of the operation, and the answer of REST. */
  readonly client?: string | ((client: SessionsClient, request: never) => Promise<unknown>);
  /** What the client adds to a request without it. */
  readonly clientAdds?: Values;
}

/** The id that the client gives an event or a request without one, in tests. */
export const FIXED_ID = '00000000-0000-4000-8000-000000000000';

/** The token of the session's turn, where it has one. */
export const TURN_TOKEN = '00000000-0000-4000-8000-000000000001';

const [FULL, SMALL] = [sessionOf(FULL_SESSION), sessionOf(SMALL_SESSION)];
const SESSIONS = [FULL, SMALL];
const HI = { newMessage: { role: 'user', parts: [{ text: 'Hello' }] } };

/** Fields that are null, as ADK for Python sends them. */
const NULLS = {
  id: 'e-2',
  author: 'agent',
  branch: null,
  partial: null,
  content: null,
  usageMetadata: null,
  actions: { stateDelta: null, transferToAgent: null },
} as unknown as EventInput;
const CONDITIONS = { expectedVersion: LARGE, turn: 'turn-token' };

/** The request with a reference to the session in place of its ids. */
const ofSession = ({ appName, userId, sessionId: id, ...request }: Values): object => ({
  session: { id, appName, userId },
  ...request,
});

const config = ({ appName, userId, sessionId, ...narrowing }: Values): object => ({
  appName,
  userId,
  sessionId,
  config: narrowing,
});

const explained = ({ numRecentEvents, afterTimestamp, afterSeq, ...request }: Values): object => ({
  ...request,
  config: { numRecentEvents, afterTimestamp, afterSeq },
});

/** REST writes a filter as parameters. */
const FILTERED = { status: 'a:b', tag: ['vip', '50% & ä'], label: ['a%3Ab:c%3Ad%25', 'r%C3%A9gion:%2B'] };
const FILTER = { status: 'a:b', tags: ['vip', '50% & ä'], labels: { 'a:b': 'c:d%', région: '+' } };

type ListQuery = Parameters<SessionsClient['listSessions']>[0] & Readonly<Record<'status' | 'tag' | 'label', unknown>>;

const LIST = {
  asks: ['list sessions'],
  calls: [
    'listSessions',
    ({ status, tag: _tag, label: _label, ...request }: Values) => ({
      includeState: true,
      ...request,
      ...(status !== undefined && { filter: FILTER }),
    }),
  ],
  requests: [
    {},
    { limit: 2, cursor: 'c/+=& ä', order: 'asc', orderBy: 'createTime', includeState: false },
    { limit: 1_000, order: 'desc', orderBy: 'lastUpdateTime', ...FILTERED },
    { limit: 3, page: 5 },
    { offset: 10_000 },
  ],
  replies: [
    { sessions: [], limit: 100 },
    { sessions: SESSIONS, limit: 2, nextCursor: 'd/+=& ä' },
    { sessions: [SMALL], limit: 3, page: 5, totalItems: 14, totalPages: 6, nextCursor: 'n' },
  ],
  // A cursor cannot be combined with a number.
  answers: ({ nextCursor, ...page }: SessionPage) => ({
    ...page,
    sessions: page.sessions.map(jsonOf),
    ...(page.totalItems === undefined && { nextCursor }),
  }),
  client: (client, { status, tag: _tag, label: _label, ...request }: ListQuery) =>
    client.listSessions({ ...request, ...(status !== undefined && { filter: FILTER }) }),
} as const satisfies Expected;

const USAGE = {
  calls: 'getUsage',
  client: (client, request: Parameters<SessionsClient['getUsage']>[0]) => client.getUsage(request),
} as const satisfies Partial<Expected>;

const MODEL_REQUESTS: readonly ModelRequestReport[] = [
  { seq: 1, id: 'e', timestamp: 0, given: [], isExact: false },
  {
    seq: LARGEST,
    id: 'c/+=& ä',
    author: 'ä',
    branch: 'a.b',
    timestamp: LARGE,
    model: 'm',
    usage: { promptTokenCount: 5 },
    given: [
      [LARGE, LARGE],
      [1, 2],
    ],
    isExact: true,
    durationMs: 0.5,
    instructions: { hash: 'h', isKept: true },
    tools: { hash: 'i', isKept: false },
    change: { seq: 1, stableUntilSeq: 0, added: [[1, 2]], removed: [], isPromptSame: true, areToolsSame: false },
  },
];

const RUN = {
  asks: ['write session'],
  calls: 'withTurn',
  requests: [
    HI,
    { ...HI, policy: 'debounce', quietMs: 7, invocationId: 'inv/1 ä', retry: true, stateDelta: { a: null } },
  ],
  good: HI,
  clientAdds: { invocationId: FIXED_ID },
} as const satisfies Expected;
const CREATE = { asks: ['create sessions'], calls: 'createSession', replies: SESSIONS } as const;
const CHANGE = { stateDelta: { a: 1 } };

/** All operations. One that is missing is a type error. */
export const OPERATIONS: Readonly<Record<RowName, Expected>> = {
  createSession: CREATE,
  createSessionWithId: { ...CREATE, client: 'it sends the id in the body' },
  getOrCreateSession: {
    asks: ['create sessions', 'read session'],
    calls: 'getOrCreateSession',
    good: { sessionId: 's' },
    replies: SESSIONS,
  },
  listSessions: LIST,
  listAppSessions: { ...LIST, requests: [...LIST.requests, { userId: 'ann', filter: FILTER, limit: 5 }] },
  getSession: { asks: ['read session'], calls: ['getSession', config], replies: SESSIONS },
  deleteSession: { asks: ['delete session'], calls: 'deleteSession' },
  rewindSession: {
    asks: ['write session'],
    controls: ['rewind'],
    calls: 'rewindSession',
    requests: [{ toSeq: 0 }, { toSeq: LARGEST, ...CONDITIONS }, { invocationId: 'inv/1 ä', expectedVersion: 0 }],
    good: { toSeq: 0 },
    replies: SESSIONS,
    status: 200,
  },
  forkSession: {
    asks: ['write session', 'create sessions'],
    controls: ['fork'],
    calls: 'forkSession',
    replies: SESSIONS,
  },
  redactEvent: {
    asks: ['write session'],
    controls: ['redact'],
    calls: 'redactEvent',
    requests: [
      { seq: 1, reason: 'a card number' },
      { seq: LARGEST, reason: 'c/+=& ä', state: true, turn: 'turn-token' },
    ],
    good: { seq: 1, reason: 'a card number' },
    replies: [
      { event: STORED_EVENT, duplicate: false, alsoIn: [] },
      { event: { ...SMALL_EVENT, content: null }, duplicate: true, alsoIn: [2, LARGEST] },
    ],
    status: 200,
  },
  listEvents: { asks: ['read session'], calls: 'listEvents' },
  getModelRequest: {
    asks: ['read session'],
    calls: 'getModelRequest',
    good: { seq: 1 },
    // What only some may see is in the contract of the service, and in `prompts-access`.
    replies: MODEL_REQUESTS,
  },
  explainView: { asks: ['read session'], calls: ['explainView', explained] },
  appendEvent: {
    asks: ['write session'],
    calls: ['append', ofSession],
    requests: [
      { event: FULL_EVENT, ...CONDITIONS, endTurn: true },
      { event: NULLS, expectedVersion: 0 },
      { event: { id: 'e-2', author: 'user' } },
    ],
    good: { event: { author: 'agent' } },
    replies: [
      { event: STORED_EVENT, duplicate: false },
      { event: { ...SMALL_EVENT, content: null }, duplicate: false },
    ],
    answers: ({ event }: { event: unknown }) => event,
  },
  appendEvents: {
    asks: ['write session'],
    calls: ['appendBatch', ofSession],
    requests: [
      { events: [FULL_EVENT, { id: 'e-2', author: 'user' }], ...CONDITIONS, endTurn: true },
      { events: [NULLS], expectedVersion: 0 },
    ],
    good: { events: [{ author: 'agent' }] },
    replies: [
      { events: [SMALL_EVENT, STORED_EVENT], duplicate: false },
      { events: [{ ...SMALL_EVENT, content: null }], duplicate: false },
    ],
    answers: ({ events }: { events: unknown }) => ({ events }),
    client: async (client, request: Parameters<SessionsClient['appendBatch']>[0]) => ({
      events: await client.appendEvents(request),
    }),
  },
  streamEvents: { asks: ['read session'], calls: 'listEvents', client: 'it is `watch`' },
  getSessionState: {
    asks: ['read session'],
    calls: ['getSession', (key) => ({ ...key, config: { numRecentEvents: 0 } })],
    replies: SESSIONS,
    answers: ({ state }: { state: { toRecord(): unknown } }) => state.toRecord(),
    client: (client, key: Parameters<SessionsClient['getState']>[0]) => client.getState(key),
  },
  updateSessionState: {
    asks: ['write session'],
    calls: [
      'appendEvent',
      ({ stateDelta, stateRemovals, ...request }) => ({
        ...ofSession(request),
        event: {
          author: 'system',
          actions: {
            ...(stateDelta !== undefined && { stateDelta }),
            ...(stateRemovals !== undefined && { stateRemovals }),
          },
        },
      }),
    ],
    good: CHANGE,
    client: 'it appends an event, which has an id for retries',
  },
  getUserState: { asks: ['read userState'], calls: 'getUserState' },
  updateUserState: { asks: ['write userState'], calls: 'updateUserState', good: CHANGE },
  getAppState: { asks: ['read appState'], calls: 'getAppState' },
  updateAppState: { asks: ['write appState'], calls: 'updateAppState', good: CHANGE },
  getSessionStateAt: {
    asks: ['read session'],
    calls: 'stateAt',
    good: { seq: 0 },
    client: (client, request: Parameters<SessionsClient['stateAt']>[0]) => client.stateAt(request),
  },
  listStateChanges: {
    asks: ['read session'],
    calls: 'stateChanges',
    client: (client, request: Parameters<SessionsClient['stateChanges']>[0]) => client.stateChanges(request),
  },
  getTurn: { asks: ['read session'], calls: 'getTurn' },
  beginTurn: {
    asks: ['write session'],
    controls: ['turn'],
    calls: 'beginTurn',
    good: { holder: 'w', requestId: 'r' },
    clientAdds: { requestId: FIXED_ID },
  },
  renewTurn: { asks: ['write session'], controls: ['turn'], calls: 'renewTurn', good: { token: TURN_TOKEN } },
  endTurn: { asks: ['write session'], controls: ['turn'], calls: 'endTurn', good: { token: TURN_TOKEN } },
  getSessionUsage: { asks: ['read session'], ...USAGE },
  getUserUsage: { asks: ['list sessions'], ...USAGE },
  getAppUsage: { asks: ['list sessions'], ...USAGE },
  getSummary: { asks: ['read session'], calls: 'getSessionSummary', replies: [FULL_SUMMARY, SMALL_SUMMARY] },
  getSummaryOutlook: { asks: ['read session'], calls: 'outlook' },
  createSummary: {
    asks: ['write session'],
    controls: ['summary'],
    calls: ['createSessionSummary', ofSession],
    good: { force: true },
    replies: [FULL_SUMMARY, SMALL_SUMMARY],
  },
  listSummaries: {
    asks: ['read session'],
    calls: ['listSummaries', (request) => ({ limit: 100, ...request })],
    replies: [[FULL_SUMMARY, SMALL_SUMMARY], []],
    answers: (summaries: unknown, { limit = 100 }) => ({ summaries, limit }),
    client: async (client, request: Parameters<SessionsClient['listSummaries']>[0]) => ({
      summaries: await client.listSummaries(request),
      limit: request.limit ?? 100,
    }),
  },
  searchEvents: {
    asks: ['read sessions'],
    calls: 'searchEvents',
    requests: [
      { text: 'c/+=& ä', sessionId: 's/ä', afterTimestamp: LARGE, match: 'any', limit: 50, cursor: 'c/+=& ä' },
      { text: '"', afterTimestamp: 0, match: 'all', limit: 1 },
      { text: 'a', limit: 20 },
    ],
    good: { text: 'order', limit: 20 },
    clientAdds: {},
  },
  searchStatus: { asks: ['read sessions'], calls: 'status' },
  eventsAround: { asks: ['read session'], calls: 'eventsAround', good: { seq: 1 } },
  runAgent: { ...RUN, status: 200 },
  streamAgent: { ...RUN, client: 'it streams' },
  stopAgent: {
    asks: ['write session'],
    controls: ['stop'],
    calls: 'getTurn',
    status: 200,
    client: async (client, request: Parameters<SessionsClient['stopAgent']>[0]) => ({
      stopped: await client.stopAgent(request),
    }),
  },
  listApprovals: { asks: ['list sessions'], calls: 'listSessions' },
  answerApproval: {
    asks: ['write session'],
    controls: ['approval'],
    calls: 'withTurn',
    good: { confirmed: true },
    status: 200,
  },
};

/** The calls of the service that a request becomes. */
export function callsFor(name: RowName, request: Values): readonly Call[] {
  const { calls } = OPERATIONS[name];
  if (typeof calls === 'string') return [{ method: calls, request }];
  const [method, becomes] = calls;
  return [{ method, request: becomes(request) }];
}

/** The method of the service that an operation calls first. */
export function methodOf(name: RowName): Method {
  const { calls } = OPERATIONS[name];
  return typeof calls === 'string' ? calls : calls[0];
}

const STATUS: Readonly<Record<string, number>> = { GET: 200, PATCH: 200, POST: 201, DELETE: 204 };

/** The status of a REST answer to a request that succeeds. */
export function statusOf(name: RowName): number {
  const [method = ''] = ROWS[name].route?.at.split(' ') ?? [];
  return OPERATIONS[name].status ?? STATUS[method] ?? 200;
}

/** Methods of the services that no client reaches, and why. */
export const NOT_REMOTE = {
  appendEvents: 'it is `appendBatch` without the answer whether the events were stored before',
  updateSession: 'it saves what changed in a session object; clients have none',
  change: 'it runs a function of the caller; clients read and append with `expectedVersion`',
  checkBudget: 'the server does it before a turn',
  listApps: 'operators do it; REST asks the rules of access about each app: test/rest/apps',
  purgeExpired: 'the server does it',
  eraseUser: 'operators do it, and the rules of access have no such right',
  consume: 'its handler is a function of the process',
  withTurn: 'it runs a function of the caller; clients begin, renew and end turns',
  watch: 'it streams: test/rest/event-stream, test/graphql/subscription',
  hasIndex: 'clients find the same with and without an index',
  start: 'the server does it',
  stop: 'for the end of the process',
  lag: 'operators ask it; see `sessions.consumers`',
  rebuild: 'operators do it',
  sweep: 'the server does it',
  counts: 'for metrics of the server',
  whenIdle: 'for tests and for the end of the process',
  finish: 'for the end of the process',
  close: 'for the end of the process',
} as const satisfies Partial<Record<Method, string>>;
