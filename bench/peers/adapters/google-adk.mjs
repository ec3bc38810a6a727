import { DatabaseSessionService, InMemorySessionService, createEvent } from '@google/adk';
import { OWNER } from '../../support/owner.mjs';
import { keysOfUser } from './keys-of-user.mjs';

/** Google ADK for TypeScript. @implements {import('../rows.mjs').Adapter} */
export class GoogleAdk {
  static async open({ store, url }) {
    if (store === 'memory') return new GoogleAdk(new InMemorySessionService());
    const service = new DatabaseSessionService(url.replace(/^mysql:/, 'mariadb:'));
    await service.init();
    return new GoogleAdk(service);
  }

  constructor(service) {
    this.service = service;
  }

  create(sessionId) {
    return this.service.createSession({ ...OWNER, sessionId });
  }

  find(sessionId) {
    return this.service.getSession({ ...OWNER, sessionId });
  }

  append(session, event) {
    return this.service.appendEvent({ session, event: createEvent(event) });
  }

  async readAll({ id: sessionId }) {
    return (await this.service.getSession({ ...OWNER, sessionId })).events;
  }

  async readNewest({ id: sessionId }, numRecentEvents) {
    return (await this.service.getSession({ ...OWNER, sessionId, config: { numRecentEvents } })).events;
  }

  async list() {
    return (await this.service.listSessions(OWNER)).sessions;
  }

  async userState() {
    const { state } = await this.service.createSession(OWNER);
    return keysOfUser(state);
  }

  async close() {
    await this.service.orm?.close();
  }
}
