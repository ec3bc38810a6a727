import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { ManualClock, type SessionClient } from '../../src/testing/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { GraphqlSessions } from '../graphql/graphql-sessions.js';
import { remoteSessions } from '../rest/remote/remote-sessions.js';
import { RestApp, frameworks } from '../rest/rest-app.js';
import { tellStory } from './story.js';

interface Reached {
  readonly sessions: SessionClient;
  close(): Promise<void>;
}

const NO_LIMITS = { newest: 0, maxAgeMs: 0 };

async function storyOver(reach: (service: SessionService, clock: ManualClock) => Promise<Reached>): Promise<unknown> {
  const clock = new ManualClock();
  const service = new SessionService({ storage: new InMemorySessionStorage({ clock }), clock });
  const { sessions, close } = await reach(service, clock);
  try {
    return await tellStory(sessions, clock);
  } finally {
    await close();
    await service.close();
  }
}

describe('the story of a session', () => {
  let onService: unknown;

  beforeAll(async () => {
    onService = await storyOver(async (sessions) => ({ sessions, close: async () => undefined }));
  });

  it('has the results that it is meant to have', () => {
    expect(onService).toMatchObject({
      created: { version: 0, state: { step: 1, 'user:theme': 'dark', 'app:currency': 'EUR' } },
      createdAgain: { code: 'SESSION_EXISTS' },
      repeated: true,
      conflict: { code: 'EVENT_CONFLICT' },
      stale: { code: 'STALE_SESSION', currentVersion: 1 },
      watched: [{ seq: 1 }, { seq: 2, unknown: { kept: [null] } }, { seq: 3 }],
      badInput: { code: 'INVALID_INPUT' },
      session: { version: 3, state: { step: 2, 'user:theme': null }, events: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] },
      newest: { events: [{ seq: 3 }] },
      pages: [
        [1, 3, { seq: 3 }, { seq: 2 }],
        [1, 3, { seq: 1 }],
      ],
      userState: { a: null, b: [1] },
      appState: { currency: 'EUR', tax: 0.19 },
      forked: { id: 'fork', events: [{ seq: 1 }], state: { step: 1 } },
      staleRewind: { code: 'STALE_SESSION', currentVersion: 3 },
      rewound: { version: 4, events: [{ seq: 1 }], state: { step: 1, draft: 'x' } },
      watchedRewind: [{ seq: 4, actions: { rewind: { toSeq: 1 } } }],
      ofUser: [[{ id: 'cart #1' }, { id: 'other' }], [{ id: 'fork' }]],
      end: { code: 'SESSION_NOT_FOUND' },
      deleted: undefined,
      appendToDeleted: { code: 'SESSION_NOT_FOUND' },
      left: [[{ id: 'other' }, { id: 'fork' }]],
    });
  });

  it.each(frameworks)('has the same results over REST on %s', async (framework) => {
    const overRest = await storyOver(async (service, clock) => {
      const app = await RestApp.start(framework, { services: { sessions: service } });
      const now = (): number => clock.now();
      const sessions = remoteSessions({ url: app.url, filter: NO_LIMITS, now, service });
      return { sessions, close: () => app.close() };
    });
    expect(overRest).toEqual(onService);
  });

  it.each(frameworks)('has the same results over GraphQL on %s', async (framework) => {
    const overGraphql = await storyOver(async (service) => {
      const app = await GraphqlApp.start({ services: { sessions: service }, framework });
      const sessions = GraphqlSessions.over(app, service);
      const close = async (): Promise<void> => {
        await sessions.close();
        await app.close();
      };
      return { sessions, close };
    });
    expect(overGraphql).toEqual(onService);
  });
});
