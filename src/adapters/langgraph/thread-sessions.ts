import { createUnlessThere, retryOvertaken } from '../../adapter.js';
import {
  type EventInput,
  type LoggedEvent,
  type Session,
  type SessionKey,
  SessionNotFoundError,
  type SessionService,
  StaleSessionError,
  StoreUnavailableError,
} from '../../index.js';
import type { ThreadMemory } from './thread-memory.js';

/** How a thread is written. */
export interface ThreadWrite {
  /** Nothing is stored if the session is at another version. */
  readonly expectedVersion?: number | undefined;
  readonly turn?: string | undefined;
}

/** The sessions behind threads. Their objects have state, but no events. */
export class ThreadSessions {
  constructor(
    readonly service: SessionService,
    private readonly memory: ThreadMemory,
  ) {}

  /** As it is stored now. */
  async read(key: SessionKey): Promise<Session | undefined> {
    const session = await this.service.getSession({ ...key, config: { numRecentEvents: 0 } });
    this.memory.setSession(key, session);
    return session;
  }

  /**
   * As this process knows it. Creates it if there is none.
   *
   * @param gone what to throw instead, for a run that knows it
   */
  async current(key: SessionKey, gone?: Error): Promise<Session> {
    const session = this.memory.session(key) ?? (await this.read(key));
    if (!session && gone) throw gone;
    return session ?? this.#create(key);
  }

  /**
   * Writes with the session as this process knows it, and again as it is stored if the write returns `undefined`.
   *
   * @param write gets `isFresh` if the session was read for it
   * @param gone see {@link current}
   */
  async append<Result>(
    key: SessionKey,
    write: (session: Session, isFresh: boolean) => Promise<Result | undefined>,
    gone?: Error,
  ): Promise<Result> {
    const overtaken = new StoreUnavailableError(
      'Others wrote to the session of this thread each time; try again.',
      false,
    );
    return retryOvertaken(
      async () => {
        const isFresh = this.memory.session(key) === undefined;
        const result = await write(await this.current(key, gone), isFresh);
        if (result !== undefined) return result;
        this.memory.setSession(key, undefined);
        throw overtaken;
      },
      (error) => error === overtaken,
    );
  }

  /** Returns `undefined`, and appends nothing, if the session has changed. */
  async tryAppend(
    session: Session,
    events: readonly EventInput[],
    { expectedVersion, turn }: ThreadWrite,
  ): Promise<readonly LoggedEvent[] | undefined> {
    const { appName, userId, id: sessionId } = session;
    return this.#tryWrite({ appName, userId, sessionId }, () =>
      this.service.appendEvents({ session, events, expectedVersion, turn }),
    );
  }

  /** Takes the conversation back. Does nothing if the session has changed. */
  async rewind(key: SessionKey, to: ThreadWrite & { readonly toSeq: number }): Promise<void> {
    await this.#tryWrite(key, () => this.service.rewindSession({ ...key, ...to }));
  }

  async #tryWrite<Result>(key: SessionKey, write: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await write();
    } catch (error) {
      // Whatever went wrong: what is known of the session may be old.
      this.memory.setSession(key, undefined);
      if (error instanceof StaleSessionError || error instanceof SessionNotFoundError) return undefined;
      throw error;
    }
  }

  async #create(key: SessionKey): Promise<Session> {
    const session = await createUnlessThere(this.service, key);
    if (session) this.memory.setSession(key, session);
    return session ?? this.current(key);
  }
}
