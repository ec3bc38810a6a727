import type { SessionKey, UserKey } from './domain/ids.js';
import { fieldNames, requestCheck } from './domain/input-checks.js';
import type * as operations from './operations/index.js';

const APP = { appName: true } as const;
const USER = { ...APP, userId: true } as const;
const SESSION = { ...USER, sessionId: true } as const;
const PAGE = { limit: true, order: true, cursor: true } as const;
const SEEN = { minSeq: true } as const;
const IN_TURN = { expectedVersion: true, turn: true, endTurn: true } as const;
const STATE_CHANGES = { stateDelta: true, stateRemovals: true } as const;

const CREATE = fieldNames<operations.CreateSessionRequest>({
  ...SESSION,
  state: true,
  metadata: true,
  turnsOnly: true,
});
const APPEND = { session: true, ...IN_TURN, transaction: true } as const;
const TURN = { ...SESSION, holder: true, ttlMs: true, requestId: true } as const;

/** The fields of the requests of `SessionService`, by its methods. */
export const REQUEST_FIELDS = {
  createSession: CREATE,
  getSession: fieldNames<operations.GetSessionRequest>({ ...SESSION, config: true }),
  getOrCreateSession: CREATE,
  listSessions: fieldNames<operations.ListSessionsRequest>({
    ...USER,
    ...PAGE,
    orderBy: true,
    page: true,
    offset: true,
    includeState: true,
    filter: true,
    within: true,
  }),
  deleteSession: fieldNames<operations.DeleteSessionRequest>({ ...SESSION, loaded: true, ifUnchanged: true }),
  listEvents: fieldNames<operations.ListEventsRequest>({
    ...SESSION,
    ...PAGE,
    ...SEEN,
    afterSeq: true,
    beforeSeq: true,
    invocationId: true,
    modelRequests: true,
  }),
  explainView: fieldNames<operations.ExplainViewRequest>({
    ...SESSION,
    ...PAGE,
    ...SEEN,
    config: true,
    atSeq: true,
    since: true,
    fromSeq: true,
    toSeq: true,
  }),
  getModelRequest: fieldNames<operations.ModelRequestQuery>({ ...SESSION, ...SEEN, seq: true, since: true }),
  watch: fieldNames<operations.WatchSessionRequest>({
    ...SESSION,
    afterSeq: true,
    partials: true,
    afterPosition: true,
    signal: true,
    stateDeltas: true,
    gate: true,
  }),
  stateAt: fieldNames<operations.StateAtRequest>({ ...SESSION, ...SEEN, seq: true }),
  stateChanges: fieldNames<operations.StateChangesRequest>({
    ...SESSION,
    ...SEEN,
    afterSeq: true,
    key: true,
    limit: true,
    cursor: true,
  }),
  append: fieldNames<operations.AppendEventRequest>({ ...APPEND, event: true, expectedMarksSeq: true }),
  appendBatch: fieldNames<operations.AppendEventsRequest>({
    ...APPEND,
    events: true,
    endPartials: true,
    overQuota: true,
  }),
  change: fieldNames<operations.ChangeSessionRequest>({ ...SESSION, config: true, turn: true, endTurn: true }),
  beginTurn: fieldNames<operations.BeginTurnRequest>(TURN),
  getTurn: fieldNames<SessionKey>(SESSION),
  redactEvent: fieldNames<operations.RedactEventRequest>({
    ...SESSION,
    seq: true,
    reason: true,
    state: true,
    turn: true,
  }),
  renewTurn: fieldNames<operations.RenewTurnRequest>({ ...SESSION, token: true, ttlMs: true }),
  endTurn: fieldNames<operations.EndTurnRequest>({ ...SESSION, token: true }),
  eraseUser: fieldNames<operations.EraseUserRequest>({ ...USER, reason: true }),
  rewindSession: fieldNames<operations.RewindSessionRequest>({
    ...SESSION,
    toSeq: true,
    invocationId: true,
    expectedVersion: true,
    turn: true,
    onServerState: true,
  }),
  forkSession: fieldNames<operations.ForkSessionRequest>({
    ...SESSION,
    atSeq: true,
    newSessionId: true,
    onServerState: true,
  }),
  getUserState: fieldNames<UserKey>(USER),
  updateUserState: fieldNames<UserKey & operations.SharedStateChanges>({ ...USER, ...STATE_CHANGES }),
  getAppState: fieldNames<{ appName: string }>(APP),
  updateAppState: fieldNames<{ appName: string } & operations.SharedStateChanges>({ ...APP, ...STATE_CHANGES }),
  getUsage: fieldNames<operations.GetUsageRequest>({ ...SESSION, period: true }),
  checkBudget: fieldNames<operations.CheckBudgetRequest>(SESSION),
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * Checks the request of a method of `SessionService`.
 *
 * @example checkedRequest('listSessions', { appName: 'shop', lmit: 20 }); // throws: `did you mean limit?`
 */
export const checkedRequest = requestCheck(REQUEST_FIELDS);
