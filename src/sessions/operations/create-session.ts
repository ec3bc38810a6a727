import { splitStateKey } from '../../state/scopes.js';
import { filterChanges } from '../../state/state-changes.js';
import { assertDefinedState } from '../domain/defined-state.js';
import { SessionExistsError } from '../domain/errors.js';
import { checkedSessionKey, isBlank } from '../domain/ids.js';
import { optionalFlag } from '../domain/input-checks.js';
import { type ViewSource, EMPTY_SOURCE } from '../domain/loaded-view.js';
import { metadataAfter, metadataEntries } from '../domain/metadata-entries.js';
import { type SessionMetadataInput, metadataChanges } from '../domain/metadata.js';
import { SessionEvents } from '../domain/session-events.js';
import { sessionMetadata } from '../domain/session-metadata.js';
import { trackSession } from '../domain/session-tracking.js';
import { Session } from '../domain/session.js';
import { stateRecord, stateWrites } from '../domain/stored-json.js';
import { submittedMetadata } from '../domain/submitted-metadata.js';
import { submittedState } from '../domain/submitted-state.js';
import type { ViewItem } from '../domain/view-item.js';
import { type SessionEnvironment, announce } from '../session-environment.js';
import type { CreateRequest, StoredSession, StoredState } from '../storage/session-storage.js';

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
  assertDefinedState(env.stateDefinitions, key.appName, state, '$.state');
  const metadata = submittedMetadata(request.metadata, '$.metadata', env.limits);
  const changes = { stateDelta: state, stateRemovals: [] };
  const inScope = (...scopes: string[]) => filterChanges(changes, (name) => scopes.includes(splitStateKey(name).scope));
  return {
    key,
    baseState: JSON.stringify(inScope('session').stateDelta),
    turnsOnly: optionalFlag(request.turnsOnly, 'turnsOnly') ?? false,
    upserts: stateWrites(inScope('session', 'user', 'app')).upserts,
    ...(metadata && { metadata: metadataAfter('', metadataChanges(metadata)) }),
  };
}

/** Creates the session; returns undefined if a live one has the id. */
export async function createPrepared(env: SessionEnvironment, prepared: PreparedSession): Promise<Session | undefined> {
  const stored = await env.storage.create({ ...prepared, expiry: env.lifetimes });
  if (!stored) return undefined;
  // Ends watches of an expired session with this id.
  announce(env, prepared.key);
  return openSession(stored, [], EMPTY_SOURCE);
}

/** Creates the session object for a caller. */
export function openSession(
  { record, state, metadata = '' }: Pick<StoredSession, 'record' | 'state' | 'metadata'>,
  view: readonly ViewItem[],
  source: ViewSource,
): Session {
  const session = new Session(
    record,
    state ? mergedState(state) : {},
    new SessionEvents(view),
    sessionMetadata(metadataEntries(metadata)),
  );
  trackSession(session, record, source, metadata);
  return session;
}

/** Merges all scopes; the prefixes keep the keys distinct. */
function mergedState({ app, user, session }: StoredState): Record<string, unknown> {
  return {
    ...stateRecord(app, 'app'),
    ...stateRecord(user, 'user'),
    ...stateRecord(session, 'session'),
  };
}
