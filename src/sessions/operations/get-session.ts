import { SessionNotFoundError, StoreUnavailableError } from '../domain/errors.js';
import { isRenewalDue } from '../domain/expiry.js';
import { type SessionKey, checkedSessionKey, isBlank, sessionKeyOf } from '../domain/ids.js';
import { type GetSessionConfig, checkedNarrowing } from '../domain/narrowing.js';
import type { Session } from '../domain/session.js';
import { type SessionEnvironment, lifetimes, readFilter } from '../session-environment.js';
import type { StoredSession, TouchRequest } from '../storage/session-storage.js';
import { type CreateSessionRequest, createPrepared, createSession, prepareSession } from './create-session.js';
import { openSession } from './open-session.js';
import { type ReadView, readView } from './view-reading.js';

/** Which session to read, and how much of its view. */
export interface GetSessionRequest extends SessionKey {
  /** Narrows the view for this call; all of it unless given. */
  readonly config?: GetSessionConfig | undefined;
}

export async function getSession(env: SessionEnvironment, request: GetSessionRequest): Promise<Session | undefined> {
  const key = checkedSessionKey(request);
  const narrowing = checkedNarrowing(request.config);
  const read = await readViewIfThere(env, key, narrowing);
  if (!read) return undefined;
  await renewIfPossible(env, read.stored);
  return openSession(read.stored, read.view, read.source);
}

/** Gets the session, or creates it; of several that try at once, all get the same one. */
export async function getOrCreateSession(env: SessionEnvironment, request: CreateSessionRequest): Promise<Session> {
  if (isBlank(request.sessionId)) return createSession(env, request);
  // Before anything is waited for: the request is its giver's, who may use it to ask for something else.
  const prepared = prepareSession(env, request);
  for (;;) {
    const session = (await getSession(env, prepared.key)) ?? (await createPrepared(env, prepared));
    if (session) return session;
  }
}

/** A session that goes while its view is read was not there. */
async function readViewIfThere(
  env: SessionEnvironment,
  key: SessionKey,
  narrowing: GetSessionConfig,
): Promise<ReadView | undefined> {
  try {
    return await readView(env.storage, key, readFilter(env), narrowing);
  } catch (error) {
    if (error instanceof SessionNotFoundError) return undefined;
    throw error;
  }
}

/** What was read was read, also where the store takes no writes: its disk or its memory is full, or it became a replica. */
async function renewIfPossible(env: SessionEnvironment, stored: StoredSession): Promise<void> {
  try {
    await renewWhatWasRead(env, stored);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    env.running.addInBackground(Promise.reject(error));
  }
}

/** Reading keeps alive what is read, but writes only when a tenth of the life has passed. */
async function renewWhatWasRead(env: SessionEnvironment, { record, scopeExpiry, now }: StoredSession): Promise<void> {
  if (!env.ttl.refreshOnRead) return;
  const life = lifetimes(env);
  const renew: TouchRequest['renew'] = {
    ...(isRenewalDue(record.expiresAt, now, life.session) && { session: life.session }),
    ...(isRenewalDue(scopeExpiry?.user ?? now, now, life.user) && { user: life.user }),
    ...(isRenewalDue(scopeExpiry?.app ?? now, now, life.app) && { app: life.app }),
  };
  if (Object.keys(renew).length === 0) return;
  await env.storage.touch({ key: sessionKeyOf(record), incarnation: record.incarnation, renew });
}
