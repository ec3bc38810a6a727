import { splitStateKey } from '../../state/scopes.js';
import { filterChanges } from '../../state/state-changes.js';
import { SessionExistsError } from '../domain/errors.js';
import { checkedFlag } from '../domain/flag.js';
import { checkedSessionKey, isBlank } from '../domain/ids.js';
import { EMPTY_SOURCE } from '../domain/loaded-view.js';
import { type SessionMetadataInput, metadataChanges } from '../domain/metadata.js';
import { metadataAfter } from '../domain/metadata-entries.js';
import type { Session } from '../domain/session.js';
import { stateWrites } from '../domain/stored-json.js';
import { submittedState } from '../domain/submitted-changes.js';
import { submittedMetadata } from '../domain/submitted-metadata.js';
import { type SessionEnvironment, announce, lifetimes } from '../session-environment.js';
import type { CreateRequest } from '../storage/session-storage.js';
import { openSession } from './open-session.js';

/** The session to create. */
export interface CreateSessionRequest {
  appName: string;
  userId: string;
  /** Generated if missing or blank. */
  sessionId?: string | undefined;
  /** Initial state; `user:` and `app:` keys go to the shared scopes, `temp:` keys are dropped. */
  state?: Record<string, unknown> | undefined;
  /** Title, status, tags, labels and own fields. Events change them later, by `actions.metadataDelta`. */
  metadata?: SessionMetadataInput | undefined;
  /** Accept only writes that name a turn, and summaries. Default: `false`. */
  turnsOnly?: boolean | undefined;
}

/** A validated request; shares no object with the input. */
export type PreparedSession = Omit<CreateRequest, 'expiry'>;

export async function createSession(env: SessionEnvironment, request: CreateSessionRequest): Promise<Session> {
  const prepared = prepareSession(env, request);
  const created = await createPrepared(env, prepared);
  if (!created) throw new SessionExistsError(prepared.key.sessionId);
  return created;
}

export function prepareSession(env: SessionEnvironment, request: CreateSessionRequest): PreparedSession {
  const { appName, userId } = request;
  const sessionId = isBlank(request.sessionId) ? env.newId() : (request.sessionId as string);
  const key = checkedSessionKey({ appName, userId, sessionId });
  const state = submittedState(request.state, '$.state', env.limits);
  const metadata = submittedMetadata(request.metadata, '$.metadata', env.limits);
  const changes = { stateDelta: state, stateRemovals: [] };
  const inScope = (...scopes: string[]) => filterChanges(changes, (name) => scopes.includes(splitStateKey(name).scope));
  return {
    key,
    baseState: JSON.stringify(inScope('session').stateDelta),
    turnsOnly: checkedFlag(request.turnsOnly, 'turnsOnly'),
    upserts: stateWrites(inScope('session', 'user', 'app')).upserts,
    ...(metadata && { metadata: metadataAfter('', metadataChanges(metadata)) }),
  };
}

/** Creates the session; returns undefined if a live one has the id. */
export async function createPrepared(env: SessionEnvironment, prepared: PreparedSession): Promise<Session | undefined> {
  const stored = await env.storage.create({ ...prepared, expiry: lifetimes(env) });
  if (!stored) return undefined;
  // Ends watches of an expired session with this id.
  announce(env, prepared.key);
  return openSession(stored, [], EMPTY_SOURCE);
}
