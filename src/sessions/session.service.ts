import { checkServiceOptions } from '../config/check-service-options.js';
import { type ConsumeOptions, type SessionConsumer, SessionConsumers } from './consumers/session-consumers.js';
import type { EventLike, LoggedEvent } from './domain/event/event.js';
import type { SessionKey, UserKey } from './domain/values/ids.js';
import type { Session } from './domain/session/session.js';
import { type DecideChange, changeSession } from './operations/change-session.js';
import type { EraseUserRequest } from './operations/erase-user.js';
import type * as operations from './operations/index.js';
import type { PurgeOptions } from './operations/purge-expired.js';
import { watchSession } from './operations/state-history.js';
import { type TurnWork, withTurn } from './operations/turns.js';
import { checkedRequest } from './service-operations.js';
import { runOnRequest as run, runOperation, runTracked } from './run-operation.js';
import { keepEnvironment } from './service-environment.js';
import {
  type SessionEnvironment,
  type SessionServiceOptions,
  createSessionEnvironment,
} from './session-environment.js';
import { SessionHooks } from './session-hooks.js';
import { SessionReads } from './session-reads.js';
import type { PurgeCounts } from './storage/session-storage.js';
import { traced } from './tracing/trace.js';

/**
 * Stores conversations of agents, in any store: an append-only log of events for each session, and state in four scopes.
 * @example
 * const sessions = new SessionService({ storage: new InMemorySessionStorage() });
 * const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
 */
export class SessionService extends SessionReads {
  readonly hooks: SessionHooks;
  readonly consumers: SessionConsumers;
  /** Whether events that left the view stay in the log (`history.keepHistory`). */
  readonly keepsHistory: boolean;
  readonly #env: SessionEnvironment;

  constructor(options: SessionServiceOptions) {
    checkServiceOptions('SessionService', options);
    const hooks = new SessionHooks();
    const env = createSessionEnvironment(options, hooks);
    super(() => env);
    this.hooks = hooks;
    this.#env = keepEnvironment(this, env);
    this.keepsHistory = env.history.keepHistory;
    this.consumers = new SessionConsumers(env);
  }

