import type { DescribedOperation } from './described.js';

/** A call of an operation. Session `s` has two events, `long` has a summary, and `other` has a turn. */
export interface OperationCall {
  readonly status: number;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the ids of the existing session. */
  readonly ids?: { readonly appName?: string; readonly userId?: string; readonly sessionId?: string };
  /** The error that the service throws. */
  readonly failure?: 'store' | 'stale' | 'bug' | 'model';
}

interface OperationCalls {
  /** The method of a service that it calls first. */
  readonly method:
    | 'listApps'
    | 'listSessions'
    | 'createSession'
    | 'getSession'
    | 'deleteSession'
    | 'rewindSession'
    | 'redactEvent'
    | 'beginTurn'
    | 'renewTurn'
    | 'endTurn'
    | 'getTurn'
    | 'withTurn'
    | 'forkSession'
    | 'listEvents'
    | 'explainView'
    | 'getModelRequest'
    | 'outlook'
    | 'stateAt'
    | 'stateChanges'
    | 'append'
    | 'appendBatch'
    | 'appendEvent'
    | 'getUsage'
    | 'getUserState'
    | 'updateUserState'
    | 'getAppState'
    | 'updateAppState'
    | 'getSessionSummary'
    | 'createSessionSummary'
    | 'listSummaries'
    | 'searchEvents'
    | 'eventsAround';
  /** Its path has no ids, so that its calls say themselves what is refused. */
  readonly hasNoIds?: true;
  /** Valid bodies. Failures are tested with the first one. */
  readonly calls: readonly OperationCall[];
}

