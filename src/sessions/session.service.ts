import type { EventInput, LoggedEvent } from './domain/event.js';
import { type SessionKey, assertId, assertSessionKey } from './domain/ids.js';
import type { Session } from './domain/session.js';
import { type AppendEventRequest, appendEvent } from './operations/append-event.js';
import type { AppendResult } from './operations/appending.js';
import { type CreateSessionRequest, createSession } from './operations/create-session.js';
import { type GetSessionRequest, getOrCreateSession, getSession } from './operations/get-session.js';
import { type EventPage, type ListEventsRequest, listEvents } from './operations/list-events.js';
import { type ListSessionsRequest, type SessionPage, listSessions } from './operations/list-sessions.js';
import { purgeExpired } from './operations/purge-expired.js';
import { type RewindSessionRequest, rewindSession } from './operations/rewind-session.js';
import { type SharedStateChanges, getSharedState, updateSharedState } from './operations/shared-state.js';
import { type UpdateSessionOptions, updateSession } from './operations/update-session.js';
import { type SessionEnvironment, type SessionServiceOptions, environmentOf } from './session-environment.js';
import { SessionHooks } from './session-hooks.js';
import type { PurgeCounts } from './storage/session-storage.js';

/**
 * Keeps the conversations of agents: an append-only log of events for each session, and state in four
 * scopes. One service for every store.
 *
 * @example
 * const sessions = new SessionService({ storage: new InMemorySessionStorage() });
 * const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
 * await sessions.appendEvent({
 *   session,
 *   event: { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } },
 * });
 */
export class SessionService {
  readonly hooks = new SessionHooks();
  readonly #env: SessionEnvironment;

  constructor(options: SessionServiceOptions) {
    this.#env = environmentOf(options, this.hooks);
  }

  /**
   * Creates a session. A live session of the same id is left alone: `SessionExistsError`.
   *
   * @example
   * await sessions.createSession({ appName: 'shop', userId: 'ann', state: { step: 1, 'user:theme': 'dark' } });
   */
  async createSession(request: CreateSessionRequest): Promise<Session> {
    return createSession(this.#env, request);
  }

  /**
   * The session with its view of the conversation, or `undefined` if there is none.
   *
   * @example
   * await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId, config: { numRecentEvents: 20 } });
   */
  async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    return getSession(this.#env, request);
  }

  /** The session of this id, created if there is none yet; safe for many callers at once. */
  async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    return getOrCreateSession(this.#env, request);
  }

  /**
   * A page of a user's sessions, or of all sessions of an app: newest update first, without events.
   *
   * @example
   * const { sessions: page, nextCursor } = await sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 20 });
   */
  async listSessions(request: ListSessionsRequest): Promise<SessionPage> {
    return listSessions(this.#env, request);
  }

  /** Deletes the session with its events; shared state stays. A missing session is no error. */
  async deleteSession({ appName, userId, sessionId }: SessionKey): Promise<void> {
    const key = { appName, userId, sessionId };
    assertSessionKey(key);
    await this.#env.storage.delete(key);
  }

  /**
   * A page of the whole log, rewound and summarised events included.
   *
   * @example
   * const { events, nextCursor } = await sessions.listEvents({ appName: 'shop', userId: 'ann', sessionId });
   */
  async listEvents(request: ListEventsRequest): Promise<EventPage> {
    return listEvents(this.#env, request);
  }

  /**
   * Appends an event and brings `session` up to date. Partial events are handed back untouched. Safe to
   * repeat: the same event id with the same content is stored once.
   *
   * @example
   * const stored = await sessions.appendEvent({
   *   session,
   *   event: { author: 'agent', actions: { stateDelta: { step: 2 } } },
   *   expectedVersion: session.version,
   * });
   */
  async appendEvent(request: AppendEventRequest): Promise<LoggedEvent>;
  async appendEvent(request: AppendEventRequest & { event: { partial: true } }): Promise<EventInput>;
  async appendEvent(request: AppendEventRequest): Promise<EventInput> {
    if (request.event?.partial === true) return request.event;
    return (await appendEvent(this.#env, request)).event;
  }

  /** Like {@link appendEvent}, for whoever wants to know whether the event had been stored before. */
  async append(request: AppendEventRequest): Promise<AppendResult> {
    return appendEvent(this.#env, request);
  }

  /**
   * Saves what was changed in `session.state`, as one event by author `system`.
   *
   * @example
   * session.state.step = 3;
   * await sessions.updateSession(session);
   */
  async updateSession(session: Session, options?: UpdateSessionOptions): Promise<LoggedEvent | undefined> {
    return updateSession(this.#env, session, options);
  }

  /**
   * Takes the session back to a moment, with its own state; shared state stays. The log keeps everything, so
   * a rewind can be taken back by another one.
   *
   * @example
   * await sessions.rewindSession({ appName: 'shop', userId: 'ann', sessionId, toSeq: 4 });
   * await sessions.rewindSession({ appName: 'shop', userId: 'ann', sessionId, invocationId: 'inv-7' });
   */
  async rewindSession(request: RewindSessionRequest): Promise<Session> {
    return rewindSession(this.#env, request);
  }

  /** What all sessions of a user share; keys without the prefix `user:`. */
  async getUserState({ appName, userId }: { appName: string; userId: string }): Promise<Record<string, unknown>> {
    assertId(userId, 'userId');
    return getSharedState(this.#env, { appName, userId });
  }

  /**
   * Changes what all sessions of a user share, without a session.
   *
   * @example
   * await sessions.updateUserState({ appName: 'shop', userId: 'ann', stateDelta: { theme: 'dark' } });
   */
  async updateUserState(
    request: { appName: string; userId: string } & SharedStateChanges,
  ): Promise<Record<string, unknown>> {
    const { appName, userId, ...changes } = request;
    assertId(userId, 'userId');
    return updateSharedState(this.#env, { appName, userId }, changes);
  }

  /** What all sessions of an app share; keys without the prefix `app:`. */
  async getAppState({ appName }: { appName: string }): Promise<Record<string, unknown>> {
    return getSharedState(this.#env, { appName });
  }

  /** Changes what all sessions of an app share, without a session. */
  async updateAppState(request: { appName: string } & SharedStateChanges): Promise<Record<string, unknown>> {
    const { appName, ...changes } = request;
    return updateSharedState(this.#env, { appName }, changes);
  }

  /** Removes what expired, in batches; says how much it was. */
  async purgeExpired(options?: { batchSize?: number }): Promise<PurgeCounts> {
    return purgeExpired(this.#env, options);
  }

  /** Waits until everything that follows appends already acknowledged is done. */
  async whenIdle(): Promise<void> {
    await this.#env.background.finished();
  }

  /** Finishes what is under way, then closes the storage. */
  async close(): Promise<void> {
    await this.whenIdle();
    await this.#env.storage.close();
  }
}
