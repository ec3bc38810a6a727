import { InvalidInputError } from '../domain/errors.js';
import { type SessionKey, checkedSessionKey, sessionNameOf } from '../domain/ids.js';
import { incarnationOf } from '../domain/session-tracking.js';
import type { Session } from '../domain/session.js';
import { type SessionEnvironment, announce } from '../session-environment.js';

/** The session to delete. */
export interface DeleteSessionRequest extends SessionKey {
  /**
   * Delete only the session that this object was loaded from, not one that was created since with the same id. Hooks know keys
   * only: what they remove can belong to a session that is created while they run.
   */
  readonly loaded?: Session | undefined;
}

/** Hooks run first, so that they do not meet a session that is created after the deletion with the same id. */
export async function deleteSession(env: SessionEnvironment, request: DeleteSessionRequest): Promise<void> {
  const key = checkedSessionKey(request);
  const incarnation = loadedIncarnation(key, request.loaded);
  if (incarnation !== undefined && (await env.storage.read({ key }))?.record.incarnation !== incarnation) return;
  await env.hooks.runBeforeDelete(key);
  await env.storage.delete({ ...key, incarnation });
  announce(env, key);
}

function loadedIncarnation(key: SessionKey, loaded: Session | undefined): string | undefined {
  if (loaded === undefined) return undefined;
  const incarnation = loaded ? incarnationOf(loaded) : undefined;
  if (incarnation === undefined) {
    throw new InvalidInputError('must be a session that this service returned, not a copy of one', 'loaded');
  }
  if (sessionNameOf({ ...loaded, sessionId: loaded.id }) !== sessionNameOf(key)) {
    throw new InvalidInputError('must be the session with these ids', 'loaded');
  }
  return incarnation;
}
