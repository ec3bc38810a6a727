import { SessionService } from '../../src/index.js';
import type { ListSessionsRequest } from '../../src/sessions/operations/list-sessions.js';
import { describeRedis } from '../support/redis-servers.js';
import { observedRedis } from '../support/observed-redis.js';

const METADATA = { status: 'open', tags: ['vip'] };
const LISTS: readonly Partial<ListSessionsRequest>[] = [
  {},
  { orderBy: 'createTime', order: 'asc' },
  { filter: { status: 'open', tags: ['vip'] } },
  { filter: METADATA, orderBy: 'createTime', order: 'asc' },
];
const LIMIT = 4;

describeRedis('The list of an app in a $name store', ['redis', 'redis-cluster'], (bench) => {
  const situations = [
    { users: 1, each: 10 },
    { users: 1, each: 1_000 },
    { users: 20, each: 1 },
    { users: 20, each: 50 },
    { users: 230, each: 1 },
  ];

  it.each(situations)('of $users users with $each sessions has a cost by its users', async ({ users, each }) => {
    const replies: number[] = [];
    const client = observedRedis(bench().client(), { beforeScript: () => replies.push(1) });
    const sessions = new SessionService({ storage: bench().storage({ client }) });
    const keys = Array.from({ length: users * each }, (_, index) => ({
      appName: 'shop',
      userId: `u-${index % users}`,
      sessionId: `s-${index}`,
    }));
    for (let first = 0; first < keys.length; first += 100) {
      await Promise.all(
        keys.slice(first, first + 100).map((key) => sessions.createSession({ ...key, metadata: METADATA })),
      );
    }
    // Pages of users, the first session of each user, the users on the page, and the state of the app.
    const onCluster = Math.floor(users / 100) + 1 + users + Math.min(users, LIMIT + 1) + 1;
    for (const list of LISTS) {
      replies.length = 0;
      const page = await sessions.listSessions({ appName: 'shop', limit: LIMIT, ...list });
      expect(page.sessions).toHaveLength(LIMIT);
      expect({ list, scripts: replies.length }).toEqual({ list, scripts: bench().name === 'redis' ? 1 : onCluster });
    }
  });

  it('is complete and in order, page by page, however the sessions are spread', async () => {
    let now = 1_000;
    const sessions = new SessionService({ storage: bench().storage({ clock: { now: () => now } }) });
    const created: string[] = [];
    for (let index = 0; index < 60; index++) {
      // The first user has most of them, others have one or two; some are of the same time.
      const userId = index % 3 === 0 ? `u-${index}` : 'u-0';
      now += index % 4 === 0 ? 0 : 1;
      await sessions.createSession({ appName: 'shop', userId, sessionId: `s-${index}`, metadata: METADATA });
      created.push(`${String(now).padStart(5, '0')} ${userId}\u0000s-${index}`);
    }
    const expected = created.toSorted().map((line) => line.split('\u0000')[1]);
    for (const list of LISTS) {
      for (const limit of [1, 7, 100]) {
        const found: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await sessions.listSessions({ appName: 'shop', limit, cursor, ...list });
          found.push(...page.sessions.map(({ id }) => id));
          cursor = page.nextCursor;
        } while (cursor);
        const inOrder = list.order === 'asc' ? expected : expected.toReversed();
        expect({ list, limit, found }).toEqual({ list, limit, found: inOrder });
      }
    }
  });
});
