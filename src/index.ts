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
} from './sessions/domain/event/content.js';
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
} from './sessions/domain/event/event.js';
export { BudgetExceededError, type ExceededBudget } from './sessions/domain/errors/budget-error.js';
export { UserBeingErasedError } from './sessions/domain/retention/erasure-rules.js';
export { SessionHeldError } from './sessions/domain/retention/retention-rules.js';
export {
  type ApplyRetentionOptions,
  type RetentionCount,
  type RetentionReport,
  SessionRetention,
  type SessionRetentionOptions,
} from './sessions/session-retention.js';
export type { EventKind, RetentionRule, RetentionSettings } from './config/retention-settings.js';
export type { KindCount } from './sessions/domain/retention/event-tally.js';
export { QuotaExceededError, type QuotaUse } from './sessions/domain/errors/quota-error.js';
export type { QuotaName, QuotaSettings, Quotas } from './config/quota-settings.js';
export {
  PlainTextRefusedError,
  UnknownEncryptionKeyError,
  UnknownEncryptionVersionError,
  WrongEncryptionKeyError,
} from './sessions/domain/errors/encryption-errors.js';
export { type EncryptedStorage, encryptedStorage } from './sessions/encryption/encrypted-storage.js';
export { readsOf } from './sessions/reads-of.js';
export type { RotatedKeys } from './sessions/encryption/owner-keys.js';
export { UnsupportedByStoreError } from './sessions/domain/errors/unsupported-error.js';
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
} from './sessions/domain/errors/errors.js';
export { isDamagedEvent } from './sessions/domain/stored/damaged-event.js';
export {
  allFields,
  getFunctionCalls,
  getFunctionResponses,
  isFinalResponse,
} from './sessions/domain/event/event-inspection.js';
export type { SessionKey, UserKey } from './sessions/domain/values/ids.js';
export type { MetadataDelta, SessionMetadata, SessionMetadataInput } from './sessions/domain/metadata/metadata.js';
export type { GetSessionConfig } from './sessions/domain/view/view-config.js';
export { Session, type SessionReference } from './sessions/domain/session/session.js';
export type { ConsumeOptions, ConsumedEvent } from './sessions/consumers/consume-options.js';
export type { ConsumerLag, DeadLetter, DeadLettersRequest } from './sessions/consumers/consumer-status.js';
export type { SessionConsumer } from './sessions/consumers/session-consumer.js';
export type { ConsumerInfo, SessionConsumers } from './sessions/consumers/session-consumers.js';
export type * from './sessions/operations/index.js';
export type { SessionFilter } from './sessions/domain/metadata/session-filter.js';
export type { ModelRequestReport, RequestText } from './sessions/domain/event/request-report.js';
export type { ModelRequest, SeqPair } from './sessions/domain/event/model-request.js';
export { givenRanges } from './sessions/domain/event/model-request.js';
export type { RequestDifference } from './sessions/domain/event/request-difference.js';
export type { StateKeyChange, StateOperation } from './sessions/domain/history/state-history.js';
export type { PricedUsage } from './sessions/domain/usage/usage-cost.js';
export { type ModelUsage, type TokenUsage, usageOf, type UsageOfEvents } from './sessions/domain/usage/usage.js';
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
