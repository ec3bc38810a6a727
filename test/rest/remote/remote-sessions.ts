import { randomUUID } from 'node:crypto';
import { SessionsClient } from '../../../src/client/index.js';
import type { Session, SessionReference, SessionService, UpdateSessionOptions } from '../../../src/index.js';
import type { EventInput, LoggedEvent } from '../../../src/sessions/domain/event/event.js';
import type { ViewFilter } from '../../../src/sessions/domain/view/cut-view.js';
import { Session as SessionObject } from '../../../src/sessions/domain/session/session.js';
import { hasChanges } from '../../../src/state/state-changes.js';
import { trackedValuesOf } from '../../../src/state/state.js';
import type { SessionClient } from '../../../src/testing/open-sessions.js';
import { refusalOf } from './refusals.js';
import { bringUpToDate, sessionObject } from './session-objects.js';

interface RemoteSetting {
  readonly url: string;
  readonly filter: ViewFilter;
  readonly now: () => number;
  /** The service behind the routes, for operations that they lack; see `NOT_OVER_HTTP`. */
  readonly service: SessionService;
}

/** The methods that take and return the same at the client as at the service. */
type Same = {
  [Name in keyof SessionClient & keyof SessionsClient]: SessionsClient[Name] extends SessionClient[Name] ? Name : never;
}[keyof SessionClient & keyof SessionsClient];

/**
 * Sessions over REST with the interface of the service, for the contract of the service: methods of {@link OwnMethods}, or else of the
 * client, with the errors of the service.
 */
export function remoteSessions(setting: RemoteSetting): SessionClient {
  const client = new SessionsClient({ url: setting.url });
  const remote = new Proxy(new OwnMethods(client, setting), {
    get(own, name) {
      const owner = name in own ? own : client;
      const member: unknown = Reflect.get(owner, name);
      if (typeof member !== 'function') return member;
      return (...given: Given[]): unknown => {
        const answer: unknown = Reflect.apply(member, owner, given);
        return answer instanceof Promise ? told(askedIn(...given), answer) : answer;
      };
    },
  });
  return remote as OwnMethods & Pick<SessionClient, Same>;
}

/** What differs between the client and the service. */
class OwnMethods implements Omit<SessionClient, Same> {
  readonly #saves = new WeakMap<Session, { readonly changes: string; readonly eventId: string }>();

  constructor(
    private readonly client: SessionsClient,
    private readonly setting: RemoteSetting,
  ) {}

  async createSession(request: Parameters<SessionClient['createSession']>[0]): Promise<Session> {
    return sessionObject(await this.client.createSession(request));
  }

  async getSession({ config, ...key }: Parameters<SessionClient['getSession']>[0]): Promise<Session | undefined> {
    const remote = await this.client.getSession({ ...key, ...config });
    return remote && sessionObject(remote);
  }

  async getOrCreateSession(request: Parameters<SessionClient['getOrCreateSession']>[0]): Promise<Session> {
    return sessionObject(await this.client.getOrCreateSession(request));
  }

  async listSessions(request: Parameters<SessionClient['listSessions']>[0]): ReturnType<SessionClient['listSessions']> {
    const { sessions, ...page } = await this.client.listSessions(request);
    return { ...page, sessions: sessions.map(sessionObject) };
  }

  async explainView({
    config,
    ...part
  }: Parameters<SessionClient['explainView']>[0]): ReturnType<SessionClient['explainView']> {
    return this.client.explainView({ ...part, ...config });
  }

