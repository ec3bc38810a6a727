import { splitStateKey } from '../../state/scopes.js';
import { filterChanges } from '../../state/state-changes.js';
import { eventsBytes } from '../domain/stored/byte-budget.js';
import { assertDefinedState } from '../domain/write/defined-state.js';
import { SessionExistsError } from '../domain/errors/errors.js';
import { checkedSessionKey, isBlank } from '../domain/values/ids.js';
import { optionalFlag } from '../domain/values/input-checks.js';
import { EMPTY_SOURCE } from '../domain/view/loaded-view.js';
import { metadataAfter, metadataEntries } from '../domain/metadata/metadata-entries.js';
import { type SessionMetadataInput, metadataChanges } from '../domain/metadata/metadata.js';
import { QuotaExceededError } from '../domain/errors/quota-error.js';
import { SessionEvents } from '../domain/view/session-events.js';
import { parseMetadataText } from '../domain/session/tracked-metadata.js';
import { type LazyViewSource, trackSession } from '../domain/session/session-tracking.js';
import { type InitialState, Session } from '../domain/session/session.js';
import { recordOfMembers, stateMembers, stateWrites } from '../domain/stored/stored-json.js';
import { submittedMetadata } from '../domain/metadata/metadata-checks.js';
import { misspelledKeys } from '../domain/write/misspelled-event-fields.js';
import { submittedState } from '../domain/write/submitted-state.js';
import type { ViewItem } from '../domain/view/view-item.js';
import { type SessionEnvironment, announce } from '../session-environment.js';
import { ownMembers } from '../storage/state-entries.js';
import type {
  CreateRequest,
  SessionStorage,
  StateEntries,
  StoredSession,
  StoredState,
} from '../storage/session-storage.js';

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
  for (const error of misspelledKeys(state, '$.state')) env.onMisspelledField(error);
  const metadata = submittedMetadata(request.metadata, '$.metadata', env.limits);
  const changes = { stateDelta: state, stateRemovals: [] };
  const inScope = (...scopes: string[]) => filterChanges(changes, (name) => scopes.includes(splitStateKey(name).scope));
  return {
    key,
    baseState: JSON.stringify(inScope('session').stateDelta),
    turnsOnly: optionalFlag(request.turnsOnly, 'turnsOnly') ?? false,
    upserts: stateWrites(inScope('session', 'user', 'app')).upserts,
    metadata: metadata && metadataAfter('', metadataChanges(metadata)),
  };
}

/** Creates the session; returns undefined if a live one has the id. */
export async function createPrepared(env: SessionEnvironment, prepared: PreparedSession): Promise<Session | undefined> {
  const { key, baseState, upserts, metadata, log, turnsOnly } = prepared;
  const { lifetimes: expiry, stateLimits: maxStateBytes } = env;
  const request = { key, baseState, upserts, metadata, log, turnsOnly, expiry, maxStateBytes };
  const stored = await createWithinQuotas(env, request);
  if (!stored) return undefined;
  // Ends watches of an expired session with this id.
  announce(env, prepared.key);
  return new SessionOpener(env.storage).open(stored, [], EMPTY_SOURCE);
}

/** Creates nothing if a quota has no room, or a live session has the id. What is not created does not count. */
export async function createWithinQuotas(
  { quotas, storage, holds }: SessionEnvironment,
  request: CreateRequest,
): Promise<StoredSession | undefined> {
  const { key, baseState, log, metadata } = request;
  const bytes = (): number => Buffer.byteLength(baseState) + eventsBytes(log?.events ?? []);
  const giveBack = await quotas?.create(key, bytes).catch(async (error: unknown) => {
    // What is there needs no room.
    if (error instanceof QuotaExceededError && (await storage.read({ key }))) return 'there' as const;
    throw error;
  });
  if (giveBack === 'there') return undefined;
  const stored = await storage.create(request);
  if (!stored) await giveBack?.();
  else if (metadata) await holds.confirm(key, [...metadataEntries(metadata)]);
  return stored;
}

type OpenedParts = Pick<StoredSession, 'record' | 'state' | 'metadata'> & Pick<Session, 'unreadable'>;

/**
 * Creates session objects for callers. Sessions of one list share user and app state, whose text is built once. State from
 * outside this process may be damaged, which a read has to report, so it is parsed immediately.
 */
export class SessionOpener {
  readonly #user = new MembersOfScope('user');
  readonly #app = new MembersOfScope('app');

  constructor(private readonly storage: Pick<SessionStorage, 'isInProcess'>) {}

  open(
    { record, state, metadata = '', unreadable }: OpenedParts,
    view: readonly ViewItem[],
    source: LazyViewSource,
  ): Session {
    const session = new Session(
      record,
      state ? this.#stateOf(state) : {},
      new SessionEvents(view),
      parseMetadataText(metadata),
    );
    if (unreadable) session.unreadable = unreadable;
    trackSession(session, record, source, metadata);
    return session;
  }

  #stateOf(state: StoredState): InitialState {
    return this.storage.isInProcess ? () => this.#parsed(state) : this.#parsed(state);
  }

  /** All scopes; the prefixes keep the keys distinct. */
  #parsed({ app, user, session }: StoredState): Record<string, unknown> {
    return recordOfMembers(this.#app.textOf(app), this.#user.textOf(user), ownMembers(session));
  }
}

/** Remembers the text of the last entries. */
class MembersOfScope {
  #entries: StateEntries = [];
  #text = '';

  constructor(private readonly scope: 'user' | 'app') {}

  textOf(entries: StateEntries): string {
    if (entries !== this.#entries) {
      this.#text = stateMembers(entries, this.scope);
      this.#entries = entries;
    }
    return this.#text;
  }
}
