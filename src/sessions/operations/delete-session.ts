import { isDeletable } from '../domain/write/commit-rules.js';
import { InvalidInputError } from '../domain/errors/errors.js';
import { type SessionKey, checkedSessionKey, sessionNameOf } from '../domain/values/ids.js';
import { optionalFlag } from '../domain/values/input-checks.js';
import { incarnationOf } from '../domain/session/session-tracking.js';
import type { Session } from '../domain/session/session.js';
import { type SessionEnvironment, announce } from '../session-environment.js';
import type { DeleteRequest } from '../storage/session-storage.js';
import { askHooks } from './hook-refusals.js';
import { removeTextsUnlessThere } from './keep-texts.js';

/** The session to delete. */
export interface DeleteSessionRequest extends SessionKey {
  /**
   * Delete only the session that this object was loaded from, not one that was created since with the same id. Hooks know keys
   * only: what they remove can belong to a session that is created while they run.
   */
  readonly loaded?: Session | undefined;
  /**
   * Only with `loaded`: delete nothing if an event that this object does not know was appended since, unless it is a summary.
   * Default: `false`.
   */
  readonly ifUnchanged?: boolean | undefined;
}

/** Hooks run first, so that they do not meet a session that is created after the deletion with the same id. */
export async function deleteSession(env: SessionEnvironment, request: DeleteSessionRequest): Promise<void> {
  const key = checkedSessionKey(request);
  const expected = expectedSession(key, request);
  if (expected && !isDeletable((await env.storage.read({ key }))?.record, expected)) return;
  // What hooks remove, nobody brings back.
  if (env.hooks.hasBeforeDelete) await env.holds.assertFree(key);
  await askHooks(env, { registration: 'onBeforeDelete', key, run: () => env.hooks.runBeforeDelete(key) });
  await env.holds.deleteUnlessHeld({ ...key, ...expected });
  announce(env, key);
  // Afterwards, since an append writes them first, and since a session that has changed may stay.
  await removeTextsUnlessThere(env, key);
}

type ExpectedSession = Pick<DeleteRequest, 'incarnation' | 'expectedVersion'>;

function expectedSession(key: SessionKey, { loaded, ...request }: DeleteSessionRequest): ExpectedSession | undefined {
  const ifUnchanged = optionalFlag(request.ifUnchanged, 'ifUnchanged') ?? false;
  if (loaded === undefined) {
    if (ifUnchanged) throw new InvalidInputError('needs the session that was loaded', 'ifUnchanged');
    return undefined;
  }
  const incarnation = loaded ? incarnationOf(loaded) : undefined;
  if (incarnation === undefined) {
    throw new InvalidInputError('must be a session that this service returned, not a copy of one', 'loaded');
  }
  if (sessionNameOf({ ...loaded, sessionId: loaded.id }) !== sessionNameOf(key)) {
    throw new InvalidInputError('must be the session with these ids', 'loaded');
  }
  return { incarnation, expectedVersion: ifUnchanged ? loaded.version : undefined };
}
