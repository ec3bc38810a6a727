import type { EventInput, LoggedEvent } from '../sessions/domain/event.js';
import type { EventPage, ListEventsRequest } from '../sessions/operations/list-events.js';
import { ProblemError } from './problem-error.js';
import { type RequestOptions, Requests, type RequestsOptions } from './requests.js';
import { type EventStreamOptions, EventStream } from './event-stream.js';
import { checkedBody, eventBody } from './bodies.js';
import { sessionOf, sessionsOf } from './paths.js';
import type { GetSessionConfig } from '../sessions/domain/narrowing.js';
import type {
  AppendRequest,
  CreateRequest,
  RemoteAppend,
  RemoteKey,
  RemoteListRequest,
  RemotePage,
  RemoteSession,
  State,
  StateChange,
} from './remote-types.js';
import { SummariesClient } from './summaries-client.js';

/**
 * Sessions over the routes of `SessionsRestModule`, for browsers and Node: nothing but `fetch`. What may be
 * sent again is sent again; an append keeps its event id, so it is stored once.
 *
 * @example
 * const client = new SessionsClient({ url: 'http://localhost:3000' });
 * const session = await client.createSession({ appName: 'shop', userId: 'ann' });
 * await client.appendEvent({ ...key, event: { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } } });
 * for await (const event of client.watch({ ...key, afterSeq: 0 })) console.log(event.seq, event.author);
 */
export class SessionsClient extends SummariesClient {
  readonly #requests: Requests;

  constructor(options: RequestsOptions) {
    const requests = new Requests(options);
    super(requests);
    this.#requests = requests;
  }

  /**
   * Creates a session; with an id of one's own it may be asked for again after a lost answer.
   * @example const session = await client.createSession({ appName: 'shop', userId: 'ann', state: { step: 1 } });
   */
  async createSession({ sessionId, state, ...owner }: CreateRequest): Promise<RemoteSession> {
    return this.#send('POST', sessionsOf(owner), { body: checkedBody({ sessionId, state }) });
  }

  /**
   * The session of this id, created if there is none yet; safe for many callers at once.
   * @example const session = await client.getOrCreateSession({ appName: 'shop', userId: 'ann', sessionId: 'cart' });
   */
  async getOrCreateSession({ appName, userId, sessionId, state }: CreateRequest): Promise<RemoteSession> {
    if (sessionId === undefined || sessionId.trim() === '') return this.createSession({ appName, userId, state });
    // A copy, since it is sent only after an answer.
    const body = checkedBody({ state });
    for (;;) {
      const found = await this.getSession({ appName, userId, sessionId });
      if (found) return found;
      try {
        return await this.createSession({ appName, userId, sessionId, ...body });
      } catch (error) {
        if (!(error instanceof ProblemError) || error.code !== 'SESSION_EXISTS') throw error;
      }
    }
  }

