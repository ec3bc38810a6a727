import type { EventInput, LoggedEvent } from '../sessions/domain/event/event.js';
import { isBlank } from '../sessions/domain/values/ids.js';
import type {
  StateAtMoment,
  StateAtRequest,
  StateChangePage,
  StateChangesRequest,
  WatchedEvent,
} from '../sessions/operations/state-history.js';
import type { RedactEventRequest, RedactedEvent } from '../sessions/operations/redact-event.js';
import type { GetUsageRequest, UsageReport } from '../sessions/operations/get-usage.js';
import type { EndTurnRequest, RenewTurnRequest, Turn, TurnHolder } from '../sessions/operations/turns.js';
import { ProblemError } from './problem-error.js';
import { Requests, type RequestsOptions, pause } from './requests.js';
import { EventStream } from './event-stream.js';
import { appStatePath, listPath, sessionPath, sessionsPath, turnPath, usagePath, userStatePath } from './paths.js';
import { checkedBody, conditionOf, eventBodies, eventBody, listQuery, turnHeaders } from './request-parts.js';
import { LogClient } from './log-client.js';
import type { GetSessionConfig } from '../sessions/domain/view/view-config.js';
import type {
  AppendBatchRequest,
  AppendRequest,
  BeginTurn,
  CreateRequest,
  RemoteAppend,
  RemoteBatch,
  RemoteKey,
  RemoteListRequest,
  RemoteOwner,
  RemotePage,
  RemoteSession,
  RewindRequest,
  State,
  StateChange,
  UpdateStateRequest,
  WatchRequest,
} from './remote-types.js';

/** How often `getOrCreateSession` looks again for a session that is there. */
const MOST_LOOKS = 4;

/**
 * A client for the routes of `SessionsRestModule`, `SummarizerRestModule`, `SearchRestModule` and `AgentsRestModule`, in browsers and Node. It needs only `fetch`.
 * It retries requests that are safe to repeat. An append keeps its event id across retries, so the event is stored once.
 *
 * @example
 * const client = new SessionsClient({ url: 'http://localhost:3000' });
 * const session = await client.createSession({ appName: 'shop', userId: 'ann' });
 * await client.appendEvent({ ...key, event: { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } } });
 * for await (const event of client.watch({ ...key, afterSeq: 0 })) console.log(event.seq, event.author);
 */
export class SessionsClient extends LogClient {
  readonly #requests: Requests;

  constructor(options: RequestsOptions) {
    const requests = new Requests(options);
    super(requests);
    this.#requests = requests;
  }

