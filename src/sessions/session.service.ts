import { type ConsumeOptions, type SessionConsumer, SessionConsumers } from './consumers/session-consumers.js';
import type { EventInput, LoggedEvent } from './domain/event.js';
import { type SessionKey, type UserKey, assertId, checkedSessionKey } from './domain/ids.js';
import { requireRequest } from './domain/require-request.js';
import type { Session } from './domain/session.js';
import { type AppendEventRequest, type AppendResult, appendEvent } from './operations/append-event.js';
import { type AppendEventsRequest, type AppendEventsResult, appendEvents } from './operations/append-events.js';
import { type CreateSessionRequest, createSession } from './operations/create-session.js';
import { type ForkSessionRequest, forkSession } from './operations/fork-session.js';
import { type GetSessionRequest, getOrCreateSession, getSession } from './operations/get-session.js';
import { type EventPage, type ListEventsRequest, listEvents } from './operations/list-events.js';
import { type ListSessionsRequest, type SessionPage, listSessions } from './operations/list-sessions.js';
import { type PurgeOptions, purgeExpired } from './operations/purge-expired.js';
import { type RewindSessionRequest, rewindSession } from './operations/rewind-session.js';
import { type SharedStateChanges, getSharedState, updateSharedState } from './operations/shared-state.js';
import { type StateAtMoment, type StateAtRequest, stateAt } from './operations/state-at.js';
import { type StateChangePage, type StateChangesRequest, stateChanges } from './operations/state-changes.js';
import { type UpdateSessionOptions, updateSession } from './operations/update-session.js';
import {
  type BeginTurnRequest,
  type RenewTurnRequest,
  type Turn,
  type TurnHolder,
  type EndTurnRequest,
  beginTurn,
  endTurn,
  getTurn,
  renewTurn,
} from './operations/turns.js';
import { type HeldTurn, withTurn } from './operations/with-turn.js';
import type { WatchSessionRequest } from './operations/watch-session.js';
import { type WatchedEvent, watchSession } from './operations/watch-state.js';
import { type SessionEnvironment, type SessionServiceOptions, announce, environmentOf } from './session-environment.js';
import { SessionHooks } from './session-hooks.js';
import type { PurgeCounts } from './storage/session-storage.js';

/**
 * Stores conversations of agents: an append-only log of events for each session, and state in four scopes.
 * One service for every store.
 *
 * @example
 * const sessions = new SessionService({ storage: new InMemorySessionStorage() });
 * const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
 * const event = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };
 * await sessions.appendEvent({ session, event });
 */
export class SessionService {
  readonly hooks: SessionHooks;
  readonly consumers: SessionConsumers;
  readonly #env: SessionEnvironment;

  constructor(options: SessionServiceOptions) {
    this.hooks = new SessionHooks();
    this.#env = environmentOf(options, this.hooks);
    this.consumers = new SessionConsumers(this.#env);
  }

  /**
   * Creates a session. Throws `SessionExistsError` if a live session has the id.
   * @example await sessions.createSession({ appName: 'shop', userId: 'ann', state: { step: 1, 'user:theme': 'dark' } });
   */
  async createSession(request: CreateSessionRequest): Promise<Session> {
    return this.#run(createSession(this.#env, requireRequest(request)));
  }

  /**
   * Reads a session with its view of the conversation. Returns `undefined` if there is none.
   * @example await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId, config: { numRecentEvents: 20 } });
   */
  async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    return this.#run(getSession(this.#env, requireRequest(request)));
  }

