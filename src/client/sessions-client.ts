import type { EventInput, LoggedEvent } from '../sessions/domain/event.js';
import type { EventPage, ListEventsRequest } from '../sessions/operations/list-events.js';
import { ProblemError } from './problem-error.js';
import { type RequestOptions, Requests, type RequestsOptions } from './requests.js';
import { type EventStreamOptions, EventStream } from './event-stream.js';
import { checkedBody, eventBody } from './bodies.js';
import { appStateOf, sessionOf, sessionsOf, userStateOf } from './paths.js';
import type { GetSessionConfig } from '../sessions/domain/narrowing.js';
import type {
  AppendRequest,
  CreateRequest,
  RemoteAppend,
  RemoteKey,
  RemoteListRequest,
  RemoteOwner,
  RemotePage,
  RemoteSession,
  RemoteSummary,
  State,
  StateChange,
  SummaryListRequest,
  SummaryRequest,
} from './remote-types.js';
import { RemoteSummaries } from './summaries.js';

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
export class SessionsClient {
  readonly #requests: Requests;
  readonly #summaries: RemoteSummaries;

  constructor(options: RequestsOptions) {
    this.#requests = new Requests(options);
    this.#summaries = new RemoteSummaries(this.#requests);
  }

  /** Creates a session; with an id of one's own it may be asked for again after a lost answer. */
  async createSession({ sessionId, state, ...owner }: CreateRequest): Promise<RemoteSession> {
    return this.#send('POST', sessionsOf(owner), { body: checkedBody({ sessionId, state }) });
  }

  /** The session of this id, created if there is none yet; safe for many callers at once. */
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

  /** The session with its view, or `undefined` if there is none. */
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

  /** A page of a user's sessions, newest update first, without events. */
  async listSessions({ appName, userId, ...how }: RemoteListRequest): Promise<RemotePage> {
    const { limit, cursor, order, orderBy, page, offset } = how;
    const query = { limit, cursor, order, orderBy, page, offset };
    return this.#send('GET', sessionsOf({ appName, userId }), { query, isRepeatable: true });
  }

  async deleteSession(key: RemoteKey): Promise<void> {
    await this.#send('DELETE', sessionOf(key), { isRepeatable: true });
  }

  /** A page of the whole log, rewound and summarised events included. */
  async listEvents({ limit, cursor, order, afterSeq, beforeSeq, ...key }: ListEventsRequest): Promise<EventPage> {
    const query = { limit, cursor, order, afterSeq, beforeSeq };
    return this.#send('GET', `${sessionOf(key)}/events`, { query, isRepeatable: true });
  }

  /** Appends an event, once, however often it has to be sent. A partial event is handed back, and not sent at all. */
  async appendEvent(request: AppendRequest & { event: { partial: true } }): Promise<EventInput>;
  async appendEvent(request: AppendRequest): Promise<LoggedEvent>;
  async appendEvent(request: AppendRequest): Promise<EventInput> {
    if (request.event?.partial === true) return request.event;
    return (await this.append(request)).event;
  }

  /** Like {@link appendEvent}, for whoever wants to know whether the event had been stored before. */
  async append({ event, expectedVersion, ...key }: AppendRequest): Promise<RemoteAppend> {
    const path = `${sessionOf(key)}/events`;
    const options = { body: eventBody(event), headers: conditionOf(expectedVersion), isRepeatable: true };
    const { headers, body } = await this.#requests.answer('POST', path, options);
    return { event: body as LoggedEvent, duplicate: headers.get('idempotent-replayed') === 'true' };
  }

  async getState(key: RemoteKey): Promise<State> {
    return this.#send('GET', `${sessionOf(key)}/state`, { isRepeatable: true });
  }

  /** Changes the state that a session sees, in all scopes, by one event. */
  async updateState({ stateDelta, stateRemovals, ...key }: RemoteKey & StateChange): Promise<LoggedEvent> {
    return this.appendEvent({
      ...key,
      event: {
        author: 'system',
        actions: { ...(stateDelta && { stateDelta }), ...(stateRemovals && { stateRemovals: [...stateRemovals] }) },
      },
    });
  }

  async rewindSession({
    toSeq,
    invocationId,
    expectedVersion,
    ...key
  }: RemoteKey & { toSeq?: number; invocationId?: string; expectedVersion?: number }): Promise<RemoteSession> {
    const options = { body: { toSeq, invocationId }, headers: conditionOf(expectedVersion) };
    return this.#send('POST', `${sessionOf(key)}/rewind`, options);
  }

  async forkSession({
    atSeq,
    newSessionId,
    ...key
  }: RemoteKey & { atSeq?: number; newSessionId?: string }): Promise<RemoteSession> {
    return this.#send('POST', `${sessionOf(key)}/fork`, { body: { atSeq, newSessionId } });
  }

  /** What all sessions of a user share; keys without the prefix `user:`. */
  async getUserState(owner: RemoteOwner): Promise<State> {
    return this.#send('GET', userStateOf(owner), { isRepeatable: true });
  }

  async updateUserState({ stateDelta, stateRemovals, ...owner }: RemoteOwner & StateChange): Promise<State> {
    return this.#send('PATCH', userStateOf(owner), { body: checkedBody({ stateDelta, stateRemovals }) });
  }

  /** What all sessions of an app share; keys without the prefix `app:`. */
  async getAppState(owner: { appName: string }): Promise<State> {
    return this.#send('GET', appStateOf(owner), { isRepeatable: true });
  }

  async updateAppState({ stateDelta, stateRemovals, ...owner }: { appName: string } & StateChange): Promise<State> {
    return this.#send('PATCH', appStateOf(owner), { body: checkedBody({ stateDelta, stateRemovals }) });
  }

  /** The summary that readers of a session see, if there is one. */
  async getSummary(key: RemoteKey): Promise<RemoteSummary | undefined> {
    return this.#summaries.get(key);
  }

  /** Summarises a session now, if that is due or `force` says so; `undefined` where there was nothing to do. */
  async createSummary(request: SummaryRequest): Promise<RemoteSummary | undefined> {
    return this.#summaries.create(request);
  }

  /** The summaries that the log keeps, oldest first; those after a full page are asked for by `afterSeq`. */
  async listSummaries(request: SummaryListRequest): Promise<RemoteSummary[]> {
    return this.#summaries.list(request);
  }

  /** Events as they come, after `afterSeq`; connections that break are made again, and none is lost or comes twice. */
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