const deny = (target: string): Record<string, string> => ({ 'x-deny': target });
const SHARED = { 'user:theme': 'dark' };
const DEEP = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`) as unknown;
/** The token of the turn of session `other`. */
export const TURN_TOKEN = '00000000-0000-4000-8000-000000000000';
const HELLO = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };
const CHANGE = { stateDelta: { step: 2 } };

/** The sessions of a user, and those of an app. */
const LISTS: OperationCalls['calls'] = [
  { status: 200 },
  { status: 200, query: '?limit=1' },
  { status: 200, query: '?limit=1&page=1&orderBy=createTime&order=asc' },
  { status: 200, query: '?status=open&tag=a&tag=b&label=region:eu' },
  { status: 400, query: '?label=region' },
  { status: 403, headers: deny('sessions') },
];

const HI = { newMessage: { role: 'user', parts: [{ text: 'Hello' }] } };

/** A run of an agent. */
const RUN: OperationCalls = {
  method: 'withTurn',
  calls: [
    { status: 200, body: HI },
    { status: 404, ids: { appName: 'bank' }, body: HI },
    { status: 403, body: HI, headers: deny('writes') },
    { status: 409, ids: { sessionId: 'other' }, body: HI },
    { status: 400, body: {} },
  ],
};

/** Every operation, with calls that together produce every documented status. */
export const OPERATION_CALLS: Readonly<Record<string, OperationCalls>> = {
  listSessions: {
    method: 'listSessions',
    calls: LISTS,
  },
  listAppSessions: {
    method: 'listSessions',
    calls: LISTS,
  },
  createSession: {
    method: 'createSession',
    calls: [
      { status: 201, body: { state: SHARED } },
      { status: 201 },
      { status: 403, headers: deny('userState'), body: { state: SHARED } },
      { status: 409, body: { sessionId: 's' } },
      { status: 413, body: { state: { deep: DEEP } } },
    ],
  },
  createSessionWithId: {
    method: 'createSession',
    calls: [
      { status: 201, ids: { sessionId: 'new' }, body: { state: { step: 1 } } },
      { status: 403, headers: deny('sessions') },
      { status: 409 },
    ],
  },
  getSession: {
    method: 'getSession',
    calls: [{ status: 200 }, { status: 200, query: '?numRecentEvents=1' }],
  },
  deleteSession: {
    method: 'deleteSession',
    calls: [
      { status: 204, ids: { sessionId: 'none' } },
      { status: 204, headers: deny('session') },
    ],
  },
  rewindSession: {
    method: 'rewindSession',
    calls: [
      { status: 200, body: { toSeq: 1 } },
      { status: 403, body: { toSeq: 1 }, headers: deny('writes') },
      { status: 409, body: { toSeq: 1 }, failure: 'stale' },
      { status: 412, body: { toSeq: 1 }, headers: { 'if-match': '"9"' } },
      { status: 400, body: {} },
    ],
  },
  redactEvent: {
    method: 'redactEvent',
    calls: [
      { status: 200, body: { seq: 1, reason: 'a card number' } },
      { status: 403, body: { seq: 1, reason: 'a card number' }, headers: deny('writes') },
      { status: 409, body: { seq: 1, reason: 'a card number' }, failure: 'stale' },
      { status: 400, body: { seq: 1 } },
    ],
  },
  getTurn: {
    method: 'getTurn',
    calls: [{ status: 200, ids: { sessionId: 'other' } }, { status: 204 }],
  },
  beginTurn: {
    method: 'beginTurn',
    calls: [
      { status: 201, body: { holder: 'w' } },
      { status: 409, body: { holder: 'w' } },
      { status: 403, body: { holder: 'w' }, headers: deny('writes') },
      { status: 400, body: {} },
    ],
  },
  renewTurn: {
    method: 'renewTurn',
    calls: [
      { status: 200, ids: { sessionId: 'other' }, headers: { 'turn-token': TURN_TOKEN }, body: { ttlMs: 20_000 } },
      { status: 409, headers: { 'turn-token': TURN_TOKEN } },
      { status: 403, headers: deny('writes') },
      { status: 400 },
    ],
  },
  endTurn: {
    method: 'endTurn',
    calls: [
      { status: 204, ids: { sessionId: 'other' }, headers: { 'turn-token': TURN_TOKEN } },
      { status: 204, headers: { 'turn-token': 'over' } },
      { status: 403, headers: deny('writes') },
      { status: 404, headers: deny('session') },
      { status: 400 },
    ],
  },
  forkSession: {
    method: 'forkSession',
    calls: [
      { status: 201 },
      { status: 201, body: { atSeq: 1, newSessionId: 'copy' } },
      { status: 403, headers: deny('sessions') },
      { status: 409, body: { newSessionId: 's' } },
    ],
  },
  listEvents: {
    method: 'listEvents',
    calls: [{ status: 200 }, { status: 200, query: '?limit=1&order=desc' }],
  },
  appendEvent: {
    method: 'append',
    calls: [
      { status: 201, body: HELLO },
      { status: 200, body: { ...HELLO, id: 'e-1' } },
      { status: 200, body: { ...HELLO, partial: true } },
      { status: 400, body: { author: 7 } },
      { status: 403, body: { actions: { stateDelta: SHARED } }, headers: deny('userState') },
      { status: 409, body: { author: 'agent' }, headers: { 'idempotency-key': 'e-1' } },
      { status: 412, body: HELLO, headers: { 'if-match': '"9"' } },
      { status: 413, body: { customMetadata: { DEEP } } },
    ],
  },
  appendEvents: {
    method: 'appendBatch',
    calls: [
      { status: 201, body: { events: [HELLO, { ...HELLO, partial: true }, HELLO] } },
      { status: 200, body: { events: [{ ...HELLO, id: 'e-1' }] } },
      { status: 200, body: { events: [{ ...HELLO, partial: true }] } },
      { status: 200, body: { events: [] } },
      { status: 400, body: { events: [{ author: 7 }] } },
      { status: 400, body: { events: [HELLO] }, headers: { 'idempotency-key': 'e-1' } },
      { status: 403, body: { events: [HELLO, { actions: { stateDelta: SHARED } }] }, headers: deny('userState') },
      { status: 409, body: { events: [HELLO, { ...HELLO, id: 'e-1' }] } },
      { status: 412, body: { events: [HELLO] }, headers: { 'if-match': '"9"' } },
      { status: 413, body: { events: [{ customMetadata: { DEEP } }] } },
    ],
  },
  streamEvents: { method: 'listEvents', calls: [] },
  getSessionState: { method: 'getSession', calls: [{ status: 200 }] },
  getSessionStateAt: {
    method: 'stateAt',
    calls: [{ status: 200, query: '?seq=0' }, { status: 400 }],
  },
  listStateChanges: {
    method: 'stateChanges',
    calls: [{ status: 200 }, { status: 200, query: '?limit=1&key=step' }],
  },
  updateSessionState: {
    method: 'appendEvent',
    calls: [
      { status: 200, body: CHANGE },
      { status: 403, body: { stateDelta: SHARED }, headers: deny('userState') },
      { status: 409, body: CHANGE, headers: { 'turn-token': 'over' } },
      { status: 412, body: CHANGE, headers: { 'if-match': '"9"' } },
    ],
  },
  explainView: {
    method: 'explainView',
    calls: [{ status: 200 }, { status: 200, query: '?numRecentEvents=1&fromSeq=1&limit=1&order=desc' }],
  },
  getModelRequest: {
    method: 'getModelRequest',
    calls: [
      { status: 200, ids: { sessionId: 'long' }, query: '?seq=1' },
      { status: 204, query: '?seq=1' },
      { status: 400 },
    ],
  },
  getSummaryOutlook: { method: 'outlook', calls: [{ status: 200 }] },
  getSummary: {
    method: 'getSessionSummary',
    calls: [
      { status: 200, ids: { sessionId: 'long' } },
      { status: 404 },
      { status: 404, query: '?branch=root.a' },
      { status: 400, query: '?branch=+' },
    ],
  },
  createSummary: {
    method: 'createSessionSummary',
    calls: [
      { status: 201, body: { force: true } },
      { status: 204 },
      { status: 403, body: { force: true }, headers: deny('writes') },
      { status: 502, body: { force: true }, failure: 'model' },
      { status: 400, body: { force: 'yes' } },
      { status: 400, body: { branch: '' } },
    ],
  },
  listSummaries: {
    method: 'listSummaries',
    calls: [
      { status: 200, ids: { sessionId: 'long' } },
      { status: 200, query: '?limit=1&afterSeq=0&branch=root.a' },
      { status: 400, query: '?limit=1001' },
    ],
  },
  searchEvents: {
    method: 'searchEvents',
    calls: [
      { status: 200, query: '?text=hello' },
      { status: 200, query: '?text=hello+there&match=any&limit=1&sessionId=s&afterTimestamp=0' },
      { status: 400, query: '?text=hello&limit=51' },
      { status: 400, query: '?text=hello&match=some' },
      { status: 400, query: '' },
      { status: 403, query: '?text=hello', headers: deny('sessions') },
    ],
  },
  eventsAround: {
    method: 'eventsAround',
    calls: [
      { status: 200, query: '?seq=1' },
      { status: 200, query: '?seq=2&before=0&after=50' },
      { status: 400, query: '?seq=0' },
      { status: 400, query: '?seq=1&after=51' },
    ],
  },
  runAgent: RUN,
  streamAgent: RUN,
  runAsAdk: RUN,
  streamAsAdk: RUN,
  listApps: {
    method: 'getTurn',
    hasNoIds: true,
    calls: [
      { status: 200 },
      { status: 401, headers: deny('anonymous') },
      { status: 429, headers: deny('haste') },
      { status: 500, headers: deny('bug') },
    ],
  },
  listSessionApps: {
    method: 'listApps',
    hasNoIds: true,
    calls: [
      { status: 200 },
      { status: 200, query: '?limit=1' },
      { status: 400, query: '?limit=1001' },
      { status: 401, headers: deny('anonymous') },
      { status: 429, headers: deny('haste') },
      { status: 500, failure: 'bug' },
      { status: 503, failure: 'store' },
    ],
  },
  stopAgent: {
    method: 'getTurn',
    calls: [{ status: 200 }, { status: 403, headers: deny('writes') }],
  },
  listApprovals: {
    method: 'listSessions',
    calls: [{ status: 200 }, { status: 200, query: '?limit=1' }, { status: 403, headers: deny('sessions') }],
  },
  answerApproval: {
    method: 'withTurn',
    calls: [
      { status: 200, ids: { sessionId: 'asking' }, body: { confirmed: true } },
      { status: 409, ids: { sessionId: 'asking' }, body: { confirmed: false } },
      { status: 404, body: { confirmed: true } },
      { status: 403, body: { confirmed: true }, headers: deny('writes') },
      { status: 400, body: {} },
    ],
  },
  getSessionUsage: {
    method: 'getUsage',
    calls: [
      { status: 200, query: '?period=total' },
      { status: 400, query: '?period=day' },
    ],
  },
  getUserUsage: {
    method: 'getUsage',
    calls: [
      { status: 200 },
      { status: 200, query: '?period=2026-11-23' },
      { status: 400, query: '?period=week' },
      { status: 403, headers: deny('sessions') },
    ],
  },
  getAppUsage: {
    method: 'getUsage',
    calls: [
      { status: 200, query: '?period=month' },
      { status: 403, headers: deny('sessions') },
    ],
  },
  getUserState: { method: 'getUserState', calls: [{ status: 200 }, { status: 403, headers: deny('userState') }] },
  updateUserState: {
    method: 'updateUserState',
    calls: [
      { status: 200, body: CHANGE },
      { status: 403, headers: deny('userState') },
    ],
  },
  getAppState: { method: 'getAppState', calls: [{ status: 200 }, { status: 403, headers: deny('appState') }] },
  updateAppState: {
    method: 'updateAppState',
    calls: [
      { status: 200, body: CHANGE },
      { status: 403, headers: deny('appState') },
    ],
  },
};

const tooLarge: OperationCall = { status: 413, body: { state: 'x'.repeat(5_000_000) } };
const notJson: OperationCall = { status: 415, body: 'a,b', headers: { 'content-type': 'text/csv' } };

/** What every operation of its kind refuses: what it does not know, what is no JSON, and a session that does not exist. */
export function refusedAlways({ route, operation }: DescribedOperation, good: OperationCall): OperationCall[] {
  const isOpen = operation.operationId === 'appendEvent';
  const hasQuery = operation.parameters?.some((parameter) => parameter.in === 'query') ?? false;
  const mayBeMissing = '404' in operation.responses && (route.includes('{sessionId}') || route.includes(' /run'));
  return [
    ...(operation.requestBody ? [tooLarge, notJson] : []),
    ...(operation.requestBody && !isOpen ? [{ status: 400, body: { nope: 1 } }] : []),
    ...(hasQuery ? [{ status: 400, query: '?nope=1' }] : []),
    ...(mayBeMissing ? [{ ...good, status: 404, ids: { sessionId: 'none' } }] : []),
  ];
}
