import { InMemorySessionStorage, SessionService } from '../../../dist/index.js';
import { RedisSessionStorage } from '../../../dist/redis.js';
import { TypeOrmSessionStorage } from '../../../dist/typeorm.js';
import { OWNER } from '../../support/owner.mjs';

/** This package, as an app uses it. @implements {import('../rows.mjs').Adapter} */
export class AgentSessions {
  static async open(place) {
    const service = new SessionService({ storage: storageOf(place) });
    await service.storage?.open?.();
    return new AgentSessions(service);
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
    return this.service.appendEvent({ session, event });
  }

  async readAll({ id: sessionId }) {
    return (await this.service.getSession({ ...OWNER, sessionId })).events;
  }

  async readNewest({ id: sessionId }, numRecentEvents) {
    return (await this.service.getSession({ ...OWNER, sessionId, config: { numRecentEvents } })).events;
  }

  async list() {
    return (await this.service.listSessions({ ...OWNER, limit: 1_000 })).sessions;
  }

  userState() {
    return this.service.getUserState(OWNER);
  }

  close() {
    return this.service.close();
  }
}

function storageOf({ store, url, name, directory }) {
  if (store === 'memory') return new InMemorySessionStorage();
  if (store === 'redis') return new RedisSessionStorage({ url, prefix: `${name}:` });
  return new TypeOrmSessionStorage(store === 'sqlite' ? { database: `${directory}/sessions.db` } : { url });
}
