export { ConfigurationError } from './config/configuration-error.js';
export {
  DEFAULT_HISTORY,
  DEFAULT_LIMITS,
  DEFAULT_TTL,
  type HistorySettings,
  type SessionLimits,
  type TtlSettings,
  type WriteLimits,
} from './config/session-settings.js';
export type {
  Amount,
  BudgetOwner,
  ModelPrice,
  UsageBudget,
  UsageBudgets,
  UsageSettings,
} from './config/usage-settings.js';
export type { DatabaseSettings, RedisSettings, StoreSettings } from './config/store-settings.js';
export {
  type ArtifactText,
  type InstructionState,
  renderInstruction,
  type RenderInstructionOptions,
} from './state/instruction-template.js';
export {
  type DefineStateOptions,
  defineState,
  StateDefinition,
  type StateDefinitions,
  type StateProblem,
  type StateSchemas,
  type StateValues,
  type TypedState,
  type TypedStateMethods,
} from './state/define-state.js';
export { serverOnly, type ServerOnlySchema } from './state/server-only.js';
export type { SchemaInput, SchemaIssue, SchemaOutput, SchemaResult, StandardSchema } from './state/standard-schema.js';
export { type Scope, StatePrefix, type StoredScope } from './state/scopes.js';
export { State } from './state/state.js';
export type { StateChanges } from './state/state-changes.js';
export { type Clock, type IdGenerator, systemClock } from './sessions/domain/clock.js';
export type {
  Content,
  ContentInput,
  FunctionCall,
  FunctionCallInput,
  FunctionResponse,
  Part,
  PartInput,
} from './sessions/domain/content.js';
export {
  type Compaction,
  Event,
  EventActions,
  type EventActionsInput,
  type EventInput,
  type EventLike,
  type LoggedEvent,
  type Rewind,
  type UsageMetadata,
} from './sessions/domain/event.js';
export { BudgetExceededError, type ExceededBudget } from './sessions/domain/budget-error.js';
export { UnsupportedByStoreError } from './sessions/domain/unsupported-error.js';
export * from './sessions/domain/errors.js';
export { isDamagedEvent } from './sessions/domain/damaged-event.js';
export {
  allFields,
  getFunctionCalls,
  getFunctionResponses,
  isFinalResponse,
} from './sessions/domain/event-inspection.js';
export type { SessionKey, StateOwner, UserKey } from './sessions/domain/ids.js';
export type { MetadataDelta, SessionMetadata, SessionMetadataInput } from './sessions/domain/metadata.js';
export type { GetSessionConfig } from './sessions/domain/view-item.js';
export { Session, type SessionReference } from './sessions/domain/session.js';
export type { ConsumeHandler, ConsumeOptions, ConsumedEvent } from './sessions/consumers/consume-options.js';
export type { ConsumerStart } from './sessions/consumers/consumer-settings.js';
export type { ConsumerLag, DeadLetter, DeadLettersRequest } from './sessions/consumers/consumer-status.js';
export type { SessionConsumer } from './sessions/consumers/session-consumer.js';
export { type ConsumerInfo, SessionConsumers } from './sessions/consumers/session-consumers.js';
export type {
  AppendEventRequest,
  AppendEventsRequest,
  AppendEventsResult,
  AppendResult,
} from './sessions/operations/append-events.js';
export type { CreateSessionRequest } from './sessions/operations/create-session.js';
export type { DeleteSessionRequest } from './sessions/operations/delete-session.js';
export type { ForkSessionRequest } from './sessions/operations/fork-session.js';
export type { GetSessionRequest } from './sessions/operations/get-session.js';
export type { SessionFilter } from './sessions/domain/submitted-metadata.js';
export type { ExplainViewRequest, ExplainedEvent, ViewExplanation } from './sessions/operations/explain-view.js';
export type { ViewReason } from './sessions/domain/view-reason.js';
export type { EventPage, ListEventsRequest } from './sessions/operations/list-events.js';
export type { ListSessionsRequest, SessionPage } from './sessions/operations/list-sessions.js';
export type { RewindSessionRequest } from './sessions/operations/rewind-session.js';
export type { SharedStateChanges } from './sessions/operations/shared-state.js';
export type { StateKeyChange, StateOperation } from './sessions/domain/state-history.js';
export type {
  StateAtMoment,
  StateAtRequest,
  StateChangePage,
  StateChangesRequest,
  WatchedEvent,
} from './sessions/operations/state-history.js';
export type {
  BeginTurnRequest,
  EndTurnRequest,
  HeldTurn,
  RenewTurnRequest,
  Turn,
  TurnHolder,
  TurnReference,
} from './sessions/operations/turns.js';
export type { CheckBudgetRequest, GetUsageRequest, UsageReport } from './sessions/operations/usage.js';
export type { PricedUsage } from './sessions/domain/usage-cost.js';
export type { UsageOwner, UsagePeriod } from './sessions/domain/usage-periods.js';
export { type ModelUsage, type TokenUsage, usageOf, type UsageOfEvents } from './sessions/domain/usage.js';
export type { UpdateSessionOptions } from './sessions/operations/update-session.js';
export type { ChangeSessionRequest, ChangedSession, DecideChange } from './sessions/operations/change-session.js';
export type { WatchSessionRequest } from './sessions/operations/watch-session.js';
export * from './sessions/session-hooks.js';
export {
  SessionTitles,
  type SessionTitler,
  type SessionTitlesOptions,
  type TitleRequest,
} from './sessions/session-titles.js';
export { InProcessSignals, type SessionSignals } from './sessions/session-signals.js';
export { SessionService } from './sessions/session.service.js';
export { type TypedSession, type TypedSessions, typedSessions } from './sessions/typed-sessions.js';
export * from './sessions/module/index.js';
export type { SessionServiceOptions, SessionServiceSettings } from './sessions/session-environment.js';
export { CurrentSession, type CurrentSessionOptions, SessionState } from './sessions/transport/session-params.js';
export { type HeldLease, type LeaseOutcome, type WithLeaseOptions, withLease } from './sessions/leases/with-lease.js';
export { InMemorySessionService } from './sessions/in-memory-session.service.js';
export { InMemorySessionStorage } from './sessions/storage/in-memory/in-memory-session-storage.js';
export type { AppTransaction, PurgeCounts } from './sessions/storage/session-storage.js';