  /**
   * The session with its view, or `undefined` if there is none.
   * @example const session = await client.getSession({ ...key, numRecentEvents: 20 });
   */
  async getSession({
    numRecentEvents,
    afterTimestamp,
    afterSeq,
    ...key
  }: RemoteKey & GetSessionConfig): Promise<RemoteSession | undefined> {
    try {
      const query = { numRecentEvents, afterTimestamp, afterSeq };
      return await this.#send('GET', sessionOf(key), { query, isRepeatable: true });
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'SESSION_NOT_FOUND') return undefined;
      throw error;
    }
  }

  /**
   * A page of a user's sessions, newest update first, without events.
   * @example const { sessions, nextCursor } = await client.listSessions({ appName: 'shop', userId: 'ann', limit: 20 });
   */
  async listSessions({ appName, userId, ...how }: RemoteListRequest): Promise<RemotePage> {
    const { limit, cursor, order, orderBy, page, offset } = how;
    const query = { limit, cursor, order, orderBy, page, offset };
    return this.#send('GET', sessionsOf({ appName, userId }), { query, isRepeatable: true });
  }

  /** Deletes the session with its events; shared state stays. A missing session is no error. */
  async deleteSession(key: RemoteKey): Promise<void> {
    await this.#send('DELETE', sessionOf(key), { isRepeatable: true });
  }

  /**
   * A page of the whole log, rewound and summarised events included.
   * @example const { events } = await client.listEvents({ ...key, order: 'desc', limit: 10 });
   */
  async listEvents({ limit, cursor, order, afterSeq, beforeSeq, ...key }: ListEventsRequest): Promise<EventPage> {
    const query = { limit, cursor, order, afterSeq, beforeSeq };
    return this.#send('GET', `${sessionOf(key)}/events`, { query, isRepeatable: true });
  }

  /**
   * Appends an event, once, however often it has to be sent. A partial event is handed back, and not sent at all.
   * @example const stored = await client.appendEvent({ ...key, event, expectedVersion: session.version });
   */
  async appendEvent(request: AppendRequest & { event: { partial: true } }): Promise<EventInput>;
  async appendEvent(request: AppendRequest): Promise<LoggedEvent>;
  async appendEvent(request: AppendRequest): Promise<EventInput> {
    if (request.event?.partial === true) return request.event;
    return (await this.append(request)).event;
  }

  /**
   * Like {@link appendEvent}, for whoever wants to know whether the event had been stored before.
   * @example const { event: stored, duplicate } = await client.append({ ...key, event });
   */
  async append({ event, expectedVersion, ...key }: AppendRequest): Promise<RemoteAppend> {
    const path = `${sessionOf(key)}/events`;
    const options = { body: eventBody(event), headers: conditionOf(expectedVersion), isRepeatable: true };
    const { headers, body } = await this.#requests.answer('POST', path, options);
    return { event: body as LoggedEvent, duplicate: headers.get('idempotent-replayed') === 'true' };
  }

  /** All state that the session sees, keys with the prefixes of their scopes. */
  async getState(key: RemoteKey): Promise<State> {
    return this.#send('GET', `${sessionOf(key)}/state`, { isRepeatable: true });
  }

  /**
   * Changes the state that a session sees, in all scopes, by one event.
   * @example await client.updateState({ ...key, stateDelta: { step: 2 }, stateRemovals: ['draft'] });
   */
  async updateState({ stateDelta, stateRemovals, ...key }: RemoteKey & StateChange): Promise<LoggedEvent> {
    return this.appendEvent({
      ...key,
      event: {
        author: 'system',
        actions: { ...(stateDelta && { stateDelta }), ...(stateRemovals && { stateRemovals: [...stateRemovals] }) },
      },
    });
  }

  /**
   * Takes the session back to a moment, with its own state; `toSeq` or `invocationId` says to which.
   * @example const session = await client.rewindSession({ ...key, toSeq: 4 });
   */
  async rewindSession({
    toSeq,
    invocationId,
    expectedVersion,
    ...key
  }: RemoteKey & { toSeq?: number; invocationId?: string; expectedVersion?: number }): Promise<RemoteSession> {
    const options = { body: { toSeq, invocationId }, headers: conditionOf(expectedVersion) };
    return this.#send('POST', `${sessionOf(key)}/rewind`, options);
  }

  /**
   * Makes a new session of what this one shows, or showed at a moment.
   * @example const fork = await client.forkSession({ ...key, atSeq: 4, newSessionId: 'b' });
   */
  async forkSession({
    atSeq,
    newSessionId,
    ...key
  }: RemoteKey & { atSeq?: number; newSessionId?: string }): Promise<RemoteSession> {
    return this.#send('POST', `${sessionOf(key)}/fork`, { body: { atSeq, newSessionId } });
  }

  /**
   * Events as they come, after `afterSeq`; connections that break are made again, and none is lost or comes twice.
   * @example for await (const event of client.watch({ ...key, afterSeq: session.version })) show(event);
   */
  watch({ afterSeq, signal, silenceMs, ...key }: RemoteKey & EventStreamOptions): AsyncIterableIterator<LoggedEvent> {
    return new EventStream(this.#requests, () => `${sessionOf(key)}/events`, { afterSeq, signal, silenceMs });
  }

  async #send<Answer>(method: string, path: string, options: RequestOptions): Promise<Answer> {
    return (await this.#requests.json(method, path, options)) as Answer;
  }
}

function conditionOf(expectedVersion: number | undefined): Record<string, string> {
  return expectedVersion === undefined ? {} : { 'If-Match': `"${String(expectedVersion)}"` };
}
