import { isTempKey } from '../../state/scopes.js';
import { filterChanges, hasChanges } from '../../state/state-changes.js';
import { trackedValuesOf } from '../../state/state.js';
import { InvalidInputError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { Session } from '../domain/session.js';
import type { SessionEnvironment } from '../session-environment.js';
import { appendEvent } from './append-event.js';

export interface UpdateSessionOptions {
  /** Refuse with `StaleSessionError` if anything but summaries was appended after this version. */
  expectedVersion?: number | undefined;
}

/** Saves what was changed in `session.state` as one event; nothing where nothing was changed. */
export async function updateSession(
  env: SessionEnvironment,
  session: Session,
  { expectedVersion }: UpdateSessionOptions = {},
): Promise<LoggedEvent | undefined> {
  if (!(session instanceof Session)) {
    throw new InvalidInputError('must be a session that getSession or createSession returned', 'session');
  }
  const values = trackedValuesOf(session.state);
  const changes = filterChanges(values.pending(), (key) => !isTempKey(key));
  if (!hasChanges(changes)) return undefined;
  const { stateDelta, stateRemovals } = changes;
  const event = { author: 'system', actions: { stateDelta, stateRemovals: [...stateRemovals] } };
  const result = await appendEvent(env, { session, event, expectedVersion });
  values.settle(changes);
  return result.event;
}
