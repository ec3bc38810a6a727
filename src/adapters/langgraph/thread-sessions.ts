import { createUnlessThere } from '../../sessions/create-unless-there.js';
import { SessionNotFoundError, StaleSessionError } from '../../sessions/domain/errors.js';
import type { EventInput, LoggedEvent } from '../../sessions/domain/event.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import type { Session } from '../../sessions/domain/session.js';
import type { SessionService } from '../../sessions/session.service.js';
import type { ThreadMemory } from './thread-memory.js';

/** How events of a thread are appended. */
export interface ThreadAppend {
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

  /** As this process knows it. Creates it if there is none. */
  async current(key: SessionKey): Promise<Session> {
    return this.memory.session(key) ?? (await this.read(key)) ?? this.#create(key);
  }

  /** Returns `undefined`, and appends nothing, if the session has changed. */
  async tryAppend(
    session: Session,
    events: readonly EventInput[],
    { expectedVersion, turn }: ThreadAppend,
  ): Promise<readonly LoggedEvent[] | undefined> {
    try {
      return await this.service.appendEvents({ session, events, expectedVersion, turn });
    } catch (error) {
      const { appName, userId, id: sessionId } = session;
      // Whatever went wrong: what is known of the session may be old.
      this.memory.setSession({ appName, userId, sessionId }, undefined);
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
