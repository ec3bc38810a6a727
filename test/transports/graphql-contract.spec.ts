import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { describeSessionService } from '../../src/testing/index.js';
import { AppPool } from '../support/app-pool.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { GraphqlSessions } from '../graphql/graphql-sessions.js';
import { NOT_MAPPED } from './not-mapped.js';
import { OpenPrompts } from './open-prompts.js';

const apps = new AppPool((service) => GraphqlApp.start({ access: OpenPrompts, services: { sessions: service } }));

afterAll(async () => {
  await apps.close();
});

describeSessionService({
  name: 'GraphQL',
  skip: NOT_MAPPED,
  async create({ clock, ...settings }) {
    const storage = new InMemorySessionStorage({ clock });
    const service = new SessionService({ ...settings, storage, clock });
    const pooled = await apps.take(service);
    const sessions = GraphqlSessions.over(pooled.app, service);
    return {
      sessions,
      raw: async () => storage.snapshot(),
      async destroy() {
        await sessions.close();
        await service.close();
        apps.giveBack(pooled);
      },
    };
  },
});
