import { Redis } from 'ioredis';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { importRecords, trpcAgentGoRedisSessions } from '../../src/transfer/index.js';
import { newPrefix, redisUrl } from '../support/redis-store.js';

const KEY = { appName: 'shop:eu', userId: 'ann', sessionId: 's:1' };
const START = Date.UTC(2026, 10, 1, 10);

const bytes = (text: string): string => Buffer.from(text).toString('base64');
const zoned = (second: number): string =>
  new Date(START + second * 1_000).toISOString().replace('.000Z', '.000123456Z');
const nanos = (second: number): string => `${START + second * 1_000}000000`;

function eventText(second: number, id: string, message: { role: string; [name: string]: unknown }, more = {}): string {
  return JSON.stringify({
    id,
    object: 'chat.completion',
    choices: [{ index: 0, message, delta: { role: '' } }],
    timestamp: zoned(second),
    done: true,
    is_partial: false,
    invocationId: 'i-1',
    author: message.role === 'user' ? 'user' : 'helper',
    ...more,
  });
}

/** Ids, times and texts of events. The id of the third is before that of the second, and their times are the same. */
const EVENTS: readonly [id: string, second: number, text: string][] = [
  ['e-1', 1, eventText(1, 'e-1', { role: 'user', content: 'Where is 7?' })],
  ['e-3', 2, eventText(2, 'e-3', { role: 'assistant', content: 'Let me see' }, { stateDelta: { step: bytes('1') } })],
  ['e-2', 3, eventText(3, 'e-2', { role: 'assistant', content: 'On its way' }, { stateDelta: { step: bytes('2') } })],
];
const SUMMARIES = {
  '': { summary: 'They asked for 7', updated_at: zoned(8), boundary: { cutoff_at: zoned(2), last_event_id: 'e-3' } },
  'shop/helper': { summary: 'of a branch', updated_at: zoned(8) },
};
const STATE = { step: bytes('2'), text: bytes('plain'), none: null };

