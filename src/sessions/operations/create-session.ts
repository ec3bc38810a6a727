import { filterChanges } from '../../state/state-changes.js';
import { splitStateKey } from '../../state/scopes.js';
import { SessionExistsError } from '../domain/errors.js';
import { type SessionKey, assertSessionKey, isBlank } from '../domain/ids.js';
import type { Session } from '../domain/session.js';
import { stateWrites } from '../domain/stored-text.js';
import { submittedState } from '../domain/submitted-changes.js';
import { type SessionEnvironment, lifetimes } from '../session-environment.js';
import { openSession } from './open-session.js';

export interface CreateSessionRequest {
  appName: string;
  userId: string;
  /** Blank or left out: one is generated. */
  sessionId?: string | undefined;
  /** Initial state; `user:` and `app:` keys go to the shared scopes, `temp:` keys are dropped. */
  state?: Record<string, unknown> | undefined;
}

export async function createSession(env: SessionEnvironment, request: CreateSessionRequest): Promise<Session> {
  const key: SessionKey = {
    appName: request.appName,
    userId: request.userId,
    sessionId: isBlank(request.sessionId) ? env.newId() : (request.sessionId as string),
  };
  assertSessionKey(key);
  const state = submittedState(request.state, '$.state', env.limits);
  const changes = { stateDelta: state, stateRemovals: [] };
  const inScope = (...scopes: string[]) => filterChanges(changes, (name) => scopes.includes(splitStateKey(name).scope));
  const stored = await env.storage.create({
    key,
    baseState: JSON.stringify(inScope('session').stateDelta),
    upserts: stateWrites(inScope('session', 'user', 'app')).upserts,
    expiry: lifetimes(env),
  });
  if (!stored) throw new SessionExistsError(key.sessionId);
  return openSession(stored, [], { items: [] });
}
