import { SessionService } from '../../src/index.js';
import { COUNTERS, NO_COUNTS } from '../../src/sessions/domain/counters.js';
import { RedisKeys } from '../../src/sessions/storage/redis/redis-keys.js';
import { ALL_COUNTER_FIELDS } from '../../src/sessions/storage/redis/script/codec.js';
import { describeRedis } from '../support/redis-servers.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

describeRedis('A $name session that was stored before a counter was added', ['redis'], (bench) => {
  it.each(COUNTERS)('counts %s from 0', async (counter) => {
    const storage = bench().storage();
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession(KEY);
    const [record = ''] = new RedisKeys(bench().prefix).ofSession(KEY);
    const place = COUNTERS.indexOf(counter);
    const covered = COUNTERS.slice(0, place).map(() => 0);
    await bench()
      .client()
      .hdel(record, ALL_COUNTER_FIELDS[place] ?? '');
    await bench().client().hset(record, 'covered', covered.join(' '));
    expect((await storage.read({ key: KEY }))?.record).toMatchObject({
      counters: NO_COUNTS,
      marks: { covered: NO_COUNTS },
    });

    const event = { author: 'user', content: { parts: [{ text: 'Hello' }] }, usageMetadata: { totalTokenCount: 7 } };
    await sessions.appendEvent({ session, event });
    const counters = { turns: 1, events: 1, contentLength: 5, tokens: 7 };
    expect((await storage.read({ key: KEY }))?.record).toMatchObject({ counters, marks: { covered: NO_COUNTS } });
  });
});
