import type { StoredScope } from '../../state/scopes.js';
import type { CommitEvent } from './commit-event.js';
import type { Counters } from './counters.js';
import type { Lifetimes } from './expiry.js';
import type { SessionKey } from './ids.js';
import type { Marks } from './marks.js';
import type { SessionRecord } from './session-record.js';

/** A state key with its new value, as opaque JSON text. */
export interface Upsert {
  readonly scope: StoredScope;
  readonly name: string;
  readonly value: string;
}

/** A state key that goes. */
export interface Removal {
  readonly scope: StoredScope;
  readonly name: string;
}

/** What must hold of the session, or nothing is written. */
export interface Preconditions {
  /** The session is still the one that the caller loaded. */
  readonly incarnation?: string | undefined;
  /** No event but summaries came after this one: what a caller asks for. */
  readonly expectedVersion?: number | undefined;
  /** This is the last event: what a rewind relies on. */
  readonly lastSeq?: number | undefined;
  /** This is the first event that is kept: what a rewind relies on. */
  readonly firstSeq?: number | undefined;
  /** Neither a summary nor a rewind came after this one: what a summary relies on. */
  readonly marksSeq?: number | undefined;
}

/**
 * The one write. A message, a state change, a summary and a rewind all are commits: a store makes every
 * part of one durable, or none.
 */
export interface Commit {
  readonly key: SessionKey;
  readonly event: CommitEvent;
  readonly upserts: readonly Upsert[];
  readonly removals: readonly Removal[];
  readonly counterIncrements: Counters;
  /** New marks, if the commit changes them. */
  readonly marks?: Marks | undefined;
  /** Lifetimes to give to what the commit touches; none where the event is housekeeping that keeps nothing alive. */
  readonly expiry?: Lifetimes | undefined;
  readonly preconditions: Preconditions;
}

/** An event as a store keeps it. The payload is missing once history was trimmed. */
export interface StoredEvent {
  readonly seq: number;
  readonly id: string;
  readonly digest: string;
  readonly appendedAt: number;
  readonly payload: string | null;
}

/** What became of a commit. */
export type AppendOutcome =
  | {
      readonly kind: 'appended';
      /** The session after the commit. */
      readonly record: SessionRecord;
      /** The store's time of the commit. */
      readonly now: number;
      /** The last event that was no summary before it. */
      readonly previousTipSeq: number;
    }
  /** An event of this id is in the log; whether it is the same one is for the caller to say. */
  | { readonly kind: 'seen'; readonly event: StoredEvent; readonly record: SessionRecord }
  | { readonly kind: 'missing' }
  /** `expectedVersion` did not hold. */
  | { readonly kind: 'stale'; readonly lastSeq: number }
  /** `lastSeq` or `marksSeq` did not hold: look again and try anew. */
  | { readonly kind: 'overtaken' };