  /**
   * Reads the session, or creates it if missing. Safe for concurrent callers.
   * @example const session = await sessions.getOrCreateSession({ appName: 'shop', userId: 'ann', sessionId: 'cart' });
   */
  async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    return this.#run(getOrCreateSession(this.#env, requireRequest(request)));
  }

  /**
   * Lists the sessions of a user or of an app, page by page: newest update first, without events.
   * @example const { sessions: page, nextCursor } = await sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 20 });
   */
  async listSessions(request: ListSessionsRequest): Promise<SessionPage> {
    return this.#run(listSessions(this.#env, requireRequest(request)));
  }

  /**
   * Deletes the session with its events. Shared state stays. A missing session is no error.
   * @example await sessions.deleteSession({ appName: 'shop', userId: 'ann', sessionId });
   */
  async deleteSession(request: SessionKey): Promise<void> {
    const key = checkedSessionKey(requireRequest(request));
    await this.#run(this.#env.storage.delete(key));
    announce(this.#env, key);
  }

  /**
   * Lists the log, page by page, including rewound and summarised events.
   * @example const { events, nextCursor } = await sessions.listEvents({ appName: 'shop', userId: 'ann', sessionId });
   */
  async listEvents(request: ListEventsRequest): Promise<EventPage> {
    return this.#run(listEvents(this.#env, requireRequest(request)));
  }

  /**
   * Follows the log, from now on or after a known event, including summaries and rewinds. Delivers each event exactly
   * once. Throws `SessionNotFoundError` when the session is deleted or expires. Ends without error when the caller stops,
   * `signal` aborts or the service closes. With `stateDeltas`, each event says in `statePatch`
   * what it changes in the state.
   * @example
   * for await (const event of sessions.watch({ appName: 'shop', userId: 'ann', sessionId, afterSeq: session.version })) {
   *   console.log(event.seq, event.author);
   * }
   */
  watch(request: WatchSessionRequest): AsyncIterableIterator<WatchedEvent> {
    return watchSession(this.#env, requireRequest(request));
  }

  /**
   * Reads the session's state as it was after an event. Throws `InvalidInputError` for events that were trimmed.
   * @example const { state } = await sessions.stateAt({ appName: 'shop', userId: 'ann', sessionId, seq: 4 });
   */
  async stateAt(request: StateAtRequest): Promise<StateAtMoment> {
    return this.#run(stateAt(this.#env, requireRequest(request)));
  }

  /**
   * Lists which event changed which state key from what to what, page by page. A page may be empty and have a next one. In
   * shared scopes, `before` is the value that the last earlier event of this session gave.
   * @example
   * const { changes, nextCursor } = await sessions.stateChanges({ appName: 'shop', userId: 'ann', sessionId, key: 'step' });
   * for (const { seq, before, after } of changes) console.log(seq, before, after);
   */
  async stateChanges(request: StateChangesRequest): Promise<StateChangePage> {
    return this.#run(stateChanges(this.#env, requireRequest(request)));
  }

  /**
   * Hands each event of all sessions to a handler: at least once, in order within a session. Resolves when the consumer is stored.
   * @example const consumer = await sessions.consume({ name: 'mail', handler: ({ event }) => send(event) });
   */
  async consume(options: ConsumeOptions): Promise<SessionConsumer> {
    return this.#run(this.consumers.consume(requireRequest(options)));
  }

  /**
   * Appends an event and updates `session`. Returns partial events unchanged, without storing them. Safe to retry: the
   * same event id with the same content is stored once.
   * @example
   * const event = { author: 'agent', actions: { stateDelta: { step: 2 } } };
   * const stored = await sessions.appendEvent({ session, event, expectedVersion: session.version });
   */
  async appendEvent(request: AppendEventRequest & { event: { partial: true } }): Promise<EventInput>;
  async appendEvent(request: AppendEventRequest): Promise<LoggedEvent>;
  async appendEvent(request: AppendEventRequest): Promise<EventInput> {
    if (requireRequest(request).event?.partial === true) return request.event;
    return (await this.append(request)).event;
  }

  /**
   * Like {@link appendEvent}, and says whether the event had been stored before.
   * @example const { event, duplicate } = await sessions.append({ session, event: { id: 'order-7', author: 'agent' } });
   */
  async append(request: AppendEventRequest): Promise<AppendResult> {
    return this.#run(appendEvent(this.#env, requireRequest(request)));
  }

  /**
   * Appends several events at once: all of them, with consecutive numbers, or none. Updates `session`. Returns partial
   * events unchanged in their place. Safe to retry: if all were stored before, the stored events are returned; if only
   * some were, it throws `EventConflictError`. Summaries and rewinds must be appended alone.
   * @example
   * const call = { id: 'e-1', author: 'agent', content: { parts: [{ functionCall: { id: 'c-1', name: 'order', args: {} } }] } };
   * const answer = { id: 'e-2', author: 'agent', actions: { stateDelta: { step: 2 } } };
   * const stored = await sessions.appendEvents({ session, events: [call, answer], expectedVersion: session.version });
   */
  async appendEvents(request: AppendEventsRequest): Promise<LoggedEvent[]> {
    return (await this.appendBatch(request)).events;
  }

  /**
   * Like {@link appendEvents}, and says whether the events had been stored before.
   * @example const { events: stored, duplicate } = await sessions.appendBatch({ session, events });
   */
  async appendBatch(request: AppendEventsRequest): Promise<AppendEventsResult> {
    return this.#run(appendEvents(this.#env, requireRequest(request)));
  }

  /**
   * Saves the changes of `session.state`, as one event by author `system`.
   * @example await sessions.updateSession(session); // after session.state.step = 3
   */
  async updateSession(session: Session, options?: UpdateSessionOptions): Promise<LoggedEvent | undefined> {
    return this.#run(updateSession(this.#env, session, options));
  }

  /**
   * Begins a turn: until it is over, no other request gets one, and writes that name it are refused afterwards. Throws
   * `TurnHeldError` if the turn is held.
   * @example
   * const turn = await sessions.beginTurn({ appName: 'shop', userId: 'ann', sessionId, ttlMs: 30_000 });
   * await sessions.appendEvent({ session, event, turn });
   * await sessions.endTurn(turn);
   */
  async beginTurn(request: BeginTurnRequest): Promise<Turn> {
    return this.#run(beginTurn(this.#env, requireRequest(request)));
  }

  /**
   * Lets a turn last longer. Throws `TurnLostError` if it is over.
   * @example await sessions.renewTurn(turn);
   */
  async renewTurn(turn: RenewTurnRequest): Promise<Turn> {
    return this.#run(renewTurn(this.#env, requireRequest(turn)));
  }

  /**
   * Ends a turn, so that the next one can begin immediately. Does nothing if it is over.
   * @example await sessions.endTurn(turn);
   */
  async endTurn(turn: EndTurnRequest): Promise<void> {
    return this.#run(endTurn(this.#env, requireRequest(turn)));
  }

  /**
   * Returns who holds the turn of the session, or `undefined`.
   * @example const { holder, expiresAt } = (await sessions.getTurn({ appName: 'shop', userId: 'ann', sessionId })) ?? {};
   */
  async getTurn(request: SessionKey): Promise<TurnHolder | undefined> {
    return this.#run(getTurn(this.#env, requireRequest(request)));
  }

  /**
   * Runs work in a turn: begins it, renews it while the work runs, and ends it, even if the work throws. Throws `TurnHeldError`
   * if the turn is held, and `TurnLostError` if it was lost while the work ran.
   * @example
   * await sessions.withTurn({ appName: 'shop', userId: 'ann', sessionId, holder: 'worker-7' }, async (turn) => {
   *   const event = await answer(session, turn.signal);
   *   await sessions.appendEvent({ session, event, turn });
   * });
   */
  async withTurn<Result>(
    request: BeginTurnRequest,
    work: (turn: HeldTurn) => Result | Promise<Result>,
  ): Promise<Result> {
    return withTurn(this.#env, requireRequest(request), work);
  }

  /**
   * Rewinds the session and its own state to a moment. Shared state stays. The log keeps everything, so another rewind
   * can undo this one.
   * @example
   * await sessions.rewindSession({ appName: 'shop', userId: 'ann', sessionId, toSeq: 4 });
   * await sessions.rewindSession({ appName: 'shop', userId: 'ann', sessionId, invocationId: 'inv-7' });
   */
  async rewindSession(request: RewindSessionRequest): Promise<Session> {
    return this.#run(rewindSession(this.#env, requireRequest(request)));
  }

  /**
   * Creates a new session from the view of this one, now or at an earlier moment, with its own state of that moment. Shared
   * state stays shared. Later changes of one session do not affect the other.
   * @example
   * const earlier = await sessions.forkSession({ appName: 'shop', userId: 'ann', sessionId, atSeq: 4, newSessionId: 'b' });
   */
  async forkSession(request: ForkSessionRequest): Promise<Session> {
    return this.#run(forkSession(this.#env, requireRequest(request)));
  }

  /**
   * Reads the shared state of a user. Keys have no prefix `user:`.
   * @example const { theme } = await sessions.getUserState({ appName: 'shop', userId: 'ann' });
   */
  async getUserState(request: UserKey): Promise<Record<string, unknown>> {
    const { appName, userId } = requireRequest(request);
    assertId(userId, 'userId');
    return this.#run(getSharedState(this.#env, { appName, userId }));
  }

  /**
   * Changes the shared state of a user, without a session.
   * @example await sessions.updateUserState({ appName: 'shop', userId: 'ann', stateDelta: { theme: 'dark' } });
   */
  async updateUserState(request: UserKey & SharedStateChanges): Promise<Record<string, unknown>> {
    const { appName, userId, ...changes } = requireRequest(request);
    assertId(userId, 'userId');
    return this.#run(updateSharedState(this.#env, { appName, userId }, changes));
  }

  /**
   * Reads the shared state of an app. Keys have no prefix `app:`.
   * @example const { currency } = await sessions.getAppState({ appName: 'shop' });
   */
  async getAppState(request: { appName: string }): Promise<Record<string, unknown>> {
    const { appName } = requireRequest(request);
    return this.#run(getSharedState(this.#env, { appName }));
  }

  /**
   * Changes the shared state of an app, without a session.
   * @example await sessions.updateAppState({ appName: 'shop', stateDelta: { currency: 'EUR' } });
   */
  async updateAppState(request: { appName: string } & SharedStateChanges): Promise<Record<string, unknown>> {
    const { appName, ...changes } = requireRequest(request);
    return this.#run(updateSharedState(this.#env, { appName }, changes));
  }

  /**
   * Removes expired sessions and states in batches, and returns the counts.
   * @example const { sessions: removed } = await sessions.purgeExpired();
   */
  async purgeExpired(options?: PurgeOptions): Promise<PurgeCounts> {
    return this.#run(purgeExpired(this.#env, options));
  }

  /**
   * Waits for running operations and for background work after appends.
   * @example await sessions.whenIdle(); // all hooks after appends have run
   */
  async whenIdle(): Promise<void> {
    await this.#env.tasks.whenIdle();
  }

  /**
   * Ends all watches and waits for running work. Does not close the storage.
   * @example await sessions.finish(); // the storage stays open
   */
  async finish(): Promise<void> {
    this.#env.shutdown.request();
    await this.whenIdle();
  }

  /**
   * Calls {@link finish}, then closes the storage. Closing twice is safe.
   * @example process.once('SIGTERM', () => sessions.close());
   */
  async close(): Promise<void> {
    await this.finish();
    await this.#env.storage.close();
  }

  #run<Result>(operation: Promise<Result>): Promise<Result> {
    return this.#env.tasks.track(operation);
  }
}
