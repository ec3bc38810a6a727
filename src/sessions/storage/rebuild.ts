import type { SessionKey } from '../domain/values/ids.js';
import type { SeqRange } from '../domain/values/seq-ranges.js';
import type { ModelUsage } from '../domain/usage/usage.js';

/** What follows from the log of a session, to replace what is stored. Missing parts stay as they are. */
export interface Repairs {
  /** Texts that take the place of those of retained events. They are no anchors, unless `anchors` has them. */
  readonly events?: readonly EventText[] | undefined;
  /** The events of checkpoints to remove. */
  readonly removeCheckpoints?: readonly number[] | undefined;
  /** Retained events that are anchors, and are not stored as such. */
  readonly anchors?: readonly number[] | undefined;
  /** Groups whose retained events are not those that are found, with all that are. */
  readonly groups?: readonly EventGroup[] | undefined;
}

/** A session to repair. */
export interface RebuildRequest extends Repairs {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** The current last event: an append in the meantime prevents the rebuild. Default: any. */
  readonly lastSeq?: number | undefined;
  /** The new sums of the session's usage, one for each model. Default: those that it has. */
  readonly usage?: readonly ModelUsage[] | undefined;
}

/** A text for an event. */
export interface EventText {
  readonly seq: number;
  readonly id: string;
  readonly payload: string;
}

/** The events of a group; of no group if its name is empty. See `toEventGroup`. */
export interface EventGroup {
  readonly group: string;
  readonly ranges: readonly SeqRange[];
}

/** Which events are found by their group. */
export interface GroupedEventsRequest {
  readonly key: SessionKey;
  /** From which event to which one. */
  readonly range: SeqRange;
  /** Groups to look up. A store may return others as well. */
  readonly groups: readonly string[];
}

/** How events are found by their group. */
export interface GroupedEvents extends EventGroup {
  /** Events after the last range are not found by the index, but in the log. */
  readonly isCut?: boolean | undefined;
}
