import { type FieldNames, fieldNames, requestCheck } from './domain/values/request-fields.js';
import { appendEvent, appendEvents } from './operations/append-events.js';
import type { ChangeSessionRequest } from './operations/change-session.js';
import { checkBudget } from './operations/check-budget.js';
import { createSession } from './operations/create-session.js';
import { deleteSession } from './operations/delete-session.js';
import { eraseServedUser } from './operations/erase-user.js';
import { explainView } from './operations/explain-view.js';
import { forkSession } from './operations/fork-session.js';
import { getModelRequest } from './operations/get-model-request.js';
import { getOrCreateSession, getSession } from './operations/get-session.js';
import { getUsage } from './operations/get-usage.js';
import { listEvents } from './operations/list-events.js';
import { listApps, listSessions } from './operations/list-sessions.js';
import { purgeExpired } from './operations/purge-expired.js';
import { redactEvent } from './operations/redact-event.js';
import { rewindSession } from './operations/rewind-session.js';
import { getAppState, getUserState, updateAppState, updateUserState } from './operations/shared-state.js';
import { stateAt, stateChanges } from './operations/state-history.js';
import { type BeginTurnRequest, beginTurn, endTurn, getTurn, renewTurn } from './operations/turns.js';
import { updateSession } from './operations/update-session.js';
import type { WatchSessionRequest } from './operations/watch-session.js';
import type { SessionEnvironment } from './session-environment.js';

interface ServiceOperation {
  /** What its channel is called: `agent-sessions:NAME`. */
  readonly channel?: string;
  /** What its method runs; missing where it does more than that. */
  readonly run?: unknown;
  /** The fields of its request. */
  readonly fields?: readonly string[];
}

function row<const Channel extends string, Request, More extends readonly unknown[], Result>(
  channel: Channel,
  run: (env: SessionEnvironment, request: Request, ...more: More) => Promise<Result>,
  fields: FieldNames<Request>,
) {
  return { channel, run, fields: fieldNames<Request>(fields) };
}

const APP = { appName: true } as const;
const USER = { ...APP, userId: true } as const;
const SESSION = { ...USER, sessionId: true } as const;
const PAGE = { limit: true, order: true, cursor: true } as const;
const SEEN = { minSeq: true } as const;
const IN_TURN = { expectedVersion: true, turn: true, endTurn: true } as const;
const STATE_CHANGES = { stateDelta: true, stateRemovals: true } as const;
const CREATE = { ...SESSION, state: true, metadata: true, turnsOnly: true } as const;
const LIST = { ...USER, ...PAGE, orderBy: true, page: true, offset: true, includeState: true, filter: true } as const;
const VIEW = { ...SESSION, ...SEEN, config: true, atSeq: true, since: true, fromSeq: true, toSeq: true } as const;
const WATCH = { ...SESSION, afterSeq: true, partials: true, afterPosition: true, stateDeltas: true } as const;
const APPEND = { session: true, ...IN_TURN, transaction: true } as const;
const TURN = { ...SESSION, holder: true, ttlMs: true, requestId: true } as const;

