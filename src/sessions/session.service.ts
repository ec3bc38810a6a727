import { asked } from './domain/asked.js';
import type { EventInput, LoggedEvent } from './domain/event.js';
import { type SessionKey, checkedSessionKey } from './domain/ids.js';
import type { Session } from './domain/session.js';
import { type AppendEventRequest, appendEvent } from './operations/append-event.js';
import type { AppendResult } from './operations/appending.js';
import { type CreateSessionRequest, createSession } from './operations/create-session.js';
import { type ForkSessionRequest, forkSession } from './operations/fork-session.js';
import { type GetSessionRequest, getOrCreateSession, getSession } from './operations/get-session.js';
import { type EventPage, type ListEventsRequest, listEvents } from './operations/list-events.js';
import { type ListSessionsRequest, type SessionPage, listSessions } from './operations/list-sessions.js';
import { type PurgeOptions, purgeExpired } from './operations/purge-expired.js';
import { type RewindSessionRequest, rewindSession } from './operations/rewind-session.js';
import { type UpdateSessionOptions, updateSession } from './operations/update-session.js';
import { SessionWatch, type WatchSessionRequest } from './operations/watch-session.js';
import { type SessionEnvironment, type SessionServiceOptions, announce, environmentOf } from './session-environment.js';
import { SessionHooks } from './session-hooks.js';
import { SharedStateService } from './shared-state.service.js';
import type { PurgeCounts } from './storage/session-storage.js';

/**
 * Keeps the conversations of agents: an append-only log of events for each session, and state in four
 * scopes. One service for every store.
 *
 * @example
 * const sessions = new SessionService({ storage: new InMemorySessionStorage() });
 * const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
 * const event = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };
 * await sessions.appendEvent({ session, event });
 */
export class SessionService extends SharedStateService {
  readonly hooks: SessionHooks;
  readonly #env: SessionEnvironment;

  constructor(options: SessionServiceOptions) {
    const hooks = new SessionHooks();
    const env = environmentOf(options, hooks);
    super(env);
    this.hooks = hooks;
    this.#env = env;
  }

  /**
   * Creates a session. A live session of the same id is left alone: `SessionExistsError`.
   * @example await sessions.createSession({ appName: 'shop', userId: 'ann', state: { step: 1, 'user:theme': 'dark' } });
   */
  async createSession(request: CreateSessionRequest): Promise<Session> {
    return this.#run(createSession(this.#env, asked(request)));
  }

  /**
   * The session with its view of the conversation, or `undefined` if there is none.
   * @example await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId, config: { numRecentEvents: 20 } });
   */
  async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    return this.#run(getSession(this.#env, asked(request)));
  }

  /**
   * The session of this id, created if there is none yet; safe for many callers at once.
   * @example const session = await sessions.getOrCreateSession({ appName: 'shop', userId: 'ann', sessionId: 'cart' });
   */
  async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    return this.#run(getOrCreateSession(this.#env, asked(request)));
  }

  /**
   * A page of a user's sessions, or of all sessions of an app: newest update first, without events.
   * @example const { sessions: page, nextCursor } = await sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 20 });
   */
  async listSessions(request: ListSessionsRequest): Promise<SessionPage> {
    return this.#run(listSessions(this.#env, asked(request)));
  }

  /**
   * Deletes the session with its events; shared state stays. A missing session is no error.
   * @example await sessions.deleteSession({ appName: 'shop', userId: 'ann', sessionId });
   */
  async deleteSession(request: SessionKey): Promise<void> {
    const key = checkedSessionKey(asked(request));
    await this.#run(this.#env.storage.delete(key));
    announce(this.#env, key);
  }

  /**
   * A page of the whole log, rewound and summarised events included.
   * @example const { events, nextCursor } = await sessions.listEvents({ appName: 'shop', userId: 'ann', sessionId });
   */
  async listEvents(request: ListEventsRequest): Promise<EventPage> {
    return this.#run(listEvents(this.#env, asked(request)));
  }

  /**
   * The events of the log as they come, from now on or after one that is known, summaries and rewinds included: none
   * is left out, none comes twice. Ends by `SessionNotFoundError` when the session is gone, and quietly when the caller
   * stops, `signal` is aborted or the service is closed.
   *
   * @example
   * for await (const event of sessions.watch({ appName: 'shop', userId: 'ann', sessionId, afterSeq: session.version })) {
   *   console.log(event.seq, event.author);
   * }
   */
  watch(request: WatchSessionRequest): AsyncIterableIterator<LoggedEvent> {
    return new SessionWatch(this.#env, asked(request));
  }

  /**
   * Appends an event and brings `session` up to date. Partial events are handed back untouched. Safe to
   * repeat: the same event id with the same content is stored once.
   *
   * @example
   * const event = { author: 'agent', actions: { stateDelta: { step: 2 } } };
   * const stored = await sessions.appendEvent({ session, event, expectedVersion: session.version });
   */
  async appendEvent(request: AppendEventRequest & { event: { partial: true } }): Promise<EventInput>;
  async appendEvent(request: AppendEventRequest): Promise<LoggedEvent>;
  async appendEvent(request: AppendEventRequest): Promise<EventInput> {
    if (asked(request).event?.partial === true) return request.event;
    return (await this.append(request)).event;
  }

  /**
   * Like {@link appendEvent}, for whoever wants to know whether the event had been stored before.
   * @example const { event, duplicate } = await sessions.append({ session, event: { id: 'order-7', author: 'agent' } });
   */
  async append(request: AppendEventRequest): Promise<AppendResult> {
    return this.#run(appendEvent(this.#env, asked(request)));
  }

  /**
   * Saves what was changed in `session.state`, as one event by author `system`.
   * @example
   * session.state.step = 3;
   * await sessions.updateSession(session);
   */
  async updateSession(session: Session, options?: UpdateSessionOptions): Promise<LoggedEvent | undefined> {
    return this.#run(updateSession(this.#env, session, options));
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
    return this.#run(rewindSession(this.#env, asked(request)));
  }

  /**
   * Makes a new session of what this one shows, or showed at a moment, with the state of its own that it had then; shared
   * state stays shared. The two go their own ways from there.
   *
   * @example
   * const earlier = await sessions.forkSession({ appName: 'shop', userId: 'ann', sessionId, atSeq: 4, newSessionId: 'b' });
   */
  async forkSession(request: ForkSessionRequest): Promise<Session> {
    return this.#run(forkSession(this.#env, asked(request)));
  }

  /**
   * Removes what expired, in batches; says how much it was.
   * @example const { sessions: removed } = await sessions.purgeExpired();
   */
  async purgeExpired(options?: PurgeOptions): Promise<PurgeCounts> {
    return this.#run(purgeExpired(this.#env, options));
  }

  /**
   * Waits until nothing is under way: operations, and what follows appends.
   * @example await sessions.whenIdle(); // all hooks after appends have run
   */
  async whenIdle(): Promise<void> {
    await this.#env.running.finished();
  }

  /**
   * Ends every watch and finishes what is under way, for whoever closes the storage elsewhere.
   * @example await sessions.finish(); // the storage stays open
   */
  async finish(): Promise<void> {
    this.#env.closing.begin();
    await this.whenIdle();
  }

  /**
   * Finishes, then closes the storage. A second close does nothing.
   * @example process.once('SIGTERM', () => sessions.close());
   */
  async close(): Promise<void> {
    await this.finish();
    await this.#env.storage.close();
  }

  #run<Result>(operation: Promise<Result>): Promise<Result> {
    return this.#env.running.track(operation);
  }
}