  /**
   * Creates a session. Throws `SessionExistsError` if a live session has the id.
   * @example await sessions.createSession({ appName: 'shop', userId: 'ann', state: { step: 1, 'user:theme': 'dark' } });
   */
  async createSession(request: operations.CreateSessionRequest): Promise<Session> {
    return run(this.#env, 'createSession', request);
  }

  /**
   * Reads a session with its view of the conversation. Returns `undefined` if there is none.
   * @example await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId, config: { numRecentEvents: 20 } });
   */
  async getSession(request: operations.GetSessionRequest): Promise<Session | undefined> {
    return run(this.#env, 'getSession', request);
  }

  /**
   * Reads the session, or creates it if missing. Safe for concurrent callers.
   * @example const session = await sessions.getOrCreateSession({ appName: 'shop', userId: 'ann', sessionId: 'cart' });
   */
  async getOrCreateSession(request: operations.CreateSessionRequest): Promise<Session> {
    return run(this.#env, 'getOrCreateSession', request);
  }

  /**
   * Deletes the session with its events, and its component state if `ComponentsModule` keeps any. A missing session is no error.
   * @example await sessions.deleteSession({ appName: 'shop', userId: 'ann', sessionId });
   */
  async deleteSession(request: operations.DeleteSessionRequest): Promise<void> {
    await run(this.#env, 'deleteSession', request);
  }

  /**
   * Follows the log, from now on or after a known event, with summaries and rewinds: each event exactly once. Throws `SessionNotFoundError`
   * when the session is deleted or expires. Ends when the caller stops, `signal` aborts or the service closes.
   * @example for await (const event of sessions.watch({ appName: 'shop', userId: 'ann', sessionId })) console.log(event.seq);
   */
  watch(request: operations.WatchSessionRequest): AsyncIterableIterator<operations.WatchedEvent> {
    return watchSession(this.#env, checkedRequest('watch', request));
  }

  /**
   * Hands each event of all sessions to a handler: at least once, in order within a session. Resolves when the consumer is stored.
   * @example const consumer = await sessions.consume({ name: 'mail', handler: ({ event }) => send(event) });
   */
  async consume(options: ConsumeOptions): Promise<SessionConsumer> {
    return runTracked('consume', () => this.consumers.consume(options), this.#env, options, undefined);
  }

  /**
   * Appends an event and updates `session`. Returns partial events unchanged. Safe to retry: the same event is stored once.
   * @example await sessions.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: { step: 2 } } } });
   */
  async appendEvent(request: operations.AppendEventRequest & { event: { partial: true } }): Promise<EventLike>;
  async appendEvent(request: operations.AppendEventRequest): Promise<LoggedEvent>;
  async appendEvent(request: operations.AppendEventRequest): Promise<EventLike> {
    if (checkedRequest('append', request).event?.partial === true) return request.event;
    return (await runOperation(this.#env, 'append', request)).event;
  }

  /**
   * Like {@link appendEvent}, and says whether the event had been stored before.
   * @example const { event, duplicate } = await sessions.append({ session, event: { id: 'order-7', author: 'agent' } });
   */
  async append(request: operations.AppendEventRequest): Promise<operations.AppendResult> {
    return run(this.#env, 'append', request);
  }

  /**
   * Appends several events, with consecutive numbers, or none. Updates `session`. Returns partial events unchanged in their place. A rewind
   * comes first, a summary alone. Safe to retry: if only some were stored before, it throws `EventConflictError`.
   * @example const stored = await sessions.appendEvents({ session, events: [call, response] });
   */
  async appendEvents(request: operations.AppendEventsRequest): Promise<LoggedEvent[]> {
    return (await this.appendBatch(request)).events;
  }

  /**
   * Like {@link appendEvents}, and says whether the events had been stored before.
   * @example const { events: stored, duplicate } = await sessions.appendBatch({ session, events });
   */
  async appendBatch(request: operations.AppendEventsRequest): Promise<operations.AppendEventsResult> {
    return run(this.#env, 'appendBatch', request);
  }

  /**
   * Saves the changes of `session.state`, as one event by author `system`.
   * @example await sessions.updateSession(session); // after session.state.step = 3
   */
  async updateSession(session: Session, options?: operations.UpdateSessionOptions): Promise<LoggedEvent | undefined> {
    return runOperation(this.#env, 'updateSession', session, options);
  }

  /**
   * Appends what `decide` makes of the session, and saves what it changes in the state. Decides again if others come first.
   * @example await sessions.change({ appName: 'shop', userId: 'ann', sessionId }, ({ state }) => void state.set('paid', true));
   */
  async change(request: operations.ChangeSessionRequest, decide: DecideChange): Promise<operations.ChangedSession> {
    return traced('change', changeSession, this.#env, checkedRequest('change', request), decide);
  }

  /**
   * Begins a turn: until it is over, no other request gets one. Throws `TurnHeldError` if the turn is held.
   * @example const turn = await sessions.beginTurn({ appName: 'shop', userId: 'ann', sessionId, ttlMs: 30_000 });
   */
  async beginTurn(request: operations.BeginTurnRequest): Promise<operations.Turn> {
    return run(this.#env, 'beginTurn', request);
  }

  /**
   * Lets a turn last longer. Throws `TurnLostError` if it is over.
   * @example await sessions.renewTurn(turn);
   */
  async renewTurn(turn: operations.RenewTurnRequest): Promise<operations.Turn> {
    return run(this.#env, 'renewTurn', turn);
  }

  /**
   * Ends a turn, so that the next one can begin immediately. Does nothing if it is over.
   * @example await sessions.endTurn(turn);
   */
  async endTurn(turn: operations.EndTurnRequest): Promise<void> {
    return run(this.#env, 'endTurn', turn);
  }

  /**
   * Returns who holds the turn of the session, or `undefined`.
   * @example const { holder, expiresAt } = (await sessions.getTurn({ appName: 'shop', userId: 'ann', sessionId })) ?? {};
   */
  async getTurn(request: SessionKey): Promise<operations.TurnHolder | undefined> {
    return run(this.#env, 'getTurn', request);
  }

  /**
   * Runs work in a turn, which it begins, renews and ends. Throws `TurnHeldError` if it is held, `TurnLostError` if it was lost.
   * @example await sessions.withTurn(key, async (turn) => sessions.appendEvent({ session, event: await ask(turn.signal), turn }));
   */
  async withTurn<Result>(request: operations.BeginTurnRequest, work: TurnWork<Result>): Promise<Result> {
    return traced('turn', withTurn<Result>, this.#env, checkedRequest('withTurn', request), work);
  }

  /**
   * Rewinds the session and its own state to a moment; the log keeps everything. Shared state and `serverOnly` keys stay.
   * @example await sessions.rewindSession({ appName: 'shop', userId: 'ann', sessionId, toSeq: 4 });
   */
  async rewindSession(request: operations.RewindSessionRequest): Promise<Session> {
    return run(this.#env, 'rewindSession', request);
  }

  /**
   * Replaces what an event says for good. It keeps its place, and a note of when and why. Safe to repeat.
   * @example const { alsoIn } = await sessions.redactEvent({ appName: 'shop', userId: 'ann', sessionId, seq: 4, reason: 'a card number' });
   */
  async redactEvent(request: operations.RedactEventRequest): Promise<operations.RedactedEvent> {
    return run(this.#env, 'redactEvent', request);
  }

  /**
   * Creates a session from the view and the own state of this one, now or earlier, but for `serverOnly` keys. Shared state stays shared.
   * @example const earlier = await sessions.forkSession({ appName: 'shop', userId: 'ann', sessionId, atSeq: 4, newSessionId: 'b' });
   */
  async forkSession(request: operations.ForkSessionRequest): Promise<Session> {
    return run(this.#env, 'forkSession', request);
  }

  /**
   * Reads the shared state of a user. Keys have no prefix `user:`.
   * @example const { theme } = await sessions.getUserState({ appName: 'shop', userId: 'ann' });
   */
  async getUserState(request: UserKey): Promise<Record<string, unknown>> {
    return run(this.#env, 'getUserState', request);
  }

  /**
   * Changes the shared state of a user, without a session.
   * @example await sessions.updateUserState({ appName: 'shop', userId: 'ann', stateDelta: { theme: 'dark' } });
   */
  async updateUserState(request: UserKey & operations.SharedStateChanges): Promise<Record<string, unknown>> {
    return run(this.#env, 'updateUserState', request);
  }

  /**
   * Reads the shared state of an app. Keys have no prefix `app:`.
   * @example const { currency } = await sessions.getAppState({ appName: 'shop' });
   */
  async getAppState(request: { appName: string }): Promise<Record<string, unknown>> {
    return run(this.#env, 'getAppState', request);
  }

  /**
   * Changes the shared state of an app, without a session.
   * @example await sessions.updateAppState({ appName: 'shop', stateDelta: { currency: 'EUR' } });
   */
  async updateAppState(request: { appName: string } & operations.SharedStateChanges): Promise<Record<string, unknown>> {
    return run(this.#env, 'updateAppState', request);
  }

  /**
   * Throws `BudgetExceededError` if a budget of the session, its user or its app is used up. `AgentSessions.run` calls it.
   * @example await sessions.checkBudget({ appName: 'shop', userId: 'ann', sessionId }); // before a model is asked
   */
  async checkBudget(request: operations.CheckBudgetRequest): Promise<void> {
    return run(this.#env, 'checkBudget', request);
  }

  /**
   * Removes all that the store has of a user, components and waiting work too. Cannot be undone. Call it again if it fails.
   * @example const { sessions: erased } = await sessions.eraseUser({ appName: 'shop', userId: 'ann' });
   */
  async eraseUser(request: EraseUserRequest): Promise<operations.ErasedUser> {
    return run(this.#env, 'eraseUser', request);
  }

  /**
   * Removes expired sessions and states in batches, and returns the counts.
   * @example const { sessions: removed } = await sessions.purgeExpired();
   */
  async purgeExpired(options?: PurgeOptions): Promise<PurgeCounts> {
    return runOperation(this.#env, 'purgeExpired', options);
  }

  /**
   * Waits for running operations and for background work after appends.
   * @example await sessions.whenIdle(); // all hooks after appends have run
   */
  async whenIdle(): Promise<void> {
    await this.#env.tasks.whenIdle();
  }

  /**
   * Ends all watches and waits for the work that runs now. Does not close the storage, and refuses no call.
   * @example await sessions.finish(); // the storage stays open
   */
  async finish(): Promise<void> {
    this.#env.shutdown.request();
    await this.#env.tasks.whileClosing(this.#env.tasks.whenDone());
  }

  /**
   * Calls {@link finish}, then closes the storage, which refuses later calls. Closing twice is safe.
   * @example process.once('SIGTERM', () => sessions.close());
   */
  async close(): Promise<void> {
    await this.finish();
    await this.#env.storage.close();
  }
}