  watch(request: Parameters<SessionClient['watch']>[0]): ReturnType<SessionClient['watch']> {
    const watch = this.client.watch(request);
    return {
      next: () => told(request, watch.next()) as Promise<IteratorResult<LoggedEvent, undefined>>,
      return: async () => ({ done: true, value: (await watch.return?.())?.value as undefined }),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  async append(request: Parameters<SessionClient['append']>[0]): ReturnType<SessionClient['append']> {
    const { session, event, expectedVersion, turn, endTurn } = request;
    const appended = await this.client.append({ ...keyOf(session), event, expectedVersion, turn, endTurn });
    if (session instanceof SessionObject) {
      const { filter, now } = this.setting;
      await bringUpToDate(session, event, appended, { client: this.client, filter, now: now() });
    }
    return appended;
  }

  async appendBatch(request: Parameters<SessionClient['appendBatch']>[0]): ReturnType<SessionClient['appendBatch']> {
    const { session, events, expectedVersion, turn, endTurn } = request;
    const batch = { ...keyOf(session), events, expectedVersion, turn, endTurn };
    const { events: stored, duplicate } = await this.client.appendBatch(batch);
    if (session instanceof SessionObject) {
      const { filter, now } = this.setting;
      for (const [index, event] of stored.entries()) {
        if (event.partial) continue;
        const update = { client: this.client, filter, now: now() };
        await bringUpToDate(session, events[index] ?? {}, { event, duplicate }, update);
      }
    }
    return { events: stored, duplicate };
  }

  appendEvents: SessionClient['appendEvents'] = async (request) => (await this.appendBatch(request)).events;

  appendEvent: SessionClient['appendEvent'] = async (
    request: Parameters<SessionClient['append']>[0],
  ): Promise<never> => {
    const { event } = request;
    const answer: EventInput =
      event?.partial === true
        ? await this.client.appendEvent({ ...keyOf(request.session), event })
        : (await this.append(request)).event;
    return answer as never;
  };

  async updateSession(session: Session, options: UpdateSessionOptions = {}): Promise<LoggedEvent | undefined> {
    const values = trackedValuesOf(session.state);
    const pending = values.pending();
    if (!hasChanges(pending)) return undefined;
    const { stateDelta, stateRemovals } = pending;
    const event = {
      id: this.#saveId(session, pending),
      author: 'system',
      actions: { stateDelta, stateRemovals: [...stateRemovals] },
    };
    const { event: stored } = await this.append({ ...options, session, event });
    values.markSaved(pending);
    this.#saves.delete(session);
    return stored;
  }

  async rewindSession(request: Parameters<SessionClient['rewindSession']>[0]): Promise<Session> {
    return sessionObject(await this.client.rewindSession(request));
  }

  async forkSession(request: Parameters<SessionClient['forkSession']>[0]): Promise<Session> {
    return sessionObject(await this.client.forkSession(request));
  }

  beginTurn: SessionClient['beginTurn'] = (request) => this.client.beginTurn({ holder: 'client', ...request });

  purgeExpired: SessionClient['purgeExpired'] = (options) => this.setting.service.purgeExpired(options);
  whenIdle: SessionClient['whenIdle'] = () => this.setting.service.whenIdle();

  /** The same changes are saved with the same event id, so at most once. */
  #saveId(session: Session, pending: object): string {
    const changes = JSON.stringify(pending);
    const before = this.#saves.get(session);
    if (before?.changes === changes) return before.eventId;
    const eventId = randomUUID();
    this.#saves.set(session, { changes, eventId });
    return eventId;
  }
}

type Asked = Parameters<typeof refusalOf>[1];

/** A request, a session or options. */
type Given = Asked & {
  readonly id?: string;
  readonly session?: SessionReference;
  readonly event?: EventInput;
};

function askedIn(request?: Given, options?: Given): Asked {
  const { id, session, event, sessionId = session?.id ?? id, newSessionId, expectedVersion } = request ?? {};
  return { sessionId, newSessionId, eventId: event?.id, expectedVersion: expectedVersion ?? options?.expectedVersion };
}

/** The answer, or the error of the service. Several that are awaited one after the other are no unhandled rejections. */
function told<Result>(asked: Asked, answer: Promise<Result>): Promise<Result> {
  const converted = answer.catch((error: unknown) => {
    throw refusalOf(error, asked);
  });
  converted.catch(() => undefined);
  return converted;
}

function keyOf({ appName, userId, id }: SessionReference): { appName: string; userId: string; sessionId: string } {
  return { appName, userId, sessionId: id };
}
