export { ConfigurationError } from './config/configuration-error.js';
export type { DataKeyContext, EncryptionOptions, KeyWrapper } from './config/encryption-settings.js';
export type { CronSchedule } from './config/session-settings.js';
export { renderInstruction } from './state/instruction-template.js';
export { defineState, type StateDefinition, type StateValues, type TypedState } from './state/define-state.js';
export { serverOnly, type ServerOnlySchema } from './state/server-only.js';
export { StatePrefix, type StoredScope } from './state/scopes.js';
export { State } from './state/state.js';
export type {
  Content,
  ContentInput,
  FunctionCall,
  FunctionResponse,
  Part,
  PartInput,
} from './sessions/domain/content.js';
export {
  type BranchSummary,
  type Compaction,
  Event,
  EventActions,
  type EventActionsInput,
  type EventInput,
  type EventLike,
  type LoggedEvent,
  type Redaction,
  type Rewind,
  type UsageMetadata,
} from './sessions/domain/event.js';
export { BudgetExceededError, type ExceededBudget } from './sessions/domain/budget-error.js';
export { SessionHeldError } from './sessions/domain/retention-rules.js';
export {
  type ApplyRetentionOptions,
  type RetentionCount,
  type RetentionReport,
  SessionRetention,
  type SessionRetentionOptions,
} from './sessions/session-retention.js';
export type { EventKind, RetentionRule, RetentionSettings } from './config/retention-settings.js';
export type { KindCount } from './sessions/domain/event-tally.js';
export { QuotaExceededError, type QuotaUse } from './sessions/domain/quota-error.js';
export type { QuotaName, QuotaSettings, Quotas } from './config/quota-settings.js';
export {
  PlainTextRefusedError,
  UnknownEncryptionKeyError,
  UnknownEncryptionVersionError,
  WrongEncryptionKeyError,
} from './sessions/domain/encryption-errors.js';
export { type EncryptedStorage, encryptedStorage } from './sessions/encryption/encrypted-storage.js';
export { readsOf } from './sessions/reads-of.js';
export type { RotatedKeys } from './sessions/encryption/owner-keys.js';
export { UnsupportedByStoreError } from './sessions/domain/unsupported-error.js';
export {
  EventConflictError,
  InvalidInputError,
  LeaseLostError,
  LimitExceededError,
  MissingInstructionValueError,
  SessionExistsError,
  SessionNotFoundError,
  SessionsError,
  type SessionsErrorCode,
  StaleSessionError,
  StoreUnavailableError,
  TurnHeldError,
  TurnLostError,
  TurnRequiredError,
  UnsavedStateError,
} from './sessions/domain/errors.js';
export { isDamagedEvent } from './sessions/domain/damaged-event.js';
export {
  allFields,
  getFunctionCalls,
  getFunctionResponses,
  isFinalResponse,
} from './sessions/domain/event-inspection.js';
export type { SessionKey, UserKey } from './sessions/domain/ids.js';
export type { MetadataDelta, SessionMetadata, SessionMetadataInput } from './sessions/domain/metadata.js';
export type { GetSessionConfig } from './sessions/domain/view-config.js';
export { Session, type SessionReference } from './sessions/domain/session.js';
export type { ConsumeOptions, ConsumedEvent } from './sessions/consumers/consume-options.js';
export type { ConsumerLag, DeadLetter, DeadLettersRequest } from './sessions/consumers/consumer-status.js';
export type { SessionConsumer } from './sessions/consumers/session-consumer.js';
export type { ConsumerInfo, SessionConsumers } from './sessions/consumers/session-consumers.js';
export type {
  AppendEventRequest,
  AppendEventsRequest,
  AppendEventsResult,
  AppendResult,
} from './sessions/operations/append-events.js';
export type { CreateSessionRequest } from './sessions/operations/create-session.js';
export type { DeleteSessionRequest } from './sessions/operations/delete-session.js';
export type { ErasedUser } from './sessions/operations/erase-user.js';
export type { ForkSessionRequest } from './sessions/operations/fork-session.js';
export type { GetSessionRequest } from './sessions/operations/get-session.js';
export type { SessionFilter } from './sessions/domain/session-filter.js';
export type { ModelRequestQuery } from './sessions/operations/get-model-request.js';
export type { ModelRequestReport, RequestText } from './sessions/domain/request-report.js';
export type { ModelRequest, SeqPair } from './sessions/domain/model-request.js';
export { givenRanges } from './sessions/domain/model-request.js';
export type { RequestDifference } from './sessions/domain/request-difference.js';
export type { ExplainViewRequest, ExplainedEvent, ViewExplanation } from './sessions/operations/explain-view.js';
export type { EventPage, ListEventsRequest } from './sessions/operations/list-events.js';
export type { ListSessionsRequest, SessionPage } from './sessions/operations/list-sessions.js';
export type { RedactEventRequest, RedactedEvent } from './sessions/operations/redact-event.js';
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
export type { GetUsageRequest, UsageReport } from './sessions/operations/get-usage.js';
export type { CheckBudgetRequest } from './sessions/operations/check-budget.js';
export type { PricedUsage } from './sessions/domain/usage-cost.js';
export { type ModelUsage, type TokenUsage, usageOf, type UsageOfEvents } from './sessions/domain/usage.js';
export type { UpdateSessionOptions } from './sessions/operations/update-session.js';
export type { ChangeSessionRequest, ChangedSession } from './sessions/operations/change-session.js';
export type { WatchSessionRequest } from './sessions/operations/watch-session.js';
export type { AfterAppend, BeforeAppend, BeforeDelete, BeforeErase, SessionHooks } from './sessions/session-hooks.js';
export { SessionTitles, type SessionTitler, type TitleRequest } from './sessions/session-titles.js';
export type { SessionSignals } from './sessions/session-signals.js';
export { SessionService } from './sessions/session.service.js';
export { type TypedSession, type TypedSessions, typedSessions } from './sessions/typed-sessions.js';

export type { SessionServiceOptions } from './sessions/session-environment.js';
export { CurrentSession, SessionState } from './sessions/transport/session-params.js';
export { type HeldLease, type LeaseOutcome, withLease } from './sessions/leases/with-lease.js';
export { InMemorySessionService } from './sessions/in-memory-session.service.js';
export { InMemorySessionStorage } from './sessions/storage/in-memory/in-memory-session-storage.js';
export type { PurgeCounts } from './sessions/storage/session-storage.js';
export { SessionsModule } from './sessions/module/sessions.module.js';
export type { SessionsModuleOptions, SessionsOptionsFactory } from './sessions/module/sessions-module-options.js';
export { ConsumeSessionEvents } from './sessions/module/sessions.consumers.js';
export { SessionsCleanup, getSessionsCleanupToken } from './sessions/module/sessions.cleanup.js';
export {
  InjectSessions,
  InjectSessionStorage,
  SESSION_STORAGE,
  getSessionStorageToken,
  getSessionsToken,
} from './sessions/sessions.tokens.js';