describe('tRPC-Agent for Go in Redis', () => {
  const redis = new Redis(redisUrl);
  let keyPrefix: string;
  let storage: InMemorySessionStorage;
  let sessions: SessionService;

  beforeEach(() => {
    keyPrefix = `${newPrefix()}[*]`;
    storage = new InMemorySessionStorage();
    sessions = new SessionService({ storage });
  });
  afterEach(async () => {
    const keys = await redis.keys(`${keyPrefix.replaceAll(/[[\]*]/g, '\\$&')}*`);
    if (keys.length > 0) await redis.del(...keys);
    await storage.close();
  });
  afterAll(() => {
    redis.disconnect();
  });

  const read = () => trpcAgentGoRedisSessions(redis, { keyPrefix });

  /** The keys that its service writes now. */
  async function writeIndexed({ sessionId, userId }: { sessionId: string; userId: string }): Promise<void> {
    const suffix = `${KEY.appName}:{${userId}}:${sessionId}`;
    const meta = { id: sessionId, appName: KEY.appName, userID: userId, state: STATE, generation: 'g' };
    const times = { createdAt: zoned(0), updatedAt: zoned(9) };
    await redis.set(`${keyPrefix}:hashidx:meta:${suffix}`, JSON.stringify({ ...meta, ...times }));
    await redis.hset(`${keyPrefix}:hashidx:sessidx:${KEY.appName}:{${userId}}`, sessionId, '{}');
    for (const [id, second, text] of EVENTS) {
      await redis.hset(`${keyPrefix}:hashidx:evtdata:${suffix}`, id, text);
      await redis.zadd(`${keyPrefix}:hashidx:evtidx:time:${suffix}`, nanos(second), id);
    }
    await redis.set(`${keyPrefix}:hashidx:sesssum:${suffix}`, JSON.stringify(SUMMARIES));
  }

  /** The keys of its older versions. */
  async function writeOlder({ sessionId, userId }: { sessionId: string; userId: string }): Promise<void> {
    const owner = `{${KEY.appName}}:${userId}`;
    const session = { id: sessionId, state: STATE, createdAt: zoned(0), updatedAt: zoned(9) };
    await redis.hset(`${keyPrefix}:sess:${owner}`, sessionId, JSON.stringify(session));
    for (const [, second, text] of EVENTS)
      await redis.zadd(`${keyPrefix}:event:${owner}:${sessionId}`, nanos(second), text);
    await redis.hset(`${keyPrefix}:sesssum:${owner}`, sessionId, JSON.stringify(SUMMARIES));
  }

  it.each([
    ['its layout of today', writeIndexed],
    ['that of older versions', writeOlder],
  ])('keeps events, state and the summary of the session in %s', async (_name, write) => {
    await write(KEY);
    await redis.hset(`${keyPrefix}:hashidx:userstate:${KEY.appName}:{ann}`, { theme: 'dark', level: '3' });
    await redis.hset(`${keyPrefix}:userstate:{${KEY.appName}}:ann`, { theme: 'old' });
    await redis.hset(`${keyPrefix}:userstate:{${KEY.appName}}:without:sessions`, { theme: '"light"' });
    await redis.hset(`${keyPrefix}:appstate:{${KEY.appName}}`, { currency: '"EUR"' });
    expect(await importRecords(storage, read())).toMatchObject({
      sessions: { created: 1 },
      events: 4,
      states: 3,
      bad: 0,
    });
    const { events } = await sessions.listEvents(KEY);
    expect(events.map(({ id, timestamp, content }) => [id, timestamp, content?.parts?.[0]?.text])).toEqual([
      ['e-1', START + 1_000, 'Where is 7?'],
      ['e-3', START + 2_000, 'Let me see'],
      ['import:summary', START + 2_000, 'They asked for 7'],
      ['e-2', START + 3_000, 'On its way'],
    ]);
    const session = await sessions.getSession(KEY);
    expect(session).toMatchObject({ createTime: START, lastUpdateTime: START + 9_000 });
    expect(session?.events.map(({ id }) => id)).toEqual(['import:summary', 'e-2']);
    expect(session?.state.toRecord()).toEqual({
      step: 2,
      text: 'plain',
      none: null,
      'user:theme': 'dark',
      'user:level': 3,
      'app:currency': 'EUR',
    });
    const other = { appName: KEY.appName, userId: 'without:sessions' };
    expect(await sessions.getUserState(other)).toEqual({ theme: 'light' });
    expect(await importRecords(storage, read())).toMatchObject({ sessions: { unchanged: 1 }, events: 0, states: 0 });
  });

  it('reads a session in both layouts once, long ones in pages, with their expiry', async () => {
    await writeOlder(KEY);
    await writeIndexed(KEY);
    const long = { sessionId: 'long', userId: 'bob' };
    await writeIndexed(long);
    const suffix = `${KEY.appName}:{bob}:long`;
    const [data, index] = [`${keyPrefix}:hashidx:evtdata:${suffix}`, `${keyPrefix}:hashidx:evtidx:time:${suffix}`];
    const pipeline = redis.pipeline();
    for (let n = 0; n < 1_100; n++) {
      const id = `n-${String(n).padStart(4, '0')}`;
      pipeline.hset(data, id, eventText(10, id, { role: 'user', content: `${n}` }));
      pipeline.zadd(index, nanos(10), id);
    }
    // Named by the index only: its service passes over such ids as well.
    pipeline.zadd(index, nanos(11), 'lost');
    pipeline.pexpire(`${keyPrefix}:hashidx:meta:${suffix}`, 3_600_000);
    await pipeline.exec();
    expect(await importRecords(storage, read())).toMatchObject({ sessions: { created: 2 }, events: 4 + 1_104 });
    const record = (await storage.read({ key: { ...KEY, ...long } }))?.record;
    expect(record?.lastSeq).toBe(1_104);
    expect(Math.abs((record?.expiresAt ?? 0) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect((await storage.read({ key: KEY }))?.record.lastSeq).toBe(4);
  });

  it('names a session that cannot be read, and goes on if that is wanted', async () => {
    await writeIndexed(KEY);
    await writeIndexed({ ...KEY, sessionId: 'torn' });
    await redis.set(`${keyPrefix}:hashidx:meta:${KEY.appName}:{ann}:torn`, '{"id":');
    await writeIndexed({ ...KEY, sessionId: 'event' });
    await redis.hset(`${keyPrefix}:hashidx:evtdata:${KEY.appName}:{ann}:event`, 'e-2', '{');
    await expect(importRecords(storage, read())).rejects.toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
    const result = await importRecords(storage, read(), { onBad: 'skip' });
    expect(result).toMatchObject({ bad: 2 });
    expect(result.problems.map(({ sessionId }) => sessionId)).toEqual(
      expect.arrayContaining(['event', expect.stringContaining('torn')]),
    );
    expect((await sessions.listSessions({ appName: KEY.appName })).sessions.map(({ id }) => id)).toEqual(['s:1']);
  });
});
