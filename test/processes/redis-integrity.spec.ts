import type { Redis } from 'ioredis';
import { SessionService } from '../../src/index.js';
import { redisProblems } from '../support/processes/redis-integrity.js';
import { describeRedis } from '../support/redis-servers.js';

const KEY = { appName: 'shop', userId: 'ann|b', sessionId: 'chat:1' };
const SESSION = '{shop|ann%7Cb}:session:chat%3A1';

/** What could be broken, by whoever does it, and what is then said. */
const DAMAGES: Record<
  string,
  readonly [key: string, damage: (node: Redis, key: string) => Promise<unknown>, said: RegExp]
> = {
  'a session without its record': [SESSION, (node, key) => node.unlink(key), /belongs to no session/],
  'a place in an index that leads nowhere': [
    '{shop|ann%7Cb}:by-update',
    (node, key) => node.zadd(key, 1, 'nobody'),
    /by-update has nobody/,
  ],
  'an index without the session': [
    '{shop|ann%7Cb}:by-creation',
    (node, key) => node.unlink(key),
    /by-creation has chat:1 at undefined/,
  ],
  'a gap in the log': ['{shop|ann%7Cb}:events:chat%3A1', (node, key) => node.hdel(key, '1'), /has 1 events/],
  'an id that is not known': ['{shop|ann%7Cb}:ids:chat%3A1', (node, key) => node.hdel(key, 'e-2'), /knows 1 ids/],
  'an anchor without an event': [
    '{shop|ann%7Cb}:anchors:chat%3A1',
    (node, key) => node.zadd(key, 9, '9'),
    /anchor at 9/,
  ],
  'shared state without an end': ['{shop|ann%7Cb}:user-state', (node, key) => node.hdel(key, ''), /when it expires/],
  'a user that nobody knows': ['{shop}:users', (node, key) => node.unlink(key), /looked after at NaN/],
  'an app that nobody knows': ['apps', (node, key) => node.unlink(key), /app that is not known/],
  'a session that is not known to expire': [
    '{shop|ann%7Cb}:expiring',
    (node, key) => node.unlink(key),
    /expiring has chat:1 at undefined/,
  ],
  'work that was left': [
    '{shop|ann%7Cb}:state:chat%3A1',
    (node, key) => node.hset(key.replace('state', 'pending'), 1, '{}'),
    /pending:chat%3A1 was left behind/,
  ],
};

describeRedis('A look at a $name store from outside', ['redis', 'redis-cluster'], (bench) => {
  it.each(Object.entries(DAMAGES))('finds %s', async (_what, [name, damage, said]) => {
    const ttl = { enabled: true, sessionSeconds: 60, userStateSeconds: 60 };
    const sessions = new SessionService({ storage: bench().storage(), ttl });
    const session = await sessions.createSession({ ...KEY, state: { own: 1, 'user:k': 1, 'app:k': 1 } });
    for (const id of ['e-1', 'e-2']) await sessions.appendEvent({ session, event: { id, author: 'user' } });
    const store = { kind: bench().name, prefix: bench().prefix };
    const nodes = [...new Set((await bench().keys()).map(([, node]) => node))];
    expect(await redisProblems(nodes, store)).toEqual([]);

    const [key, node] = (await bench().keys()).find(([each]) => each === bench().prefix + name) ?? [];
    if (!key || !node) throw new Error(`There is no ${name}`);
    await damage(node, key);
    expect((await redisProblems(nodes, store)).join('\n')).toMatch(said);
  });
});
