/** What the operations of `SessionService` take and return. The root of the package exports all of it. */
export type { AppendEventRequest, AppendEventsRequest, AppendEventsResult, AppendResult } from './append-events.js';
export type { ChangeSessionRequest, ChangedSession } from './change-session.js';
export type { CheckBudgetRequest } from './check-budget.js';
export type { CreateSessionRequest } from './create-session.js';
export type { DeleteSessionRequest } from './delete-session.js';
export type { ErasedUser } from './erase-user.js';
export type { ExplainViewRequest, ExplainedEvent, ViewExplanation } from './explain-view.js';
export type { ForkSessionRequest } from './fork-session.js';
export type { ModelRequestQuery } from './get-model-request.js';
export type { GetSessionRequest } from './get-session.js';
export type { GetUsageRequest, UsageReport } from './get-usage.js';
export type { EventPage, ListEventsRequest } from './list-events.js';
export type { ListSessionsRequest, SessionPage } from './list-sessions.js';
export type { RedactEventRequest, RedactedEvent } from './redact-event.js';
export type { RewindSessionRequest } from './rewind-session.js';
export type { SharedStateChanges } from './shared-state.js';
export type {
  StateAtMoment,
  StateAtRequest,
  StateChangePage,
  StateChangesRequest,
  WatchedEvent,
} from './state-history.js';
export type {
  BeginTurnRequest,
  EndTurnRequest,
  HeldTurn,
  RenewTurnRequest,
  Turn,
  TurnHolder,
  TurnReference,
} from './turns.js';
export type { UpdateSessionOptions } from './update-session.js';
export type { WatchSessionRequest } from './watch-session.js';
