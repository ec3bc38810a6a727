import type { StoredScope } from '../../../state/scopes.js';
import type { Counters } from './counters.js';
import type { Lifetimes } from '../values/expiry.js';
import type { SessionKey } from '../values/ids.js';
import type { CommitEvent, SessionRecord } from './session-record.js';
import type { MetadataChange } from '../metadata/metadata-entries.js';
import type { EndedPartials } from './partial-event.js';
import type { StateExcess, StateLimits } from './state-size.js';
import type { UsageIncrement } from '../usage/usage-periods.js';
import type { ViewMarks } from './view-marks.js';

/** A state key with its new value, as opaque JSON text. */
export interface Upsert {
  readonly scope: StoredScope;
  readonly name: string;
  readonly value: string;
}

/** A state key to remove. */
export interface Removal {
  readonly scope: StoredScope;
  readonly name: string;
}

/** Conditions on the session. If one does not hold, nothing is written. */
export interface Preconditions {
  /** The session is the same incarnation that the caller loaded. */
  readonly incarnation?: string | undefined;
  /** Only summaries follow this event. Set by a caller. */
  readonly expectedVersion?: number | undefined;
  /** This is the last event. Set by a rewind. */
  readonly lastSeq?: number | undefined;
  /** This is the first retained event. Set by a rewind. */
  readonly firstSeq?: number | undefined;
  /** No summary, rewind or redaction follows this event. Set by a summary. */
  readonly marksSeq?: number | undefined;
  /** The log has this event: a model was given it. */
  readonly knownSeq?: number | undefined;
  /** The turn of this token is held, by the store's clock. Not empty. */
  readonly turnToken?: string | undefined;
}

/**
 * The only write. Messages, state changes, summaries and rewinds are all commits. A store makes all parts of a
 * commit durable, or none.
 */
export interface Commit {
  readonly key: SessionKey;
  /** One or more, with different ids. They get consecutive numbers, in this order. */
  readonly events: readonly CommitEvent[];
  /** The changes of all events together: each key is set or removed once. */
  readonly upserts: readonly Upsert[];
  readonly removals: readonly Removal[];
  /** How large the state of each scope may become. Default: any size. See `stateExcess`. */
  readonly maxStateBytes?: StateLimits | undefined;
  /** Changes of the session's metadata, at most one for each name. Default: none. */
  readonly metadata?: readonly MetadataChange[] | undefined;
  readonly counterIncrements: Counters;
  /** Tokens to add to the usage of the session, its user and its app. Missing if no event reports any. */
  readonly usage?: UsageIncrement | undefined;
  /** The new marks, if the first event of the commit sets them. */
  readonly marks?: ViewMarks | undefined;
  /**
   * New lifetimes of the session and of the shared scopes. A shared scope that the commit does not write is renewed only if
   * due (`isRenewalDue`). Missing for events that do not renew the session.
   */
  readonly expiry?: Lifetimes | undefined;
  readonly preconditions: Preconditions;
  /** Whether the commit ends the turn of its `turnToken`; without one, the turn that is held, if any. */
  readonly endsTurn?: boolean | undefined;
  /** The partial events that the commit removes: see `partialsLeft`. Default: none. */
  readonly endsPartials?: EndedPartials | undefined;
}

/** A stored event. The payload is null once history was trimmed. */
export interface StoredEvent {
  readonly seq: number;
  readonly id: string;
  /**
   * Of a trimmed event, what the trim gave (`TrimRequest.digests`). Of others, a `payloadChecksum`, or empty. Older versions of
   * the package stored digests here with each event.
   */
  readonly digest: string;
  readonly appendedAt: number;
  readonly payload: string | null;
  /** The size of the payload in UTF-8, if the store knows it. */
  readonly bytes?: number;
}

/** The outcome of a commit. */
export type AppendOutcome =
  | {
      readonly kind: 'appended';
      /** The session after the commit. */
      readonly record: SessionRecord;
      /** The store's time of the commit. */
      readonly now: number;
      /** The last event before it that was not a summary. */
      readonly previousTipSeq: number;
    }
  /** The log has events of these ids. The caller decides whether they are the same events. */
  | {
      readonly kind: 'seen';
      /** For each event of the commit the stored one with its id, if any. */
      readonly events: readonly (StoredEvent | undefined)[];
      readonly record: SessionRecord;
    }
  | { readonly kind: 'missing' }
  /** The turn of `turnToken` is over. */
  | { readonly kind: 'turnLost' }
  /** The session accepts only commits with a `turnToken`, and summaries. */
  | { readonly kind: 'turnRequired' }
  /** `expectedVersion` did not hold. */
  | { readonly kind: 'stale'; readonly lastSeq: number }
  /** The session cannot have that much metadata: see `metadataAfter`. Checked last. */
  | { readonly kind: 'full' }
  /** A scope cannot have that much state: see `stateExcess`. Checked last. */
  | { readonly kind: 'stateFull'; readonly excess: StateExcess }
  /** `knownSeq` did not hold. */
  | { readonly kind: 'unknownEvent' }
  /** `lastSeq` or `marksSeq` did not hold: read again and retry. */
  | { readonly kind: 'overtaken' };
