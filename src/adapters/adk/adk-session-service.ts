import {
  type AppendEventRequest,
  BaseSessionService,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type Event as AdkEvent,
  type GetSessionRequest,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type Runner,
  type Session as AdkSession,
} from '@google/adk';
import { checkOptions, fieldNames, requestCheck } from '../../adapter.js';
import { type HeldTurn, type Session, type SessionService, StatePrefix } from '../../index.js';
import { adkSession, storedEvent } from './adk-events.js';
import { listedSessions } from './listed-sessions.js';
import { plainCopy } from './plain-values.js';
import { type RunInTurnRequest, runInTurn } from './run-in-turn.js';
import { turnHeldBy } from './running-turns.js';

/** What an {@link AdkSessionService} needs. */
export interface AdkSessionServiceOptions {
  readonly sessions: SessionService;
  /**
   * Refuse an append with `StaleSessionError` if somebody else appended since the session object was loaded. Default `false`: both
   * are stored.
   */
  readonly refuseStale?: boolean | undefined;
}

const CREATE = fieldNames<CreateSessionRequest>({ appName: true, userId: true, sessionId: true, state: true });

/** Refuses a field in another spelling. What is passed on as it is, the sessions check. */
const checked = requestCheck({
  createSession: CREATE,
  getOrCreateSession: CREATE,
  listSessions: fieldNames<ListSessionsRequest>({
    appName: true,
    userId: true,
    limit: true,
    offset: true,
    page: true,
    order: true,
  }),
  runInTurn: fieldNames<Pick<RunInTurnRequest, 'waitMs' | 'ttlMs' | 'holder'>>({
    waitMs: true,
    ttlMs: true,
    holder: true,
  }),
});

/**
 * Keeps the sessions of Google's ADK in a {@link SessionService}: on every store, with one atomic commit for each event.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, sessionService: new AdkSessionService({ sessions }) });
 */
export class AdkSessionService extends BaseSessionService {
  readonly #sessions: SessionService;
  readonly #refuseStale: boolean;
  /** The last `seq` that each session object knows. */
  readonly #versions = new WeakMap<AdkSession, number>();
  /** The number of each event that a session object has, by its id. */
  readonly #numbers = new WeakMap<AdkSession, Map<string, number>>();
  /** The last append through each session object. */
  readonly #appends = new WeakMap<AdkSession, Promise<unknown>>();

  constructor(options: AdkSessionServiceOptions) {
    super();
    checkOptions('AdkSessionService', options, { sessions: 'object', refuseStale: 'flag?' });
    this.#sessions = options.sessions;
    this.#refuseStale = options.refuseStale ?? false;
  }

  override async createSession(request: CreateSessionRequest): Promise<AdkSession> {
    return this.#opened(await this.#sessions.createSession(withPlainState(checked('createSession', request))));
  }

  override async getSession(request: GetSessionRequest): Promise<AdkSession | undefined> {
    const session = await this.#sessions.getSession(request);
    return session && this.#opened(session);
  }

  /** Safe for concurrent callers. */
  override async getOrCreateSession(request: CreateSessionRequest): Promise<AdkSession> {
    return this.#opened(
      await this.#sessions.getOrCreateSession(withPlainState(checked('getOrCreateSession', request))),
    );
  }

  override async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    return listedSessions(this.#sessions, checked('listSessions', request));
  }

  override async deleteSession(request: DeleteSessionRequest): Promise<void> {
    await this.#sessions.deleteSession(request);
  }

  /**
   * Stores the event, and then adds it to the session object, as ADK does. Appends through one object are stored in the order of the
   * calls.
   */
  override appendEvent({ session, event }: AppendEventRequest): Promise<AdkEvent> {
    if (event.partial) return Promise.resolve(event);
    const before = this.#appends.get(session) ?? Promise.resolve();
    const append = before.then(() => this.#append(session, event));
    this.#appends.set(
      session,
      append.catch(() => undefined),
    );
    return append;
  }

  /**
   * Runs the agent in a turn of the session. Other messages wait for `waitMs`, in all processes, or fail with `TurnHeldError`. A run
   * that lost its turn stores nothing more.
   *
   * @example
   * for await (const event of service.runInTurn(runner, { userId, sessionId, newMessage, waitMs: 60_000 })) show(event);
   */
  runInTurn(runner: Runner, request: RunInTurnRequest): AsyncGenerator<AdkEvent, void, undefined> {
    return runInTurn(this.#sessions, this, runner, checked('runInTurn', request));
  }

  /**
   * The numbers in the log of the events that a session object has, by their ids.
   * @example const seq = service.numbersOf(session).get(event.id);
   */
  numbersOf(session: AdkSession): ReadonlyMap<string, number> {
    return this.#numbers.get(session) ?? new Map();
  }

  async #append(session: AdkSession, event: AdkEvent): Promise<AdkEvent> {
    const { id, appName, userId } = session;
    const temporary = Object.entries(event.actions?.stateDelta ?? {}).filter(([key]) =>
      key.startsWith(StatePrefix.TEMP_PREFIX),
    );
    const { event: stored } = await this.#sessions.append({
      session: { id, appName, userId },
      event: storedEvent(event),
      turn: this.#turnOf(session),
      expectedVersion: this.#refuseStale ? this.#versions.get(session) : undefined,
    });
    event.id ||= stored.id;
    this.#versions.set(session, stored.seq);
    this.#numbers.get(session)?.set(event.id, stored.seq);
    session.lastUpdateTime = Math.max(session.lastUpdateTime, stored.timestamp);
    const appended = await super.appendEvent({ session, event });
    // Agents that come later in this run see them.
    for (const [key, value] of temporary) session.state[key] = value;
    return appended;
  }

  #turnOf({ id, appName, userId }: AdkSession): HeldTurn | undefined {
    const turn = turnHeldBy(this);
    return turn?.sessionId === id && turn.appName === appName && turn.userId === userId ? turn : undefined;
  }

  #opened(session: Session): AdkSession {
    const opened = adkSession(session);
    this.#versions.set(opened, session.version);
    this.#numbers.set(opened, new Map(session.events.map(({ id, seq }) => [id, seq])));
    return opened;
  }
}

function withPlainState({ appName, userId, sessionId, state }: CreateSessionRequest): CreateSessionRequest {
  return { appName, userId, sessionId, state: state && (plainCopy(state) as Record<string, unknown>) };
}
