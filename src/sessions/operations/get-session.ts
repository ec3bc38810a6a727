import { SessionNotFoundError, StoreUnavailableError } from '../domain/errors/errors.js';
import { isRenewalDue } from '../domain/values/expiry.js';
import { type SessionKey, checkedSessionKey, isBlank, sessionKeyOf } from '../domain/values/ids.js';
import type { Session } from '../domain/session/session.js';
import { type GetSessionConfig, checkedViewConfig } from '../domain/view/view-config.js';
import { type SessionEnvironment, isReadShorter, readFilter } from '../session-environment.js';
import type { StoredSession, TouchRequest } from '../storage/session-storage.js';
import {
  type CreateSessionRequest,
  createPrepared,
  createSession,
  prepareSession,
  SessionOpener,
} from './create-session.js';
import { type ReadView, readView } from './read-view.js';

/** The session to read, and how much of its view. */
export interface GetSessionRequest extends SessionKey {
  /** Narrows the view for this call. Default: the whole view. */
  readonly config?: GetSessionConfig | undefined;
}

export async function getSession(env: SessionEnvironment, request: GetSessionRequest): Promise<Session | undefined> {
  const key = checkedSessionKey(request);
  const config = checkedViewConfig(request.config);
  const read = await readViewIfThere(env, key, config);
  if (!read) return undefined;
  await renewIfPossible(env, read.stored);
  // What stays in this process cannot be damaged, and is not parsed yet.
  if (!env.storage.isInProcess) {
    env.damage.look(
      key,
      read.view.map(({ event }) => event),
    );
  }
  const session = new SessionOpener(env.storage).open(read.stored, read.view, read.source);
  if (read.isTruncated) session.eventsTruncated = true;
  return session;
}

/** Gets the session, or creates it. Concurrent callers all get the same one. */
export async function getOrCreateSession(env: SessionEnvironment, request: CreateSessionRequest): Promise<Session> {
  if (isBlank(request.sessionId)) return createSession(env, request);
  // Before the first await, since the caller may reuse the request object.
  const prepared = prepareSession(env, request);
  for (;;) {
    const session = (await getSession(env, prepared.key)) ?? (await createPrepared(env, prepared));
    if (session) return session;
  }
}

/** A session that is deleted during the read counts as missing. */
async function readViewIfThere(
  env: SessionEnvironment,
  key: SessionKey,
  config: GetSessionConfig,
): Promise<ReadView | undefined> {
  try {
    const limits = { maxBytes: env.limits.maxViewBytes, maxStateBytes: env.stateLimits };
    return await readView(env.storage, key, readFilter(env), { config, isForOneRead: isReadShorter(env), ...limits });
  } catch (error) {
    if (error instanceof SessionNotFoundError) return undefined;
    throw error;
  }
}

/** A read succeeds even if the store accepts no writes: its disk or memory is full, or it became a replica. */
async function renewIfPossible(env: SessionEnvironment, stored: StoredSession): Promise<void> {
  try {
    await renewWhatWasRead(env, stored);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    env.tasks.trackInBackground(Promise.reject(error));
  }
}

/** Renews the lifetimes of what was read, at most once per tenth of a lifetime. */
async function renewWhatWasRead(env: SessionEnvironment, { record, scopeExpiry, now }: StoredSession): Promise<void> {
  if (!env.ttl.refreshOnRead) return;
  const life = env.lifetimes;
  const renew: TouchRequest['renew'] = {
    ...(isRenewalDue(record.expiresAt, now, life.session) && { session: life.session }),
    ...(isRenewalDue(scopeExpiry?.user ?? now, now, life.user) && { user: life.user }),
    ...(isRenewalDue(scopeExpiry?.app ?? now, now, life.app) && { app: life.app }),
  };
  if (Object.keys(renew).length === 0) return;
  await env.storage.touch({ key: sessionKeyOf(record), incarnation: record.incarnation, renew });
}
