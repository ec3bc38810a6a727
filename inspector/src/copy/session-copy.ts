import type { LoggedEvent } from '../../../src/sessions/domain/event/event.js';
import type { ViewReason } from '../../../src/sessions/domain/view/view-reason.js';
import type { StateAtMoment } from '../../../src/sessions/operations/state-history.js';
import type { ShownSession } from '../session-reads.js';

/** From one event to another, the reason, and the event that decided. */
export type DecisionRun = readonly [from: number, to: number, reason: ViewReason, by?: number];

/** A session as it is in a file. */
export interface SessionCopy {
  /** When it was made, in epoch milliseconds. */
  readonly madeAt: number;
  readonly session: Omit<ShownSession, 'events'>;
  /** What a model was given then: the numbers of events of this copy, and whole events that are not in it or differ. */
  readonly view: readonly (number | LoggedEvent)[];
  /** Why the events of this copy were given to a model, or not: neighbours with the same reason are one run. */
  readonly decisions: readonly DecisionRun[];
  /** How many events the log had. */
  readonly count: number;
  /** The state before the first event that is in this copy. */
  readonly before: StateAtMoment;
  /** The newest events of the log, in its order. */
  readonly events: readonly LoggedEvent[];
}
