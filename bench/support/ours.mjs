import { SessionService } from '../../dist/index.js';
import { OWNER } from './owner.mjs';

/** Concurrent appends when a session is only filled. */
const TOGETHER = 64;

/** The package, used as an application uses it. @implements {import('./sides.mjs').Side} */
export class Ours {
  /**
   * @param {import('../../dist/storage.js').SessionStorage} storage
   * @param {Partial<import('../../dist/index.js').HistorySettings>} [history]
   * @param {import('../../dist/index.js').UserKey} [owner] of the sessions
   */
  constructor(storage, history, owner = OWNER) {
    this.storage = storage;
    this.owner = owner;
    this.service = new SessionService({ storage, history });
  }

  /** The same sessions, seen by a service with other settings. */
  withHistory(history) {
    return new Ours(this.storage, history, this.owner);
  }

  create(sessionId) {
    return this.service.createSession({ ...this.owner, sessionId, state: { step: 0 } });
  }

  append(session, event) {
    return this.service.appendEvent({ session, event });
  }

  async fill(session, events) {
    for (let from = 0; from < events.length; from += TOGETHER) {
      await Promise.all(events.slice(from, from + TOGETHER).map((event) => this.append(session, event)));
    }
    await this.service.whenIdle();
  }

  readAll({ id: sessionId }) {
    return this.service.getSession({ ...this.owner, sessionId });
  }

  readNewest({ id: sessionId }, numRecentEvents) {
    return this.service.getSession({ ...this.owner, sessionId, config: { numRecentEvents } });
  }

  list(limit) {
    return this.service.listSessions({ ...this.owner, limit });
  }

  close() {
    return this.service.close();
  }
}
