import type { SessionKey, UserKey } from './domain/ids.js';
import { fieldNames, requestCheck } from './domain/input-checks.js';
import type * as operations from './operations/index.js';

interface ServiceOperation {
  /** What its channel is called: `agent-sessions:NAME`. */
  readonly channel?: string;
  /** The fields of its request. */
  readonly fields?: readonly string[];
}

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

/** The operations of `SessionService`, by its methods: what the channel of each is called, and the fields of its request. */
export const SERVICE_OPERATIONS = {
  createSession: { channel: 'create', fields: CREATE },
  getSession: { channel: 'get', fields: fieldNames<operations.GetSessionRequest>({ ...SESSION, config: true }) },
  getOrCreateSession: { channel: 'getOrCreate', fields: CREATE },
  listSessions: {
    channel: 'list',
    fields: fieldNames<operations.ListSessionsRequest>({
      ...USER,
      ...PAGE,
      orderBy: true,
      page: true,
      offset: true,
      includeState: true,
      filter: true,
      within: true,
    }),
  },
  deleteSession: {
    channel: 'delete',
    fields: fieldNames<operations.DeleteSessionRequest>({ ...SESSION, loaded: true, ifUnchanged: true }),
  },
  listEvents: {
    channel: 'listEvents',
    fields: fieldNames<operations.ListEventsRequest>({
      ...SESSION,
      ...PAGE,
      ...SEEN,
      afterSeq: true,
      beforeSeq: true,
      invocationId: true,
      modelRequests: true,
    }),
  },
  explainView: {
    channel: 'explainView',
    fields: fieldNames<operations.ExplainViewRequest>({
      ...SESSION,
      ...PAGE,
      ...SEEN,
      config: true,
      atSeq: true,
      since: true,
      fromSeq: true,
      toSeq: true,
    }),
  },
  getModelRequest: {
    channel: 'getModelRequest',
    fields: fieldNames<operations.ModelRequestQuery>({ ...SESSION, ...SEEN, seq: true, since: true }),
  },
  /** Lives as long as its reader wants. */
  watch: {
    fields: fieldNames<operations.WatchSessionRequest>({
      ...SESSION,
      afterSeq: true,
      partials: true,
      afterPosition: true,
      signal: true,
      stateDeltas: true,
      gate: true,
    }),
  },
  stateAt: { channel: 'stateAt', fields: fieldNames<operations.StateAtRequest>({ ...SESSION, ...SEEN, seq: true }) },
  stateChanges: {
    channel: 'stateChanges',
    fields: fieldNames<operations.StateChangesRequest>({
      ...SESSION,
      ...SEEN,
      afterSeq: true,
      key: true,
      limit: true,
      cursor: true,
    }),
  },
  append: {
    channel: 'append',
    fields: fieldNames<operations.AppendEventRequest>({ ...APPEND, event: true, expectedMarksSeq: true }),
  },
  appendBatch: {
    channel: 'append',
    fields: fieldNames<operations.AppendEventsRequest>({
      ...APPEND,
      events: true,
      endPartials: true,
      overQuota: true,
    }),
  },
  change: {
    channel: 'change',
    fields: fieldNames<operations.ChangeSessionRequest>({ ...SESSION, config: true, turn: true, endTurn: true }),
  },
  beginTurn: { channel: 'beginTurn', fields: fieldNames<operations.BeginTurnRequest>(TURN) },
  getTurn: { channel: 'getTurn', fields: fieldNames<SessionKey>(SESSION) },
  redactEvent: {
    channel: 'redact',
    fields: fieldNames<operations.RedactEventRequest>({
      ...SESSION,
      seq: true,
      reason: true,
      state: true,
      turn: true,
    }),
  },
  renewTurn: {
    channel: 'renewTurn',
    fields: fieldNames<operations.RenewTurnRequest>({ ...SESSION, token: true, ttlMs: true }),
  },
  endTurn: { channel: 'endTurn', fields: fieldNames<operations.EndTurnRequest>({ ...SESSION, token: true }) },
  eraseUser: { channel: 'eraseUser', fields: fieldNames<operations.EraseUserRequest>({ ...USER, reason: true }) },
  rewindSession: {
    channel: 'rewind',
    fields: fieldNames<operations.RewindSessionRequest>({
      ...SESSION,
      toSeq: true,
      invocationId: true,
      expectedVersion: true,
      turn: true,
      onServerState: true,
    }),
  },
  forkSession: {
    channel: 'fork',
    fields: fieldNames<operations.ForkSessionRequest>({
      ...SESSION,
      atSeq: true,
      newSessionId: true,
      onServerState: true,
    }),
  },
  getUserState: { channel: 'getUserState', fields: fieldNames<UserKey>(USER) },
  updateUserState: {
    channel: 'updateUserState',
    fields: fieldNames<UserKey & operations.SharedStateChanges>({ ...USER, ...STATE_CHANGES }),
  },
  getAppState: { channel: 'getAppState', fields: fieldNames<{ appName: string }>(APP) },
  updateAppState: {
    channel: 'updateAppState',
    fields: fieldNames<{ appName: string } & operations.SharedStateChanges>({ ...APP, ...STATE_CHANGES }),
  },
  getUsage: { channel: 'getUsage', fields: fieldNames<operations.GetUsageRequest>({ ...SESSION, period: true }) },
  checkBudget: { channel: 'checkBudget', fields: fieldNames<operations.CheckBudgetRequest>(SESSION) },
  listApps: { channel: 'listApps' },
  consume: { channel: 'consume' },
  updateSession: { channel: 'update' },
  withTurn: { channel: 'turn', fields: fieldNames<operations.BeginTurnRequest>(TURN) },
  purgeExpired: { channel: 'purge' },
} as const satisfies Readonly<Record<string, ServiceOperation>>;

type Operations = typeof SERVICE_OPERATIONS;

type With<Part extends keyof ServiceOperation> = {
  [Method in keyof Operations]: Operations[Method] extends Required<Pick<ServiceOperation, Part>> ? Method : never;
}[keyof Operations];

/** A method of the service that has a channel. */
export type TracedMethod = With<'channel'>;

/** A method that takes a request with fields. */
export type RequestMethod = With<'fields'>;

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
