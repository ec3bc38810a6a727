import { isDeepStrictEqual } from 'node:util';
import { trackedValuesOf } from '../../../state/state.js';
import { UnsavedStateError } from '../errors/errors.js';
import type { EventInput } from '../event/event.js';
import { isPlainObject } from '../values/json-value.js';
import type { Session } from './session.js';

/** Called before an append through a session with unsaved state changes. If it throws, the append fails. */
export type UnsavedStateHandler = (error: UnsavedStateError, session: Session) => void;

/** Number of running saves of each session. */
const saves = new WeakMap<Session, number>();

/** Runs a save of the session's state. While it runs, unsaved changes are not reported. */
export async function whileSaving<Result>(session: Session, save: () => Promise<Result>): Promise<Result> {
  saves.set(session, (saves.get(session) ?? 0) + 1);
  try {
    return await save();
  } finally {
    saves.set(session, (saves.get(session) ?? 1) - 1);
  }
}

/** Reports changes of `session.state` that the append of these events does not save. */
export function reportUnsavedState(session: Session, events: readonly EventInput[], report: UnsavedStateHandler): void {
  if ((saves.get(session) ?? 0) > 0) return;
  const values = trackedValuesOf(session.state);
  const pending = values.pendingKeys();
  if (pending.length === 0) return;
  const keys = pending.filter((key) => {
    const last = events.findLast((event) => isChangedBy(event, key));
    return !last || !isSavedBy(last, key, values.peek(key));
  });
  if (keys.length > 0) report(new UnsavedStateError(session.id, keys), session);
}

function isChangedBy(event: EventInput, key: string): boolean {
  const { stateDelta, stateRemovals } = event?.actions ?? {};
  return (
    (isPlainObject(stateDelta) && Object.hasOwn(stateDelta, key)) ||
    (Array.isArray(stateRemovals) && stateRemovals.includes(key))
  );
}

/** Whether the event makes the same change to the key. */
function isSavedBy(event: EventInput, key: string, value: unknown): boolean {
  const { stateDelta, stateRemovals } = event?.actions ?? {};
  if (value === undefined) return Array.isArray(stateRemovals) && stateRemovals.includes(key);
  return isPlainObject(stateDelta) && Object.hasOwn(stateDelta, key) && isDeepStrictEqual(stateDelta[key], value);
}

/** Warns once for each session object and set of keys, not at every append. */
export function warningOfUnsavedState(warn: (message: string) => void): UnsavedStateHandler {
  const reported = new WeakMap<Session, string>();
  return (error, session) => {
    const keys = JSON.stringify(error.keys);
    if (reported.get(session) === keys) return;
    reported.set(session, keys);
    warn(error.message);
  };
}
