import type { StoredEvent } from '../domain/stored/commit.js';
import type { Lifetime } from '../domain/values/expiry.js';
import type { SessionKey, StateOwner } from '../domain/values/ids.js';
import type { MetadataText } from '../domain/metadata/metadata-entries.js';
import type { EndedPartials, StoredPartial } from '../domain/stored/partial-event.js';
import type { NumberedEvent, SessionRecord } from '../domain/stored/session-record.js';
import type { StateExcess, StateSize } from '../domain/stored/state-size.js';
import type { StateText } from '../domain/stored/state-text.js';
import type { SharedPart } from '../domain/stored/stored-json.js';
import type { UsageIncrement } from '../domain/usage/usage-periods.js';
import type { PlanTime } from './plan-time.js';
import type { Repairs } from './rebuild.js';
import type { StoredCheckpoint } from './session-storage.js';

/** All that decides about the writes to a session. */
export interface SessionHead {
  readonly record: SessionRecord;
  /** Undefined if it was not read. */
  readonly metadata: MetadataText | undefined;
  /** The session's own state as one text. Undefined if the store has it key by key. */
  readonly state: StateText | undefined;
  /**
   * Another number after each change of the record or the metadata, which no other change of any process has. So a store sees
   * whether a write was planned on what it has, also after a server lost its last writes. If a write has the same stamp before and after,
   * nothing of it changes.
   */
  readonly stamp: number;
}

/** A key of state with its new value, or without one if it is removed. */
export interface PlannedEntry {
  readonly name: string;
  readonly value: string | undefined;
}

/** What a write does to the state of a user or an app. */
export interface PlannedScope {
  readonly owner: StateOwner;
  /** Each name once. Without entries, the scope is renewed if that is due. */
  readonly entries: readonly PlannedEntry[];
  /** By how many bytes it grows at most. */
  readonly growth: number;
  /** How many bytes it may have. */
  readonly most: number;
  readonly lifetime: Lifetime;
}

/** What few writes do beside the log. */
export interface Upkeep {
  /** Replaces the payloads of the events between the `firstSeq` before and after, and removes checkpoints before `firstSeq - 1`. */
  readonly trim?: { readonly digests: readonly string[]; readonly baseState: string } | undefined;
  /** Kept unless there is one of this event. */
  readonly checkpoint?: StoredCheckpoint | undefined;
  readonly repairs?: Repairs | undefined;
  /** Another store had the events. A store that cannot write all or nothing may write the first ones. */
  readonly isRestored?: boolean | undefined;
}

/**
 * A write to one session, with everything decided. The store writes all of it, if the session is as it was when the write was planned,
 * or nothing.
 */
export interface PlannedWrite {
  readonly key: SessionKey;
  /** The store compares the incarnation and the stamp. */
  readonly before: SessionHead;
  readonly after: SessionHead;
  /** The log must have none of their ids. */
  readonly events: readonly NumberedEvent[];
  /** The session's own state if it is kept key by key: each name once. All of it, if it was one text before. */
  readonly state: readonly PlannedEntry[];
  readonly scopes: readonly PlannedScope[];
  readonly usage: UsageIncrement | undefined;
  readonly endsPartials: EndedPartials | undefined;
  /** Kept, after those that end are gone. One with the same number is replaced. In ascending order. */
  readonly partials: readonly StoredPartial[];
  readonly upkeep: Upkeep | undefined;
}

/** What a store answers to a planned write. */
export type WriteAnswer =
  | { readonly kind: 'written' }
  /** The session is not as it was: nothing is written. Without a head there is none. */
  | { readonly kind: 'changed'; readonly head: SessionHead | undefined }
  /** Nothing is written. The session has to be held: another write holds it, the log has events of these ids, or more has to be read. */
  | { readonly kind: 'unwritten' }
  /** It is not known whether it is written. The session has to be held. */
  | { readonly kind: 'unknown' };

/** A session to hold. */
export interface HoldRequest {
  readonly key: SessionKey;
  /** Reads the events with these ids. */
  readonly ids: readonly string[];
  readonly withMetadata: boolean;
  /** The users and apps to whose state the writes may write. */
  readonly owners: readonly StateOwner[];
}

/** A session that no other process can change, as it is stored. */
export interface HeldSession {
  /** Undefined if there is none. */
  readonly head: SessionHead | undefined;
  /** The stored ones of those asked for. */
  readonly events: ReadonlyMap<string, StoredEvent>;
  /** What the store keeps of the record after a commit. Default: all. */
  readonly keptOf?: ((after: SessionRecord) => SessionRecord) | undefined;
  /** Counts the session's own state if it is kept key by key. */
  countState(): Promise<StateSize>;
  /** Reads the events again, where the first read may be older than the head. */
  readonly readEvents?: (() => Promise<ReadonlyMap<string, StoredEvent>>) | undefined;
}

/** The shared scopes of held sessions. */
export interface HeldScopes {
  /** The scope that a commit would make too large, after those that were added. */
  excessOf(commit: SharedPart): Promise<StateExcess | undefined>;
  add(commit: SharedPart): void;
}

/** Sessions as a store holds them. */
export interface Held {
  /** The store's time. */
  readonly now: number;
  /** One for each request; undefined for a session that another write holds. */
  readonly sessions: readonly (HeldSession | undefined)[];
  readonly scopes: HeldScopes;
}

/** How to hold sessions. */
export interface HoldOptions {
  /** Whether to wait for sessions that others hold. Otherwise they are left out. */
  readonly waits: boolean;
  /** No retries after a conflict. */
  readonly isSingleAttempt: boolean;
  /** When the caller began to wait, by `performance.now()`. */
  readonly calledAt: number;
}

/** How a store takes writes. */
export interface WriteLimits {
  /** How many batches may run at the same time. */
  readonly maxBatches: number;
  /** How many writes may wait for sessions that others hold, or retry, at the same time. */
  readonly maxWaiting: number;
  /** If `false`, nothing waits for a batch, and the store alone limits how much runs at the same time. */
  readonly isOn: boolean;
  /** Whether each session is held by itself. Otherwise, those of a batch are held together. */
  readonly holdsOneByOne?: boolean | undefined;
}

/** The writes of a store. It compares and writes; what to write is decided above it. */
export interface WriteStore {
  readonly limits: WriteLimits;
  /**
   * Writes what `plan` returns once it can be sent, each session by itself. Returns one answer for each write; `undefined` if nothing
   * is written and all sessions have to be held. Throws if it is not known what was written.
   */
  write(
    plan: (moment: PlanTime) => readonly PlannedWrite[],
    calledAt: number,
  ): Promise<readonly WriteAnswer[] | undefined>;
  /** Holds sessions and writes what `decide` returns, all or nothing. `decide` may run several times. */
  hold(
    requests: readonly HoldRequest[],
    decide: (held: Held) => Promise<readonly PlannedWrite[]>,
    options: HoldOptions,
  ): Promise<void>;
}

/** A session of a store in this process, as it is now. */
export interface LocalSession {
  readonly head: SessionHead;
  readonly now: number;
  /** The stored events with the ids of these, by id. */
  find(events: readonly { readonly id: string }[]): Map<string, StoredEvent>;
  /** Counts the session's own state. */
  countState(): StateSize;
  /** The shared scope that a commit would make too large. */
  excessOf(commit: SharedPart): StateExcess | undefined;
}

/** The writes of a store in this process: nothing runs between a look at a session and the write to it. */
export interface LocalWriteStore {
  readonly isLocal: true;
  find(key: SessionKey): LocalSession | undefined;
  /** Writes all of it to the session that was found last. */
  write(write: PlannedWrite): void;
}
