import type { MetadataDelta, SessionFilter, SessionMetadataInput } from '../../src/index.js';
import type { GivenPart } from './model/entries.js';
import type { ModelKey } from './model/model-session.js';

/** State keys and values; a list, because a key can be named `__proto__`. */
export type Pairs = readonly (readonly [key: string, value: unknown])[];

/** The target of an operation: one of the held session objects, or a key. */
export type Target = { readonly object: number } | { readonly key: ModelKey };

/** The version that a caller expects. Numbers are relative to the last `seq`. */
export type Expectation = 'anything' | 'as loaded' | number;

/** The turn of a write: the last one of its session, or one of those that were begun. */
export interface TurnChoice {
  readonly which: 'last' | number;
  readonly ends: boolean;
}

export interface EventDraft {
  readonly id?: string | undefined;
  readonly author: string;
  readonly parts?: readonly GivenPart[] | undefined;
  readonly partial?: true | undefined;
  readonly delta: Pairs;
  readonly removals: readonly string[];
  readonly metadata?: MetadataDelta | undefined;
  readonly customMetadata?: unknown;
  /** Age of the timestamp in milliseconds. Without it, the event has no timestamp. */
  readonly age?: number | undefined;
  /** Whether the timestamp is given in seconds. */
  readonly inSeconds: boolean;
  /** What its model was given: some events from the first place on, then the event at the other one. */
  readonly asked?: readonly [from: Place, length: number, then: Place] | undefined;
}

/** A position in a log, as a number that is scaled to the log when the operation runs. */
type Place = number;

export interface Create {
  readonly kind: 'create' | 'get or create';
  readonly key: ModelKey;
  readonly isBlank: boolean;
  readonly state: Pairs;
  readonly turnsOnly?: true | undefined;
  readonly metadata?: SessionMetadataInput | undefined;
}

export interface Append {
  readonly kind: 'append';
  readonly target: Target;
  readonly event: EventDraft;
  readonly control?: { readonly summary: readonly [Place, Place] } | { readonly rewind: Place } | undefined;
  readonly expected: Expectation;
  readonly turn?: TurnChoice | undefined;
}

export type Variation =
  | 'same'
  | 'as returned'
  | 'without timestamp'
  | 'with another timestamp'
  | 'with other temp keys'
  | 'with other content';

export interface Repeat {
  readonly kind: 'repeat';
  readonly target: Target;
  readonly place: Place;
  readonly variation: Variation;
  readonly expected: Expectation;
  readonly turn?: TurnChoice | undefined;
}

/** Several events in one append, partial ones among them. */
export interface AppendBatch {
  readonly kind: 'append batch';
  readonly target: Target;
  readonly events: readonly EventDraft[];
  /** Makes the last event a summary or a rewind, which is refused unless it is alone. */
  readonly control?: Append['control'];
  readonly expected: Expectation;
  readonly turn?: TurnChoice | undefined;
}

/** Some events of the log once more in one append, and perhaps another one with them. */
export interface RepeatBatch {
  readonly kind: 'repeat batch';
  readonly target: Target;
  readonly place: Place;
  readonly count: number;
  readonly variation: Variation;
  /** Whether they come in the order of the log. */
  readonly inOrder: boolean;
  readonly another?: EventDraft | undefined;
  readonly expected: Expectation;
  readonly turn?: TurnChoice | undefined;
}

export interface BeginTurn {
  readonly kind: 'begin turn';
  readonly key: ModelKey;
  readonly holder: string;
  readonly requestId?: string | undefined;
  readonly ttlMs: number;
}

/** Of a turn that was begun, which may be over. */
export interface ChangeTurn {
  readonly kind: 'renew turn' | 'end turn';
  readonly which: number;
  readonly ttlMs: number;
}

export interface Get {
  readonly kind: 'get';
  readonly key: ModelKey;
  readonly config?:
    { readonly numRecentEvents?: number; readonly afterSeq?: Place; readonly since?: Place } | undefined;
}

export interface Fork {
  readonly kind: 'fork';
  readonly key: ModelKey;
  readonly newKey: ModelKey;
  readonly isBlank: boolean;
  readonly atSeq?: Place | undefined;
}

export interface ListSessions {
  readonly kind: 'list sessions';
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly orderBy: 'lastUpdateTime' | 'createTime';
  /** Whether to use page numbers and totals. */
  readonly byPage: boolean;
  /** Never by page. */
  readonly filter?: SessionFilter | undefined;
}

export interface ListEvents {
  readonly kind: 'list events';
  readonly key: ModelKey;
  readonly afterSeq?: Place | undefined;
  readonly beforeSeq?: Place | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

export type Operation =
  | Create
  | Fork
  | Get
  | Append
  | Repeat
  | AppendBatch
  | RepeatBatch
  | {
      readonly kind: 'change state';
      readonly object: number;
      readonly delta: Pairs;
      readonly removals: readonly string[];
    }
  | {
      readonly kind: 'update session';
      readonly object: number;
      readonly expected: Expectation;
      readonly turn?: TurnChoice | undefined;
    }
  | BeginTurn
  | ChangeTurn
  | {
      readonly kind: 'shared state';
      readonly owner: readonly string[];
      readonly delta: Pairs;
      readonly removals: readonly string[];
    }
  | ListSessions
  | ListEvents
  | { readonly kind: 'delete'; readonly key: ModelKey }
  | { readonly kind: 'pass time'; readonly ms: number }
  /** Until something expires, or a moment before. */
  | { readonly kind: 'wait for an end'; readonly which: number; readonly early: number }
  | { readonly kind: 'purge'; readonly batchSize: number };
