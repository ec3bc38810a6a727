// For authors of stores: the port, the values that it passes, and the rules that every store applies.
export { checkedClock } from './sessions/domain/process/checked-clock.js';
export { type Clock, systemClock } from './sessions/domain/process/clock.js';
export { compareBytes, scopeOfOwner, type StateOwner } from './sessions/domain/values/ids.js';
export { CHECKPOINT_EVERY } from './sessions/domain/history/checkpoint.js';
export type { Upsert, Removal, Commit, StoredEvent, AppendOutcome } from './sessions/domain/stored/commit.js';
export type { ComponentPlace, ComponentWriteOutcome, StoredComponent } from './sessions/domain/stored/component.js';
export { payloadChecksum } from './sessions/domain/write/event-digest.js';
export type { NoteOutcome, WorkEntry } from './sessions/domain/background/consumer-work.js';
export type { Counters } from './sessions/domain/stored/counters.js';
export {
  type CommitEvent,
  type DispatchMark,
  type InitialEvent,
  type InitialLog,
  type LogOrigin,
  type NumberedEvent,
  NOTHING_WAITS,
  type SessionRecord,
} from './sessions/domain/stored/session-record.js';
export { KeptEvent } from './sessions/domain/stored/kept-event.js';
export {
  type Lifetime,
  type Lifetimes,
  NEVER,
  expiresAt,
  isExpired,
  isRenewalDue,
} from './sessions/domain/values/expiry.js';
export {
  hasEntries,
  indexChanges,
  indexEntries,
  type IndexEntry,
  type MetadataText,
} from './sessions/domain/metadata/metadata-entries.js';
export {
  countedSize,
  entryBytes,
  readExcess,
  readExcessError,
  type StateExcess,
  stateExcess,
  type StateLimits,
  type StateSize,
  writeExcessError,
} from './sessions/domain/stored/state-size.js';
export type { StateText } from './sessions/domain/stored/state-text.js';
export { type StateWrites, changesNothing, isTrimmed, writesOf } from './sessions/domain/stored/stored-json.js';
export { type PartialOutcome, partialsLeft, type StoredPartial } from './sessions/domain/stored/partial-event.js';
export { storageOf } from './sessions/storage-source.js';
export { newStamp } from './sessions/domain/values/stamp.js';
export { storeClosed } from './sessions/domain/errors/store-closed.js';
export type { SearchMatch, SearchPosition, WeightedGroup } from './sessions/domain/search/search-groups.js';
export type { SearchTerm } from './sessions/domain/search/terms.js';
export type { SeqRange } from './sessions/domain/values/seq-ranges.js';
export type { StoredTurn, TurnOutcome } from './sessions/domain/stored/turn.js';
export { type ModelUsage, type TokenUsage, USAGE_COUNTS, usageByModel } from './sessions/domain/usage/usage.js';
export {
  isPartOf,
  periodName,
  restoredPeriod,
  type StoredPeriod,
  storedPeriods,
  type UsageIncrement,
  type UsagePeriod,
  type UsageQuery,
} from './sessions/domain/usage/usage-periods.js';
export type { ViewMarks } from './sessions/domain/stored/view-marks.js';
export type { StorageReplica } from './sessions/storage/session-storage.js';
export type { ComponentContents, ComponentStore } from './sessions/storage/component-store.js';
export type {
  AnyLeaseRequest,
  Lease,
  LeaseStore,
  AgendaEntry,
  Agenda,
  StoredConsumer,
  ChangedSession,
  StoredLag,
  SessionMarks,
  ConsumerStore,
} from './sessions/storage/coordination.js';
export * from './sessions/storage/entry-store.js';
export { writtenEntry } from './sessions/storage/written-entry.js';
export { comparePositions, positionOf } from './sessions/storage/list-order.js';
export { HeldScopeSizes } from './sessions/storage/held-scope-sizes.js';
export type { PlanTime } from './sessions/storage/plan-time.js';
export type * from './sessions/storage/planned-write.js';
export type * from './sessions/storage/search-index.js';
export type * from './sessions/storage/session-changes.js';
export type {
  AppendWithin,
  EventWindow,
  ReadRequest,
  StoredSession,
  StoredCheckpoint,
  WriteStateRequest,
  UsageReply,
  PurgeCounts,
  SessionStorage,
} from './sessions/storage/session-storage.js';
export type { DeleteRequest } from './sessions/storage/delete-and-touch.js';
export type {
  ListedSession,
  ListFilter,
  ListOrder,
  ListOrderBy,
  ListPosition,
  ListRequest,
  ListResult,
} from './sessions/storage/session-list.js';
export {
  type OwnState,
  ownEntries,
  type SharedScope,
  type StateEntries,
  type StoredState,
} from './sessions/storage/state-entries.js';
export type * from './sessions/storage/session-store.js';
export type { PeriodUsage, RestoreUsageRequest, TransferStore } from './sessions/storage/transfer-store.js';
export type {
  Repairs,
  EventText,
  EventGroup,
  GroupedEventsRequest,
  GroupedEvents,
} from './sessions/storage/rebuild.js';
export type * from './sessions/storage/store-audit.js';
export { DecidingStorage } from './sessions/writes/deciding-storage.js';
