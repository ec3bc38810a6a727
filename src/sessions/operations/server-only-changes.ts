import type { WriteLimits } from '../../config/session-settings.js';
import { type StateChanges, filterChanges } from '../../state/state-changes.js';
import type { StoredEvent } from '../domain/stored/commit.js';
import { serverOnlyKeys } from '../domain/write/defined-state.js';
import { submitEvent } from '../domain/write/submitted-event.js';
import type { SessionEnvironment } from '../session-environment.js';

/** Throws if the caller may not change these keys, which are `serverOnly`. */
export type ServerStateCheck = (keys: readonly string[]) => void | Promise<void>;

/** The keys among the changes that clients must not write. */
export function serverKeysIn(
  { stateDelta, stateRemovals }: StateChanges,
  { stateDefinitions }: SessionEnvironment,
  appName: string,
): string[] {
  return stateDefinitions
    ? serverOnlyKeys([stateDefinitions], appName, [...Object.keys(stateDelta), ...stateRemovals])
    : [];
}

/** The event with those of the changes that clients must not write, if there are any. */
export function serverStateEvent(
  env: SessionEnvironment,
  appName: string,
  changes: StateChanges,
): StoredEvent | undefined {
  const keys = serverKeysIn(changes, env, appName);
  if (keys.length === 0) return undefined;
  const { stateDelta, stateRemovals } = filterChanges(changes, (key) => keys.includes(key));
  const actions = { stateDelta, stateRemovals: [...stateRemovals] };
  const { event, payload } = submitEvent({ author: 'system', actions }, restoring(env));
  return { seq: 0, id: event.id, digest: '', appendedAt: env.clock.now(), payload };
}

const NO_LIMITS: WriteLimits = { maxEventBytes: Infinity, maxDepth: Infinity, maxDeltaKeys: Infinity };

/** For values that were accepted before, possibly more in one event than the limits allow, or by another definition. */
export function restoring(env: SessionEnvironment): SessionEnvironment {
  return { ...env, limits: { ...env.limits, ...NO_LIMITS }, stateDefinitions: undefined };
}
