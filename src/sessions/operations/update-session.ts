import { type StateChanges, hasChanges } from '../../state/state-changes.js';
import { trackedValuesOf } from '../../state/state.js';
import { digestOf } from '../domain/digest.js';
import { InvalidInputError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { assertTeachable } from '../domain/session-knowledge.js';
import { Session } from '../domain/session.js';
import { submittedChanges } from '../domain/submitted-changes.js';
import type { SessionEnvironment } from '../session-environment.js';
import { appendEvent } from './append-event.js';

/** What a save depends on. */
export interface UpdateSessionOptions {
  /** Refuse with `StaleSessionError` if anything but summaries was appended after this version. */
  expectedVersion?: number | undefined;
}

interface Saving {
  readonly eventId: string;
  readonly digest: string;
}

/** Saves that are under way, or failed: the same changes are saved under the same id, and so at most once. */
const savings = new WeakMap<Session, Saving>();

/** Saves what was changed in `session.state` as one event; nothing where nothing was changed. */
export async function updateSession(
  env: SessionEnvironment,
  session: Session,
  options?: UpdateSessionOptions | null,
): Promise<LoggedEvent | undefined> {
  if (!(session instanceof Session)) {
    throw new InvalidInputError('must be a session that getSession or createSession returned', 'session');
  }
  assertTeachable(session);
  const values = trackedValuesOf(session.state);
  const changes = values.pending();
  if (!hasChanges(changes)) return undefined;
  // What is saved is what was checked, whatever becomes of the values inside the state meanwhile.
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
  const result = await appendEvent(env, { session, event, expectedVersion: options?.expectedVersion });
  values.settle(changes);
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
