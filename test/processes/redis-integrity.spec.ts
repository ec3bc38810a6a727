import type { Redis } from 'ioredis';
import { SessionService } from '../../src/index.js';
import { redisProblems } from '../support/processes/redis-integrity.js';
import { describeRedis } from '../support/redis-servers.js';

const KEY = { appName: 'shop', userId: 'ann|b', sessionId: 'chat:1' };
const SESSION = '{shop|ann%7Cb}:session:chat%3A1';

/** Kinds of damage, and the problems that are reported. */
const DAMAGES: Record<
  string,
  readonly [key: string, damage: (node: Redis, key: string) => Promise<unknown>, problem: RegExp]
> = {
  'a session without its record': [SESSION, (node, key) => node.hdel(key, 'record'), /has no record/],
  'a part without its session': [SESSION, (node, key) => node.unlink(key), /belongs to no session/],
  'an index entry without a session': [
    '{shop|ann%7Cb}:by-update',
    (node, key) => node.zadd(key, 1, 'nobody'),
    /by-update has nobody/,
  ],
  'an index that lacks the session': [
    '{shop|ann%7Cb}:by-creation',
    (node, key) => node.unlink(key),
    /by-creation has chat:1 at undefined/,
  ],
  'a gap in the log': [SESSION, (node, key) => node.hdel(key, '1'), /has 1 events/],
  'a missing id': [SESSION, (node, key) => node.hdel(key, '=e-2'), /has 1 ids/],
  'an anchor without an event': [
    '{shop|ann%7Cb}:anchors:chat%3A1',
    (node, key) => node.zadd(key, 9, '9'),
    /anchor at 9/,
  ],
  'shared state without an expiry': ['{shop|ann%7Cb}:user-state', (node, key) => node.hdel(key, ''), /has no expiry/],
  'an unregistered user': ['{shop}:users', (node, key) => node.unlink(key), /registered at NaN/],
  'an unregistered app': ['apps', (node, key) => node.unlink(key), /belongs to an unregistered app/],
  'a session without its expiry index': [
    '{shop|ann%7Cb}:expiring',
    (node, key) => node.unlink(key),
    /expiring has chat:1 at undefined/,
  ],
  'a metadata entry that no session has': [
    '{shop|ann%7Cb}:by-entry',
    (node, key) => node.zadd(key, 0, 'tag:x\ntrue\n0000000000000001\nchat:1'),
    /by-entry has tag:x/,
  ],
  'a missing entry of metadata': [
    '{shop|ann%7Cb}:by-entry',
    (node, key) => node.unlink(key),
    /missing that .*by-entry has status/,
  ],
  'work that was left': [
    SESSION,
    (node, key) => node.hset(key.replace('session', 'pending'), 1, '{}'),
    /pending:chat%3A1 was left behind/,
  ],
};

describeRedis('The integrity check of a $name store', ['redis', 'redis-cluster'], (bench) => {
  it.each(Object.entries(DAMAGES))('finds %s', async (_what, [name, damage, problem]) => {
    const ttl = { enabled: true, sessionSeconds: 60, userStateSeconds: 60 };
    const sessions = new SessionService({ storage: bench().storage(), ttl });
    const session = await sessions.createSession({
      ...KEY,
      state: { own: 1, 'user:k': 1, 'app:k': 1 },
      metadata: { status: 'open' },
    });
    for (const id of ['e-1', 'e-2']) await sessions.appendEvent({ session, event: { id, author: 'user' } });
    const store = { kind: bench().name, prefix: bench().prefix };
    const nodes = [...new Set((await bench().keys()).map(([, node]) => node))];
    expect(await redisProblems(nodes, store)).toEqual([]);

    const [key, node] = (await bench().keys()).find(([each]) => each === bench().prefix + name) ?? [];
    if (!key || !node) throw new Error(`There is no ${name}`);
    await damage(node, key);
    expect((await redisProblems(nodes, store)).join('\n')).toMatch(problem);
  });
});
