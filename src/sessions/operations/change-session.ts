import { type StateChanges, hasChanges } from '../../state/state-changes.js';
import { trackedValuesOf } from '../../state/state.js';
import { InvalidInputError, SessionNotFoundError, StaleSessionError } from '../domain/errors/errors.js';
import type { EventInput, LoggedEvent } from '../domain/event/event.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { Session } from '../domain/session/session.js';
import { whileSaving } from '../domain/session/unsaved-state.js';
import type { GetSessionConfig } from '../domain/view/view-config.js';
import { retryOvertaken } from '../domain/process/retry-overtaken.js';
import type { SessionEnvironment } from '../session-environment.js';
import { appendEvents } from './append-events.js';
import { getSession } from './get-session.js';
import type { TurnReference } from './turns.js';

/** The session to change. */
export interface ChangeSessionRequest extends SessionKey {
  /** Which events the session has that `decide` gets; none are read with `{ numRecentEvents: 0 }`. */
  readonly config?: GetSessionConfig | undefined;
  /** Refuse with `TurnLostError` if this turn is over. Not noticed if nothing is appended. */
  readonly turn?: TurnReference | undefined;
  /** End the turn with the change. If nothing is appended, the turn goes on. */
  readonly endTurn?: boolean | undefined;
}

/**
 * Returns the events to append to the session as it is now, and may change `session.state`. Called again if others appended meanwhile, so
 * it should do nothing else.
 *
 * @example const decide: DecideChange = ({ state }) => (state.paid ? [] : [{ author: 'shop', actions: { stateDelta: { paid: true } } }]);
 */
export type DecideChange = (session: Session) => readonly EventInput[] | void | Promise<readonly EventInput[] | void>;

/** A session after a change. */
export interface ChangedSession {
  readonly session: Session;
  /** What was appended: nothing if there was nothing to change. */
  readonly events: readonly LoggedEvent[];
}

/** Reads a session and appends what is decided on it. Decides again on the session as it is then if others appended meanwhile. */
export async function changeSession(
  env: SessionEnvironment,
  { config, turn, endTurn, ...key }: ChangeSessionRequest,
  decide: DecideChange,
): Promise<ChangedSession> {
  if (typeof decide !== 'function') throw new InvalidInputError('must be a function', 'decide');
  /** The refusal of the append; not one of what `decide` does elsewhere. */
  let overtaken: unknown;
  const work = async (): Promise<ChangedSession> => {
    const session = await env.tasks.track(getSession(env, { ...key, config }));
    if (!session) throw new SessionNotFoundError(key.sessionId);
    const decided = (await decide(session)) ?? [];
    if (!Array.isArray(decided)) throw new InvalidInputError('must return an array of events, or nothing', 'decide');
    const values = trackedValuesOf(session.state);
    const pending = values.pending();
    const given = hasChanges(pending) ? [...decided, stateEvent(pending)] : (decided as readonly EventInput[]);
    if (given.length === 0) return { session, events: [] };
    const request = { session, events: given, expectedVersion: session.version, turn, endTurn };
    const appending = whileSaving(session, async () => env.tasks.track(appendEvents(env, request)));
    const { events } = await appending.catch((error: unknown) => {
      overtaken = error;
      throw error;
    });
    values.markSaved(pending);
    return { session, events };
  };
  return retryOvertaken(work, (error) => error instanceof StaleSessionError && error === overtaken);
}

function stateEvent({ stateDelta, stateRemovals }: StateChanges): EventInput {
  return { author: 'system', actions: { stateDelta, stateRemovals: [...stateRemovals] } };
}
