import fc from 'fast-check';
import { SessionService } from '../../src/index.js';
import { RedisKeys, encodeId } from '../../src/sessions/storage/redis/redis-keys.js';
import { ENCODE_ID } from '../../src/sessions/storage/redis/script/base.lua.js';
import { seed } from '../support/random.js';
import { crowd } from '../support/rounds.js';
import { describeRedis } from '../support/redis-servers.js';

const keys = new RedisKeys('test:');
const anyId = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((id) => id.isWellFormed());
/** Contains separators of keys, and their encoded forms. */
const trickyId = fc
  .array(fc.constantFrom('a', ':', '|', '{', '}', '%', '7C', '%7C', '*', '?', 'é', '😀'), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(''));
const id = fc.oneof(anyId, trickyId);
const sessionKey = fc.record({ appName: id, userId: id, sessionId: id });

function slotTagOf(key: string): string | undefined {
  return /\{([^}]+)\}/.exec(key)?.[1];
}

describe(`Keys (SEED=${seed})`, () => {
  it('are different for different sessions', () => {
    fc.assert(
      fc.property(sessionKey, sessionKey, (a, b) => {
        const isSame = a.appName === b.appName && a.userId === b.userId && a.sessionId === b.sessionId;
        const ofB = new Set(keys.ofSession(b).slice(0, 5));
        const shared = keys
          .ofSession(a)
          .slice(0, 5)
          .filter((key) => ofB.has(key));
        expect(shared).toHaveLength(isSame ? 7 : 0);
      }),
      { seed, numRuns: crowd(5_000) },
    );
  });

  it('can be decoded', () => {
    fc.assert(
      fc.property(id, (given) => {
        const encoded = encodeId(given);
        expect(encoded).toMatch(/^[A-Za-z0-9\-_.!~'()%]+$/);
        expect(decodeURIComponent(encoded)).toBe(given);
      }),
      { seed, numRuns: crowd(5_000) },
    );
  });

  it('of a user are in one slot, and those of the app in another, for all ids', () => {
    fc.assert(
      fc.property(sessionKey, (key) => {
        const tags = new Set(keys.ofSession(key).map(slotTagOf));
        expect(tags.size).toBe(1);
        expect(tags).not.toContain(slotTagOf(keys.usersOf(key.appName)));
        expect(slotTagOf(keys.usersOf(key.appName))).toBe(encodeId(key.appName));
      }),
      { seed, numRuns: crowd(2_000) },
    );
  });
});

describeRedis('Keys in a script of a $name store', ['redis'], (bench) => {
  it('are the same as in TypeScript', async () => {
    const client = bench().client();
    const given = fc.sample(id, { seed, numRuns: 2_000 });
    const encode = `${ENCODE_ID}\nlocal all = {}\nfor index, id in ipairs(ARGV) do all[index] = encode(id) end\nreturn all`;
    expect(await client.eval(encode, 0, ...given)).toEqual(given.map(encodeId));
  });
});

describeRedis('Users with state or usage in a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('are found once, however many steps it takes to go through the keys', async () => {
    const storage = bench().storage();
    const sessions = new SessionService({ storage });
    const users = Array.from({ length: 400 }, (_, index) => `user-${index}`);
    for (const userId of users) {
      await sessions.createSession({ appName: 'shop', userId, sessionId: 's', state: { 'user:theme': 'dark' } });
      const usageMetadata = { promptTokenCount: 1, totalTokenCount: 1 };
      await sessions.appendEvent({
        session: { appName: 'shop', userId, id: 's' },
        event: { author: 'a', usageMetadata },
      });
    }
    const found: string[] = [];
    for await (const some of storage.transfer.sharedOwners('shop')) found.push(...some);
    expect(found.toSorted()).toEqual(users.toSorted());
  });
});
