// What sessions, pages and events are made of.
export type { Content, FunctionCall, FunctionResponse, Part } from '../sessions/domain/event/content.js';
export type {
  Compaction,
  EventActions,
  LoggedEvent,
  Redaction,
  Rewind,
  UsageMetadata,
} from '../sessions/domain/event/event.js';
export type { MetadataDelta, SessionMetadata } from '../sessions/domain/metadata/metadata.js';
export type { ModelRequest, SeqPair } from '../sessions/domain/event/model-request.js';
export type { RequestDifference } from '../sessions/domain/event/request-difference.js';
export type { ModelRequestQuery } from '../sessions/operations/get-model-request.js';
export type { ModelRequestReport, RequestText } from '../sessions/domain/event/request-report.js';
export type { ExplainedEvent, ViewExplanation } from '../sessions/operations/explain-view.js';
export type { EventPage } from '../sessions/operations/list-events.js';
export { InvalidInputError, LimitExceededError } from '../sessions/domain/errors/errors.js';
export type { StateKeyChange, StateOperation } from '../sessions/domain/history/state-history.js';
export type {
  StateAtMoment,
  StateAtRequest,
  StateChangePage,
  StateChangesRequest,
  WatchedEvent,
} from '../sessions/operations/state-history.js';
export type {
  AnswerApprovalRequest,
  ApprovalListRequest,
  RemoteApproval,
  RemoteApprovalPage,
  RemoteRunEvent,
  RunAgentRequest,
  StopAgentRequest,
  StreamAgentRequest,
} from './agents-client.js';
export { RequestHeadersError } from './headers-error.js';
export { ProblemError } from './problem-error.js';
export { ServerUnreachableError } from './unreachable-error.js';
export type { RenewTurnRequest, Turn, TurnHolder, TurnReference } from '../sessions/operations/turns.js';
export type {
  AppendBatchRequest,
  AppendRequest,
  BeginTurn,
  CreateRequest,
  RemoteAppend,
  RemoteBatch,
  RemoteExplainRequest,
  RemoteKey,
  RemoteListRequest,
  RemoteOwner,
  RemotePage,
  RemoteSession,
  RemoteSummary,
  RewindRequest,
  StateChange,
  SummaryListRequest,
  SummaryOfRequest,
  SummaryRequest,
  UpdateStateRequest,
  WatchRequest,
} from './remote-types.js';
export type { StoredScope } from '../state/scopes.js';
export type { EventsAroundRequest, SearchHit, SearchPage, SearchStatus } from '../search/found-events.js';
export type { RemoteSearchRequest } from './search-client.js';
export type { SessionSummary } from '../summarizer/session-summary.js';
export type { CoveredEvents, SummaryOutlook, ThresholdState } from '../summarizer/summary-outlook.js';
export type { ModelUsage, TokenUsage } from '../sessions/domain/usage/usage.js';
export type { PricedUsage } from '../sessions/domain/usage/usage-cost.js';
export type { ExceededBudget } from '../sessions/domain/errors/budget-error.js';
export type { QuotaName, QuotaUse } from '../sessions/domain/errors/quota-error.js';
export type { RedactEventRequest, RedactedEvent } from '../sessions/operations/redact-event.js';
export type { GetUsageRequest, UsageReport } from '../sessions/operations/get-usage.js';
export type { RequestsOptions as SessionsClientOptions } from './requests.js';
export { SessionsClient } from './sessions-client.js';
