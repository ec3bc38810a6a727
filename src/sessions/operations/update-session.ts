import { type StateChanges, hasChanges } from '../../state/state-changes.js';
import { trackedValuesOf } from '../../state/state.js';
import { digestOf } from '../domain/values/json-digest.js';
import { InvalidInputError } from '../domain/errors/errors.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { assertUpdatable } from '../domain/session/session-tracking.js';
import { Session } from '../domain/session/session.js';
import { submittedChanges } from '../domain/write/submitted-state.js';
import { whileSaving } from '../domain/session/unsaved-state.js';
import type { SessionEnvironment } from '../session-environment.js';
import { commitEvent } from './append-events.js';
import type { TurnReference } from './turns.js';

/** Options of a save. */
export interface UpdateSessionOptions {
  /** Refuse with `StaleSessionError` if anything but summaries was appended after this version. */
  expectedVersion?: number | undefined;
  /** Refuse with `TurnLostError` if this turn is over. */
  turn?: TurnReference | undefined;
  /** End the turn with this save. Without changes nothing is written, and the turn goes on. */
  endTurn?: boolean | undefined;
}

interface Saving {
  readonly eventId: string;
  readonly digest: string;
}

/** Running and failed saves. A retry of the same changes uses the same event id, so that they are saved once. */
const savings = new WeakMap<Session, Saving>();

/** Saves the changes of `session.state` as one event. Without changes, nothing is written. */
export async function updateSession(
  env: SessionEnvironment,
  session: Session,
  options?: UpdateSessionOptions | null,
): Promise<LoggedEvent | undefined> {
  if (!(session instanceof Session)) {
    throw new InvalidInputError('must be a session that getSession or createSession returned', 'session');
  }
  assertUpdatable(session);
  const values = trackedValuesOf(session.state);
  const changes = values.pending();
  if (!hasChanges(changes)) return undefined;
  // Saves the checked copy, since the values may be mutated in the meantime.
  const { stateDelta, stateRemovals } = submittedChanges(
    changes.stateDelta,
    changes.stateRemovals,
    '$.actions',
    env.limits,
  );
  const saving = savingOf(env, session, { stateDelta, stateRemovals });
  const event = {
    id: saving.eventId,
    author: 'system',
    actions: { stateDelta, stateRemovals: [...stateRemovals] },
  };
  const { expectedVersion, turn, endTurn } = options ?? {};
  const result = await whileSaving(session, () => commitEvent(env, { session, event, expectedVersion, turn, endTurn }));
  values.markSaved(changes);
  if (savings.get(session) === saving) savings.delete(session);
  return result.event;
}

function savingOf({ newId }: SessionEnvironment, session: Session, changes: StateChanges): Saving {
  const digest = digestOf(changes);
  const before = savings.get(session);
  if (before?.digest === digest) return before;
  const saving = { eventId: newId(), digest };
  savings.set(session, saving);
  return saving;
}
