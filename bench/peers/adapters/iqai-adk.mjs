import { Event, EventActions, InMemorySessionService, createDatabaseSessionService } from '@iqai/adk';
import { OWNER } from '../../support/owner.mjs';
import { keysOfUser } from './keys-of-user.mjs';

const { appName, userId } = OWNER;

/** The community's ADK for TypeScript. @implements {import('../rows.mjs').Adapter} */
export class IqaiAdk {
  static async open({ store, url }) {
    return new IqaiAdk(store === 'memory' ? new InMemorySessionService() : createDatabaseSessionService(url));
  }

  constructor(service) {
    this.service = service;
  }

  /** Its `createSession` answers no id on MariaDB, so the session is read again. */
  async create(sessionId) {
    await this.service.createSession(appName, userId, {}, sessionId);
    return this.find(sessionId);
  }

  find(sessionId) {
    return this.service.getSession(appName, userId, sessionId);
  }

  append(session, { actions, ...event }) {
    return this.service.appendEvent(session, new Event({ ...event, actions: new EventActions(actions) }));
  }

  async readAll({ id }) {
    return (await this.find(id)).events;
  }

  async readNewest({ id }, numRecentEvents) {
    return (await this.service.getSession(appName, userId, id, { numRecentEvents })).events;
  }

  async list() {
    return (await this.service.listSessions(appName, userId)).sessions;
  }

  async userState() {
    await this.service.createSession(appName, userId, {}, 'reader');
    return keysOfUser((await this.find('reader')).state);
  }

  async close() {
    await this.service.db?.destroy();
  }
}
