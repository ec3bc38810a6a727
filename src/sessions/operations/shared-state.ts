import { type StoredScope, joinStateKey, splitStateKey } from '../../state/scopes.js';
import type { StateChanges } from '../../state/state-changes.js';
import { assertDefinedState } from '../domain/write/defined-state.js';
import { InvalidInputError } from '../domain/errors/errors.js';
import { type StateOwner, type UserKey, assertId, assertStateOwner, scopeOfOwner } from '../domain/values/ids.js';
import { childPath } from '../domain/values/json-value.js';
import { assertDisjoint, assertStateKey, submittedChanges } from '../domain/write/submitted-state.js';
import { stateRecord, stateWrites } from '../domain/stored/stored-json.js';
import { type SessionEnvironment } from '../session-environment.js';
import type { StateEntries } from '../storage/session-storage.js';

/** An app. */
export interface AppKey {
  readonly appName: string;
}

/** Changes of shared state. The scope's prefix in keys is optional. */
export interface SharedStateChanges {
  /** Keys to set; `null` is a value. */
  readonly stateDelta?: Record<string, unknown> | undefined;
  /** Keys to remove. */
  readonly stateRemovals?: readonly string[] | undefined;
}

/** The state of a user or, without `userId`, of an app. Keys have no prefix. */
async function getSharedState(env: SessionEnvironment, owner: StateOwner): Promise<Record<string, unknown>> {
  assertStateOwner(owner);
  const lifetime = env.ttl.refreshOnRead ? env.lifetimes[scopeOfOwner(owner)] : undefined;
  return withoutPrefix(await env.storage.readState(owner, lifetime, env.stateLimits));
}

async function updateSharedState(
  env: SessionEnvironment,
  owner: StateOwner,
  { stateDelta, stateRemovals }: SharedStateChanges,
): Promise<Record<string, unknown>> {
  assertStateOwner(owner);
  const scope = scopeOfOwner(owner);
  const given = submittedChanges(stateDelta, stateRemovals, '$', env.limits);
  const changes = inScope(given, scope);
  assertDisjoint(changes.stateDelta, changes.stateRemovals, '$');
  assertDefinedState(env.stateDefinitions, owner.appName, changes.stateDelta, '$.stateDelta');
  const lifetime = env.lifetimes[scope];
  const request = { owner, ...stateWrites(changes), lifetime, maxStateBytes: env.stateLimits };
  return withoutPrefix(await env.storage.writeState(request));
}

export async function getUserState(
  env: SessionEnvironment,
  { appName, userId }: UserKey,
): Promise<Record<string, unknown>> {
  assertId(userId, 'userId');
  return getSharedState(env, { appName, userId });
}

export async function updateUserState(
  env: SessionEnvironment,
  { appName, userId, ...changes }: UserKey & SharedStateChanges,
): Promise<Record<string, unknown>> {
  assertId(userId, 'userId');
  return updateSharedState(env, { appName, userId }, changes);
}

export async function getAppState(env: SessionEnvironment, { appName }: AppKey): Promise<Record<string, unknown>> {
  return getSharedState(env, { appName });
}

export async function updateAppState(
  env: SessionEnvironment,
  { appName, ...changes }: AppKey & SharedStateChanges,
): Promise<Record<string, unknown>> {
  return updateSharedState(env, { appName }, changes);
}

function inScope({ stateDelta, stateRemovals }: StateChanges, scope: StoredScope): StateChanges {
  const entries = Object.entries(stateDelta).map(([key, value]) => [prefixed(key, scope), value] as const);
  const places = new Map(entries.map(([key], index) => [key, index]));
  const twice = entries.find(([key], index) => places.get(key) !== index);
  if (twice)
    throw new InvalidInputError('is set twice, with its prefix and without', childPath('$.stateDelta', twice[0]));
  return {
    stateDelta: Object.fromEntries(entries),
    stateRemovals: [...new Set(stateRemovals.map((key) => prefixed(key, scope)))],
  };
}

function prefixed(key: string, scope: StoredScope): string {
  const name = splitStateKey(key);
  if (name.scope === scope) return key;
  const joined = joinStateKey(scope, key);
  if (name.scope !== 'session') {
    const remedy = `write ${JSON.stringify(joined)} if that is the key's name`;
    throw new InvalidInputError(`belongs to the scope ${name.scope}; ${remedy}`, childPath('$', key));
  }
  assertStateKey(joined, '$');
  return joined;
}

function withoutPrefix(entries: StateEntries): Record<string, unknown> {
  return stateRecord(entries, 'session');
}
