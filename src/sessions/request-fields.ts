import type { SessionKey, UserKey } from './domain/ids.js';
import { fieldNames as fields, refuseMisspelled, requireRequest } from './domain/input-checks.js';
import type * as operations from './operations/index.js';

const APP = { appName: true } as const;
const USER = { ...APP, userId: true } as const;
const SESSION = { ...USER, sessionId: true } as const;
const PAGE = { limit: true, order: true, cursor: true } as const;
const SEEN = { minSeq: true } as const;
const IN_TURN = { expectedVersion: true, turn: true, endTurn: true } as const;
const STATE_CHANGES = { stateDelta: true, stateRemovals: true } as const;

const CREATE = fields<operations.CreateSessionRequest>({ ...SESSION, state: true, metadata: true, turnsOnly: true });
const APPEND = { session: true, ...IN_TURN, transaction: true } as const;
const TURN = { ...SESSION, holder: true, ttlMs: true, requestId: true } as const;

/** The fields of the requests of `SessionService`, by its methods. */
export const REQUEST_FIELDS = {
  createSession: CREATE,
  getSession: fields<operations.GetSessionRequest>({ ...SESSION, config: true }),
  getOrCreateSession: CREATE,
  listSessions: fields<operations.ListSessionsRequest>({
    ...USER,
    ...PAGE,
    orderBy: true,
    page: true,
    offset: true,
    includeState: true,
    filter: true,
    within: true,
  }),
  deleteSession: fields<operations.DeleteSessionRequest>({ ...SESSION, loaded: true, ifUnchanged: true }),
  listEvents: fields<operations.ListEventsRequest>({
    ...SESSION,
    ...PAGE,
    ...SEEN,
    afterSeq: true,
    beforeSeq: true,
    invocationId: true,
    modelRequests: true,
  }),
  explainView: fields<operations.ExplainViewRequest>({
    ...SESSION,
    ...PAGE,
    ...SEEN,
    config: true,
    fromSeq: true,
    toSeq: true,
  }),
  getModelRequest: fields<operations.ModelRequestQuery>({ ...SESSION, ...SEEN, seq: true, since: true }),
  watch: fields<operations.WatchSessionRequest>({
    ...SESSION,
    afterSeq: true,
    partials: true,
    afterPosition: true,
    signal: true,
    stateDeltas: true,
    gate: true,
  }),
  stateAt: fields<operations.StateAtRequest>({ ...SESSION, ...SEEN, seq: true }),
  stateChanges: fields<operations.StateChangesRequest>({
    ...SESSION,
    ...SEEN,
    afterSeq: true,
    key: true,
    limit: true,
    cursor: true,
  }),
  append: fields<operations.AppendEventRequest>({ ...APPEND, event: true, expectedMarksSeq: true }),
  appendBatch: fields<operations.AppendEventsRequest>({ ...APPEND, events: true, endPartials: true, overQuota: true }),
  change: fields<operations.ChangeSessionRequest>({ ...SESSION, config: true, turn: true, endTurn: true }),
  beginTurn: fields<operations.BeginTurnRequest>(TURN),
  getTurn: fields<SessionKey>(SESSION),
  redactEvent: fields<operations.RedactEventRequest>({ ...SESSION, seq: true, reason: true, state: true, turn: true }),
  renewTurn: fields<operations.RenewTurnRequest>({ ...SESSION, token: true, ttlMs: true }),
  endTurn: fields<operations.EndTurnRequest>({ ...SESSION, token: true }),
  eraseUser: fields<operations.EraseUserRequest>({ ...USER, reason: true }),
  rewindSession: fields<operations.RewindSessionRequest>({
    ...SESSION,
    toSeq: true,
    invocationId: true,
    expectedVersion: true,
    turn: true,
    onServerState: true,
  }),
  forkSession: fields<operations.ForkSessionRequest>({
    ...SESSION,
    atSeq: true,
    newSessionId: true,
    onServerState: true,
  }),
  getUserState: fields<UserKey>(USER),
  updateUserState: fields<UserKey & operations.SharedStateChanges>({ ...USER, ...STATE_CHANGES }),
  getAppState: fields<{ appName: string }>(APP),
  updateAppState: fields<{ appName: string } & operations.SharedStateChanges>({ ...APP, ...STATE_CHANGES }),
  getUsage: fields<operations.GetUsageRequest>({ ...SESSION, period: true }),
  checkBudget: fields<operations.CheckBudgetRequest>(SESSION),
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * Returns the request of a method. Refuses a field that is one of the method's in another spelling.
 *
 * @example checkedRequest('listSessions', { appName: 'shop', lmit: 20 }); // throws: `did you mean limit?`
 */
export function checkedRequest<Request extends object>(method: keyof typeof REQUEST_FIELDS, request: Request): Request {
  refuseMisspelled(requireRequest(request), REQUEST_FIELDS[method], method);
  return request;
}
