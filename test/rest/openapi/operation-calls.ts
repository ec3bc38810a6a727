import { idValues } from '../../transports/made-requests.js';
import { OPERATIONS, methodOf, statusOf } from '../../transports/operations.js';
import { restRequest } from '../../transports/rest-requests.js';
import { ROWS, ROW_NAMES, type RowName } from '../../transports/rows.js';
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
  readonly failure?: 'store' | 'bug' | 'model';
}

const deny = (target: string): Record<string, string> => ({ 'x-deny': target });
const SHARED = { 'user:theme': 'dark' };
const DEEP = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`) as unknown;
/** The token of the turn of session `other`. */
export const TURN_TOKEN = '00000000-0000-4000-8000-000000000000';
const HELLO = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };
const CHANGE = { stateDelta: { step: 2 } };

/** The sessions of a user, and those of an app. */
const LISTS: readonly OperationCall[] = [
  { status: 200 },
  { status: 200, query: '?limit=1' },
  { status: 200, query: '?limit=1&page=1&orderBy=createTime&order=asc' },
  { status: 200, query: '?status=open&tag=a&tag=b&label=region:eu' },
  { status: 400, query: '?label=region' },
];

const HI = { newMessage: { role: 'user', parts: [{ text: 'Hello' }] } };

/** A run of an agent. */
const RUN: readonly OperationCall[] = [
  { status: 200, body: HI },
  { status: 404, ids: { appName: 'bank' }, body: HI },
  { status: 409, ids: { sessionId: 'other' }, body: HI },
  { status: 400, body: {} },
];

/**
 * Calls with which an operation answers by every documented status, where more is needed than a good request and what follows from its
 * row. Failures are tested with the first one.
 */
const CALLS: Readonly<Record<string, readonly OperationCall[]>> = {
  listSessions: LISTS,
  listAppSessions: LISTS,
  createSession: [
    { status: 201, body: { state: SHARED } },
    { status: 201 },
    { status: 403, headers: deny('userState'), body: { state: SHARED } },
    { status: 409, body: { sessionId: 's' } },
    { status: 413, body: { state: { deep: DEEP } } },
  ],
  createSessionWithId: [{ status: 201, ids: { sessionId: 'new' }, body: { state: { step: 1 } } }, { status: 409 }],
  getSession: [{ status: 200 }, { status: 200, query: '?numRecentEvents=1' }],
  deleteSession: [
    { status: 204, ids: { sessionId: 'none' } },
    { status: 204, headers: deny('session') },
  ],
  rewindSession: [
    { status: 200, body: { toSeq: 1 } },
    { status: 400, body: {} },
  ],
  redactEvent: [
    { status: 200, body: { seq: 1, reason: 'a card number' } },
    { status: 400, body: { seq: 1 } },
  ],
  getTurn: [{ status: 200, ids: { sessionId: 'other' } }, { status: 204 }],
  beginTurn: [
    { status: 201, body: { holder: 'w' } },
    { status: 409, body: { holder: 'w' } },
    { status: 400, body: {} },
  ],
  renewTurn: [
    { status: 200, ids: { sessionId: 'other' }, headers: { 'turn-token': TURN_TOKEN }, body: { ttlMs: 20_000 } },
    { status: 409, headers: { 'turn-token': TURN_TOKEN } },
    { status: 400 },
  ],
  endTurn: [
    { status: 204, ids: { sessionId: 'other' }, headers: { 'turn-token': TURN_TOKEN } },
    { status: 204, headers: { 'turn-token': 'over' } },
    { status: 404, headers: deny('session') },
    { status: 400 },
  ],
  forkSession: [
    { status: 201 },
    { status: 201, body: { atSeq: 1, newSessionId: 'copy' } },
    { status: 409, body: { newSessionId: 's' } },
  ],
  listEvents: [{ status: 200 }, { status: 200, query: '?limit=1&order=desc' }],
  appendEvent: [
    { status: 201, body: HELLO },
    { status: 200, body: { ...HELLO, id: 'e-1' } },
    { status: 200, body: { ...HELLO, partial: true } },
    { status: 400, body: { author: 7 } },
    { status: 403, body: { actions: { stateDelta: SHARED } }, headers: deny('userState') },
    { status: 409, body: { author: 'agent' }, headers: { 'idempotency-key': 'e-1' } },
    { status: 413, body: { customMetadata: { DEEP } } },
  ],
  appendEvents: [
    { status: 201, body: { events: [HELLO, { ...HELLO, partial: true }, HELLO] } },
    { status: 200, body: { events: [{ ...HELLO, id: 'e-1' }] } },
    { status: 200, body: { events: [{ ...HELLO, partial: true }] } },
    { status: 200, body: { events: [] } },
    { status: 400, body: { events: [{ author: 7 }] } },
    { status: 400, body: { events: [HELLO] }, headers: { 'idempotency-key': 'e-1' } },
    { status: 403, body: { events: [HELLO, { actions: { stateDelta: SHARED } }] }, headers: deny('userState') },
    { status: 409, body: { events: [HELLO, { ...HELLO, id: 'e-1' }] } },
    { status: 413, body: { events: [{ customMetadata: { DEEP } }] } },
  ],
  streamEvents: [],
  listStateChanges: [{ status: 200 }, { status: 200, query: '?limit=1&key=step' }],
  updateSessionState: [
    { status: 200, body: CHANGE },
    { status: 403, body: { stateDelta: SHARED }, headers: deny('userState') },
  ],
  explainView: [
    { status: 200 },
    { status: 200, query: '?numRecentEvents=1&fromSeq=1&limit=1&order=desc' },
    { status: 200, query: '?atSeq=1&since=0' },
    { status: 400, query: '?atSeq=1000' },
  ],
  getModelRequest: [
    { status: 200, ids: { sessionId: 'long' }, query: '?seq=1' },
    { status: 204, query: '?seq=1' },
    { status: 400 },
  ],
  getSummary: [
    { status: 200, ids: { sessionId: 'long' } },
    { status: 404 },
    { status: 404, query: '?branch=root.a' },
    { status: 400, query: '?branch=+' },
  ],
  createSummary: [
    { status: 201, body: { force: true } },
    { status: 204 },
    { status: 502, body: { force: true }, failure: 'model' },
    { status: 400, body: { force: 'yes' } },
    { status: 400, body: { branch: '' } },
  ],
  listSummaries: [
    { status: 200, ids: { sessionId: 'long' } },
    { status: 200, query: '?limit=1&afterSeq=0&branch=root.a' },
    { status: 400, query: '?limit=1001' },
  ],
  searchEvents: [
    { status: 200, query: '?text=hello' },
    { status: 200, query: '?text=hello+there&match=any&limit=1&sessionId=s&afterTimestamp=0' },
    { status: 400, query: '?text=hello&limit=51' },
    { status: 400, query: '?text=hello&match=some' },
    { status: 400, query: '' },
  ],
  eventsAround: [
    { status: 200, query: '?seq=1' },
    { status: 200, query: '?seq=2&before=0&after=50' },
    { status: 400, query: '?seq=0' },
    { status: 400, query: '?seq=1&after=51' },
  ],
  runAgent: RUN,
  streamAgent: RUN,
  runAsAdk: RUN,
  streamAsAdk: RUN,
  listApps: [
    { status: 200 },
    { status: 401, headers: deny('anonymous') },
    { status: 429, headers: deny('haste') },
    { status: 500, headers: deny('bug') },
  ],
  listSessionApps: [
    { status: 200 },
    { status: 200, query: '?limit=1' },
    { status: 400, query: '?limit=1001' },
    { status: 401, headers: deny('anonymous') },
    { status: 429, headers: deny('haste') },
    { status: 500, failure: 'bug' },
    { status: 503, failure: 'store' },
  ],
  listApprovals: [{ status: 200 }, { status: 200, query: '?limit=1' }],
  answerApproval: [
    { status: 200, ids: { sessionId: 'asking' }, body: { confirmed: true } },
    { status: 409, ids: { sessionId: 'asking' }, body: { confirmed: false } },
    { status: 404, body: { confirmed: true } },
    { status: 400, body: {} },
  ],
  getUserUsage: [{ status: 200 }, { status: 200, query: '?period=2026-11-23' }, { status: 400, query: '?period=week' }],
};

/** Routes that do the same as a row. */
const LIKE: Readonly<Record<string, RowName>> = { runAsAdk: 'runAgent', streamAsAdk: 'runAgent' };
/** Lists of apps have no row. The method of a service that they call first. */
const LISTS_OF_APPS: Readonly<Record<string, string>> = { listApps: 'getTurn', listSessionApps: 'listApps' };

/** Every operation of the document. */
export const OPERATION_IDS: readonly string[] = [
  ...ROW_NAMES.filter((name) => ROWS[name].route),
  ...Object.keys(LIKE),
  ...Object.keys(LISTS_OF_APPS),
];

function rowOf(id: string): RowName | undefined {
  return id in LISTS_OF_APPS ? undefined : (LIKE[id] ?? (id as RowName));
}

/** The method of a service that an operation calls first. */
export function firstMethodOf(id: string): string {
  const name = rowOf(id);
  return name ? methodOf(name) : (LISTS_OF_APPS[id] ?? '');
}

/** Calls of an operation. The first one is good. */
export function callsOf(id: string): readonly OperationCall[] {
  const name = rowOf(id);
  return CALLS[id] ?? (name ? [goodCall(name)] : []);
}

function goodCall(name: RowName): OperationCall {
  const { query, body, headers } = restRequest(ROWS[name], { ...idValues(ROWS[name]), ...OPERATIONS[name].good });
  return { status: statusOf(name), query, body, headers };
}

/** What follows from the row: who may not do it, a version that is not that of the session, and a turn that is over. */
export function refusedByRow(id: string, good: OperationCall): OperationCall[] {
  const name = rowOf(id);
  if (!name) return [];
  const { keepsVersion = false, turn } = ROWS[name];
  const [action = '', target = ''] = OPERATIONS[name].asks[0]?.split(' ') ?? [];
  const denied = target !== 'session' ? target : action === 'write' ? 'writes' : undefined;
  return [
    ...(denied === undefined ? [] : [{ ...good, status: 403, headers: { ...good.headers, ...deny(denied) } }]),
    ...(keepsVersion ? [{ ...good, status: 412, headers: { ...good.headers, 'if-match': '"9"' } }] : []),
    ...(turn === 'in' || turn === 'in or ending'
      ? [{ ...good, status: 409, headers: { ...good.headers, 'turn-token': 'over' } }]
      : []),
  ];
}

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
