import { randomUUID } from 'node:crypto';
import { SessionsClient } from '../../../src/client/index.js';
import type { Session, SessionReference, SessionService, UpdateSessionOptions } from '../../../src/index.js';
import type { EventInput, LoggedEvent } from '../../../src/sessions/domain/event.js';
import type { ViewFilter } from '../../../src/sessions/domain/cut-view.js';
import { Session as SessionObject } from '../../../src/sessions/domain/session.js';
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

type Asked = Parameters<typeof refusalOf>[1];

/** Sessions over REST with the interface of the service, for the contract of the service. */
export class RemoteSessions implements SessionClient {
  readonly #client: SessionsClient;
  readonly #saves = new WeakMap<Session, { readonly changes: string; readonly eventId: string }>();

  constructor(private readonly setting: RemoteSetting) {
    this.#client = new SessionsClient({ url: setting.url });
  }

  async createSession(request: Parameters<SessionClient['createSession']>[0]): Promise<Session> {
    return this.#told(request, async () => sessionObject(await this.#client.createSession(request)));
  }

  async getSession({ config, ...key }: Parameters<SessionClient['getSession']>[0]): Promise<Session | undefined> {
    return this.#told(key, async () => {
      const remote = await this.#client.getSession({ ...key, ...config });
      return remote && sessionObject(remote);
    });
  }

  async getOrCreateSession(request: Parameters<SessionClient['getOrCreateSession']>[0]): Promise<Session> {
    return this.#told(request, async () => sessionObject(await this.#client.getOrCreateSession(request)));
  }

  async listSessions(request: Parameters<SessionClient['listSessions']>[0]): ReturnType<SessionClient['listSessions']> {
    return this.#told({}, async () => {
      const { sessions, ...page } = await this.#client.listSessions(request);
      return { ...page, sessions: sessions.map(sessionObject) };
    });
  }

  async deleteSession(key: Parameters<SessionClient['deleteSession']>[0]): Promise<void> {
    await this.#told(key, () => this.#client.deleteSession(key));
  }

  async listEvents(request: Parameters<SessionClient['listEvents']>[0]): ReturnType<SessionClient['listEvents']> {
    return this.#told(request, () => this.#client.listEvents({ ...request }));
  }

  async explainView(request: Parameters<SessionClient['explainView']>[0]): ReturnType<SessionClient['explainView']> {
    const { config, ...part } = request;
    return this.#told(part, () => this.#client.explainView({ ...part, ...config }));
  }

  async getModelRequest(
    request: Parameters<SessionClient['getModelRequest']>[0],
  ): ReturnType<SessionClient['getModelRequest']> {
    return this.#told(request, () => this.#client.getModelRequest(request));
  }

  async stateAt(request: Parameters<SessionClient['stateAt']>[0]): ReturnType<SessionClient['stateAt']> {
    return this.#told(request, () => this.#client.stateAt(request));
  }

  async stateChanges(request: Parameters<SessionClient['stateChanges']>[0]): ReturnType<SessionClient['stateChanges']> {
    const { key: _key, ...asked } = request;
    return this.#told(asked, () => this.#client.stateChanges(request));
  }

  watch(request: Parameters<SessionClient['watch']>[0]): ReturnType<SessionClient['watch']> {
    const watch = this.#client.watch(request);
    return {
      next: () => this.#told(request, () => watch.next()) as Promise<IteratorResult<LoggedEvent, undefined>>,
      return: async () => ({ done: true, value: (await watch.return?.())?.value as undefined }),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  async append(request: Parameters<SessionClient['append']>[0]): ReturnType<SessionClient['append']> {
    const { session, event, expectedVersion, turn, endTurn } = request;
    const key = keyOf(session);
    const asked = { ...key, eventId: event?.id, expectedVersion };
    const appended = await this.#told(asked, () =>
      this.#client.append({ ...key, event, expectedVersion, turn, endTurn }),
    );
    if (session instanceof SessionObject) {
      const { filter, now } = this.setting;
      await bringUpToDate(session, event, appended, { client: this.#client, filter, now: now() });
    }
    return appended;
  }

  async appendBatch(request: Parameters<SessionClient['appendBatch']>[0]): ReturnType<SessionClient['appendBatch']> {
    const { session, events, expectedVersion, turn, endTurn } = request;
    const key = keyOf(session);
    const asked = { ...key, expectedVersion };
    const { events: stored, duplicate } = await this.#told(asked, () =>
      this.#client.appendBatch({ ...key, events, expectedVersion, turn, endTurn }),
    );
    if (session instanceof SessionObject) {
      const { filter, now } = this.setting;
      for (const [index, event] of stored.entries()) {
        if (event.partial) continue;
        const update = { client: this.#client, filter, now: now() };
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
        ? await this.#client.appendEvent({ ...keyOf(request.session), event })
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
    return this.#told(request, async () => sessionObject(await this.#client.rewindSession(request)));
  }

  async redactEvent(request: Parameters<SessionClient['redactEvent']>[0]): ReturnType<SessionClient['redactEvent']> {
    return this.#told(request, () => this.#client.redactEvent(request));
  }

  async forkSession(request: Parameters<SessionClient['forkSession']>[0]): Promise<Session> {
    return this.#told(request, async () => sessionObject(await this.#client.forkSession(request)));
  }

  beginTurn: SessionClient['beginTurn'] = (request) =>
    this.#told(request, () => this.#client.beginTurn({ holder: 'client', ...request }));
  renewTurn: SessionClient['renewTurn'] = (turn) => this.#told(turn, () => this.#client.renewTurn(turn));
  endTurn: SessionClient['endTurn'] = (turn) => this.#told(turn, () => this.#client.endTurn(turn));
  getTurn: SessionClient['getTurn'] = (key) => this.#told(key, () => this.#client.getTurn(key));

  getUserState: SessionClient['getUserState'] = (owner) => this.#told({}, () => this.#client.getUserState(owner));
  updateUserState: SessionClient['updateUserState'] = (change) =>
    this.#told({}, () => this.#client.updateUserState(change));
  getAppState: SessionClient['getAppState'] = (owner) => this.#told({}, () => this.#client.getAppState(owner));
  updateAppState: SessionClient['updateAppState'] = (change) =>
    this.#told({}, () => this.#client.updateAppState(change));

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

  async #told<Result>(asked: Asked, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw refusalOf(error, asked);
    }
  }
}

/** Otherwise errors that are awaited one after the other would count as unhandled rejections. */
export function withHandledRejections(sessions: SessionClient): SessionClient {
  return new Proxy(sessions, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(member, target, given);
        if (answer instanceof Promise) answer.catch(() => undefined);
        return answer;
      };
    },
  });
}

function keyOf({ appName, userId, id }: SessionReference): { appName: string; userId: string; sessionId: string } {
  return { appName, userId, sessionId: id };
}