/** The operations of `SessionService`, by its methods. */
export const SERVICE_OPERATIONS = {
  createSession: row('create', createSession, CREATE),
  getSession: row('get', getSession, { ...SESSION, config: true }),
  getOrCreateSession: row('getOrCreate', getOrCreateSession, CREATE),
  listSessions: row('list', listSessions, { ...LIST, within: true }),
  deleteSession: row('delete', deleteSession, { ...SESSION, loaded: true, ifUnchanged: true }),
  listEvents: row('listEvents', listEvents, {
    ...SESSION,
    ...PAGE,
    ...SEEN,
    afterSeq: true,
    beforeSeq: true,
    invocationId: true,
    modelRequests: true,
  }),
  explainView: row('explainView', explainView, { ...VIEW, ...PAGE }),
  getModelRequest: row('getModelRequest', getModelRequest, { ...SESSION, ...SEEN, seq: true, since: true }),
  /** Lives as long as its reader wants, so it has no channel. */
  watch: { fields: fieldNames<WatchSessionRequest>({ ...WATCH, signal: true, gate: true }) },
  stateAt: row('stateAt', stateAt, { ...SESSION, ...SEEN, seq: true }),
  stateChanges: row('stateChanges', stateChanges, {
    ...SESSION,
    ...SEEN,
    afterSeq: true,
    key: true,
    limit: true,
    cursor: true,
  }),
  append: row('append', appendEvent, { ...APPEND, event: true, expectedMarksSeq: true }),
  appendBatch: row('append', appendEvents, { ...APPEND, events: true, endPartials: true, overQuota: true }),
  change: {
    channel: 'change',
    fields: fieldNames<ChangeSessionRequest>({ ...SESSION, config: true, turn: true, endTurn: true }),
  },
  beginTurn: row('beginTurn', beginTurn, TURN),
  getTurn: row('getTurn', getTurn, SESSION),
  redactEvent: row('redact', redactEvent, { ...SESSION, seq: true, reason: true, state: true, turn: true }),
  renewTurn: row('renewTurn', renewTurn, { ...SESSION, token: true, ttlMs: true }),
  endTurn: row('endTurn', endTurn, { ...SESSION, token: true }),
  eraseUser: row('eraseUser', eraseServedUser, { ...USER, reason: true }),
  rewindSession: row('rewind', rewindSession, {
    ...SESSION,
    toSeq: true,
    invocationId: true,
    expectedVersion: true,
    turn: true,
    onServerState: true,
  }),
  forkSession: row('fork', forkSession, { ...SESSION, atSeq: true, newSessionId: true, onServerState: true }),
  getUserState: row('getUserState', getUserState, USER),
  updateUserState: row('updateUserState', updateUserState, { ...USER, ...STATE_CHANGES }),
  getAppState: row('getAppState', getAppState, APP),
  updateAppState: row('updateAppState', updateAppState, { ...APP, ...STATE_CHANGES }),
  getUsage: row('getUsage', getUsage, { ...SESSION, period: true }),
  checkBudget: row('checkBudget', checkBudget, SESSION),
  listApps: { channel: 'listApps', run: listApps },
  consume: { channel: 'consume' },
  updateSession: { channel: 'update', run: updateSession },
  withTurn: { channel: 'turn', fields: fieldNames<BeginTurnRequest>(TURN) },
  purgeExpired: { channel: 'purge', run: purgeExpired },
} as const satisfies Readonly<Record<string, ServiceOperation>>;

type Operations = typeof SERVICE_OPERATIONS;

type With<Part extends keyof ServiceOperation> = {
  [Method in keyof Operations]: Operations[Method] extends Readonly<Record<Part, unknown>> ? Method : never;
}[keyof Operations];

/** A method of the service that has a channel. */
type TracedMethod = With<'channel'>;

/** A method that takes a request with fields. */
export type RequestMethod = With<'fields'>;

/** A method that only runs its operation. */
export type RunMethod = With<'channel' | 'run'>;

/** What a method runs. */
export type RunBy<Method extends RunMethod> = Operations[Method]['run'];

/** What the channels of the service are called. */
export type ServiceChannel = Operations[TracedMethod]['channel'];

export const SERVICE_CHANNELS = [
  ...new Set(Object.values<ServiceOperation>(SERVICE_OPERATIONS).flatMap(({ channel }) => channel ?? [])),
] as readonly ServiceChannel[];

const fields = Object.fromEntries(
  Object.entries<ServiceOperation>(SERVICE_OPERATIONS).map(([method, { fields: names = [] }]) => [method, names]),
) as Readonly<Record<RequestMethod, readonly string[]>>;

/**
 * Checks the request of a method of `SessionService`.
 *
 * @example checkedRequest('listSessions', { appName: 'shop', lmit: 20 }); // throws: `did you mean limit?`
 */
export const checkedRequest = requestCheck(fields);
