// For authors of stores: the port, the values that it passes, and the rules that every store applies.
export { dueTime } from './sessions/domain/coordination-rules.js';
export { compareBytes, scopeOfOwner } from './sessions/domain/ids.js';
export { CHECKPOINT_EVERY } from './sessions/domain/checkpoint.js';
export type * from './sessions/domain/commit.js';
export {
  type ComponentHead,
  type ComponentPlace,
  type ComponentWrite,
  type ComponentWriteOutcome,
  componentWriteOutcome,
  type StoredComponent,
} from './sessions/domain/component.js';
export { payloadChecksum } from './sessions/domain/event-digest.js';
export {
  type DeadEvent,
  type NoteOutcome,
  type WorkEntry,
  type WorkProgress,
} from './sessions/domain/consumer-work.js';
export type { Counters } from './sessions/domain/counters.js';
export {
  type CommitEvent,
  type DispatchMark,
  type InitialEvent,
  type InitialLog,
  type LogOrigin,
  type NumberedEvent,
  type MarkedLog,
  NOTHING_WAITS,
  type SessionRecord,
} from './sessions/domain/session-record.js';
export { KeptEvent } from './sessions/domain/kept-event.js';
export { type Lifetime, type Lifetimes, NEVER, expiresAt, isExpired, isRenewalDue } from './sessions/domain/expiry.js';
export {
  hasEntries,
  indexChanges,
  indexEntries,
  type IndexEntry,
  METADATA_LIMITS,
  type MetadataChange,
  type MetadataText,
} from './sessions/domain/metadata-entries.js';
export {
  bytesAfter,
  countedSize,
  entryBytes,
  readExcess,
  readExcessError,
  sizeAfter,
  type StateExcess,
  stateExcess,
  type StateLimits,
  type StateSize,
  writeExcessError,
} from './sessions/domain/state-size.js';
export type { StateText } from './sessions/domain/state-text.js';
export { type StateWrites, changesNothing, isTrimmed, writesOf } from './sessions/domain/stored-json.js';
export {
  type EndedPartials,
  MAX_PARTIALS_PER_TURN,
  type PartialOutcome,
  type PartialWrite,
  partialsLeft,
  type StoredPartial,
} from './sessions/domain/partial-event.js';
export { type StorageSource, storageOf } from './sessions/storage-source.js';
export { newStamp } from './sessions/domain/stamp.js';
export type { SearchMatch, SearchPosition, WeightedGroup } from './sessions/domain/search/search-groups.js';
export type { SearchTerm } from './sessions/domain/search/terms.js';
export type { SeqRange } from './sessions/domain/seq-ranges.js';
export type * from './sessions/domain/turn.js';
export { type ModelUsage, type TokenUsage, USAGE_COUNTS, usageByModel } from './sessions/domain/usage.js';
export {
  isPartOf,
  periodName,
  restoredPeriod,
  sessionOfUsage,
  type StoredPeriod,
  storedPeriods,
  type UsageIncrement,
  type UsageQuery,
} from './sessions/domain/usage-periods.js';
export type { ViewMarks } from './sessions/domain/view-marks.js';
export type * from './sessions/storage/component-store.js';
export type * from './sessions/storage/coordination.js';
export * from './sessions/storage/entry-store.js';
export { writtenEntry } from './sessions/storage/written-entry.js';
export { comparePositions, positionOf } from './sessions/storage/list-order.js';
export { HeldScopeSizes } from './sessions/storage/held-scope-sizes.js';
export type * from './sessions/storage/plan-time.js';
export type * from './sessions/storage/planned-write.js';
export type * from './sessions/storage/search-index.js';
export type * from './sessions/storage/session-changes.js';
export type * from './sessions/storage/session-storage.js';
export { ownEntries } from './sessions/storage/state-entries.js';
export type * from './sessions/storage/session-store.js';
export type * from './sessions/storage/transfer-store.js';
export type * from './sessions/storage/rebuild.js';
export type * from './sessions/storage/store-audit.js';
export { DecidingStorage } from './sessions/writes/deciding-storage.js';