  /**
   * Creates a session. Choose the `sessionId` yourself if you want to look for the session after a lost response.
   * @example const session = await client.createSession({ appName: 'shop', userId: 'ann', state: { step: 1 } });
   */
  async createSession({ sessionId, state, metadata, turnsOnly, ...owner }: CreateRequest): Promise<RemoteSession> {
    return this.#requests.json('POST', sessionsPath(owner), {
      body: checkedBody({ sessionId, state, metadata, turnsOnly }),
    });
  }

  /**
   * Returns the session with this id, and creates it if it does not exist. Safe with concurrent callers.
   * @example const session = await client.getOrCreateSession({ appName: 'shop', userId: 'ann', sessionId: 'cart' });
   */
  async getOrCreateSession({ sessionId, state, metadata, turnsOnly, ...owner }: CreateRequest): Promise<RemoteSession> {
    if (sessionId === undefined || isBlank(sessionId)) {
      return this.createSession({ ...owner, state, metadata, turnsOnly });
    }
    // Copied now: the caller may change the state before it is sent.
    const body = checkedBody({ state, metadata, turnsOnly });
    for (let tries = 1; ; tries++) {
      const found = await this.getSession({ ...owner, sessionId });
      if (found) return found;
      try {
        return await this.createSession({ ...owner, sessionId, ...body });
      } catch (error) {
        // A rule may let nobody read what is there, each time.
        const isThere = error instanceof ProblemError && error.code === 'SESSION_EXISTS';
        if (!isThere || tries > MOST_LOOKS) throw error;
        if (tries > 1) await pause(tries - 1);
      }
    }
  }

  /**
   * Returns the session with its view, or `undefined` if it does not exist.
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
      return await this.#requests.json('GET', sessionPath(key), { query, isRepeatable: true });
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'SESSION_NOT_FOUND') return undefined;
      throw error;
    }
  }

  /**
   * Lists sessions without their events, last updated first: of a user, or of the whole app without `userId`.
   * @example const { sessions, nextCursor } = await client.listSessions({ appName: 'shop', userId: 'ann', limit: 20 });
   * @example const { sessions } = await client.listSessions({ appName: 'shop', filter: { status: 'open', tags: ['vip'] } });
   */
  async listSessions(request: RemoteListRequest): Promise<RemotePage> {
    const query = listQuery(request);
    return this.#requests.json('GET', listPath(request), { query, isRepeatable: true });
  }

  /** Deletes the session and its events. Shared state stays. A missing session is not an error. */
  async deleteSession(key: RemoteKey): Promise<void> {
    await this.#requests.json('DELETE', sessionPath(key), { isRepeatable: true });
  }

  /**
   * Appends an event exactly once, also across retries. A partial event is returned and not sent.
   * @example const stored = await client.appendEvent({ ...key, event, expectedVersion: session.version });
   */
  async appendEvent(request: AppendRequest & { event: { partial: true } }): Promise<EventInput>;
  async appendEvent(request: AppendRequest): Promise<LoggedEvent>;
  async appendEvent(request: AppendRequest): Promise<EventInput> {
    if (request.event?.partial === true) return request.event;
    return (await this.append(request)).event;
  }

  /**
   * Like {@link appendEvent}, and also returns whether the event was already stored.
   * @example const { event: stored, duplicate } = await client.append({ ...key, event });
   */
  async append({ event, expectedVersion, turn, endTurn, ...key }: AppendRequest): Promise<RemoteAppend> {
    const path = `${sessionPath(key)}/events`;
    const headers = { ...conditionOf(expectedVersion), ...turnHeaders(turn, endTurn) };
    const options = { body: eventBody(event), headers, isRepeatable: true };
    const response = await this.#requests.request('POST', path, options);
    return { event: response.body as LoggedEvent, duplicate: response.headers.get('idempotent-replayed') === 'true' };
  }

  /**
   * Appends several events exactly once, also across retries: all or none. Partial events are returned and not sent.
   * @example const stored = await client.appendEvents({ ...key, events: [call, answer], expectedVersion: session.version });
   */
  async appendEvents(request: AppendBatchRequest): Promise<LoggedEvent[]> {
    return (await this.appendBatch(request)).events;
  }

  /**
   * Like {@link appendEvents}, and also says whether the events were already stored.
   * @example const { events: stored, duplicate } = await client.appendBatch({ ...key, events });
   */
  async appendBatch({ events, expectedVersion, turn, endTurn, ...key }: AppendBatchRequest): Promise<RemoteBatch> {
    const path = `${sessionPath(key)}/events/batch`;
    const bodies = eventBodies(events);
    const partials = events.map((event) => (event.partial === true ? event : undefined));
    const conditions = { ...conditionOf(expectedVersion), ...turnHeaders(turn, endTurn) };
    const options = { body: { events: bodies }, headers: conditions, isRepeatable: true };
    const { headers, body } = await this.#requests.request('POST', path, options);
    const stored = [...(body as RemoteBatch).events];
    const merged = partials.map((partial) => (partial ?? stored.shift()) as LoggedEvent);
    return { events: merged, duplicate: headers.get('idempotent-replayed') === 'true' };
  }

  /** Returns all state that the session sees. Keys have the prefixes of their scopes. */
  async getState(key: RemoteKey): Promise<State> {
    return this.#requests.json('GET', `${sessionPath(key)}/state`, { isRepeatable: true });
  }

  /**
   * Changes state in any scope with one event.
   * @example await client.updateState({ ...key, stateDelta: { step: 2 }, stateRemovals: ['draft'], expectedVersion: session.version });
   */
  async updateState({ stateDelta, stateRemovals, ...append }: UpdateStateRequest): Promise<LoggedEvent> {
    return this.appendEvent({
      ...append,
      event: {
        author: 'system',
        actions: { ...(stateDelta && { stateDelta }), ...(stateRemovals && { stateRemovals: [...stateRemovals] }) },
      },
    });
  }

  /**
   * Returns the session's state as it was after an event.
   * @example const { state } = await client.stateAt({ ...key, seq: 4 });
   */
  async stateAt({ seq, minSeq, ...key }: StateAtRequest): Promise<StateAtMoment> {
    return this.#requests.json('GET', `${sessionPath(key)}/state/at`, { query: { seq, minSeq }, isRepeatable: true });
  }

  /**
   * Returns a page of what changed which state key. A page may be empty and have a next one.
   * @example const { changes } = await client.stateChanges({ ...key, key: 'step' });
   */
  async stateChanges({ key, afterSeq, limit, cursor, minSeq, ...ids }: StateChangesRequest): Promise<StateChangePage> {
    const query = { key, afterSeq, limit, cursor, minSeq };
    return this.#requests.json('GET', `${sessionPath(ids)}/state/changes`, { query, isRepeatable: true });
  }

  /**
   * Rewinds the session and its own state to `toSeq`, or to before `invocationId`.
   * @example const session = await client.rewindSession({ ...key, toSeq: 4 });
   */
  async rewindSession({ toSeq, invocationId, expectedVersion, turn, ...key }: RewindRequest): Promise<RemoteSession> {
    const headers = { ...conditionOf(expectedVersion), ...turnHeaders(turn) };
    return this.#requests.json('POST', `${sessionPath(key)}/rewind`, { body: { toSeq, invocationId }, headers });
  }

  /**
   * Replaces what an event says for good. Access rules for clients refuse it unless they name the control `redact`.
   * @example const { alsoIn } = await client.redactEvent({ ...key, seq: 4, reason: 'a card number' });
   */
  async redactEvent({ seq, reason, state, turn, ...key }: RedactEventRequest): Promise<RedactedEvent> {
    const options = { body: { seq, reason, state }, headers: turnHeaders(turn), isRepeatable: true };
    return this.#requests.json('POST', `${sessionPath(key)}/redaction`, options);
  }

  /**
   * Begins a turn, so that writes with it are refused once another writer has taken over.
   * @example
   * const turn = await client.beginTurn({ ...key, holder: 'worker-7' });
   * await client.appendEvent({ ...key, event, turn, endTurn: true });
   */
  async beginTurn({ holder, ttlMs, requestId = crypto.randomUUID(), ...key }: BeginTurn): Promise<Turn> {
    return this.#requests.json('POST', turnPath(key), { body: { holder, ttlMs, requestId }, isRepeatable: true });
  }

  /**
   * Lets a turn last longer.
   * @example await client.renewTurn(turn);
   */
  async renewTurn({ token, ttlMs, ...key }: RenewTurnRequest): Promise<Turn> {
    const options = { body: { ttlMs }, headers: turnHeaders(token), isRepeatable: true };
    return this.#requests.json('PATCH', turnPath(key), options);
  }

  /**
   * Ends a turn. It is no error if the turn is over.
   * @example await client.endTurn(turn);
   */
  async endTurn({ token, ...key }: EndTurnRequest): Promise<void> {
    await this.#requests.json('DELETE', turnPath(key), { headers: turnHeaders(token), isRepeatable: true });
  }

  /** Returns who holds the turn of the session, or `undefined`. */
  async getTurn(key: RemoteKey): Promise<TurnHolder | undefined> {
    return this.#requests.json('GET', turnPath(key), { isRepeatable: true });
  }

  /**
   * Creates a session from this one, as it is or as it was after `atSeq`.
   * @example const fork = await client.forkSession({ ...key, atSeq: 4, newSessionId: 'b' });
   */
  async forkSession({
    atSeq,
    newSessionId,
    ...key
  }: RemoteKey & { atSeq?: number; newSessionId?: string }): Promise<RemoteSession> {
    return this.#requests.json('POST', `${sessionPath(key)}/fork`, { body: { atSeq, newSessionId } });
  }

  /**
   * Returns the state that all sessions of a user share. Keys have no `user:` prefix.
   * @example const { theme } = await client.getUserState({ appName: 'shop', userId: 'ann' });
   */
  async getUserState(owner: RemoteOwner): Promise<State> {
    return this.#requests.json('GET', userStatePath(owner), { isRepeatable: true });
  }

  /**
   * Changes the state that all sessions of a user share, and returns all of it.
   * @example await client.updateUserState({ appName: 'shop', userId: 'ann', stateDelta: { theme: 'dark' } });
   */
  async updateUserState({ stateDelta, stateRemovals, ...owner }: RemoteOwner & StateChange): Promise<State> {
    return this.#requests.json('PATCH', userStatePath(owner), { body: checkedBody({ stateDelta, stateRemovals }) });
  }

  /**
   * Returns the state that all sessions of an app share. Keys have no `app:` prefix.
   * @example const { currency } = await client.getAppState({ appName: 'shop' });
   */
  async getAppState(owner: { appName: string }): Promise<State> {
    return this.#requests.json('GET', appStatePath(owner), { isRepeatable: true });
  }

  /**
   * Changes the state that all sessions of an app share, and returns all of it.
   * @example await client.updateAppState({ appName: 'shop', stateDelta: { currency: 'EUR' } });
   */
  async updateAppState({ stateDelta, stateRemovals, ...owner }: { appName: string } & StateChange): Promise<State> {
    return this.#requests.json('PATCH', appStatePath(owner), { body: checkedBody({ stateDelta, stateRemovals }) });
  }

  /**
   * Returns the tokens that a session, a user or an app used, and what they cost.
   * @example const { total } = await client.getUsage({ appName: 'shop', userId: 'ann', period: 'month' });
   */
  async getUsage({ period, ...owner }: GetUsageRequest): Promise<UsageReport> {
    return this.#requests.json('GET', usagePath(owner), { query: { period }, isRepeatable: true });
  }

  /**
   * Streams events after `afterSeq` as they are appended. Reconnects when a connection breaks, without losing or repeating an
   * event. With `stateDeltas`, each event has its `statePatch`. With `partials`, also what running agents say.
   * @example for await (const event of client.watch({ ...key, afterSeq: session.version })) show(event);
   */
  watch(request: WatchRequest): AsyncIterableIterator<WatchedEvent> {
    // It is read whenever the stream connects, and the caller may change it.
    const asked = { ...request };
    return new EventStream(this.#requests, () => `${sessionPath(asked)}/events`, asked);
  }
}
