import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { InMemorySessionStorage, SessionService, isFinalResponse } from '../../src/index.js';
import { type ForeignRedis, importRecords, trpcAgentRedisSessions } from '../../src/transfer/index.js';
import { newPrefix, redisUrl, removeKeys } from '../support/redis-store.js';

/** What tRPC-Agent for Python (of August 2026) stored in Redis, field for field. */
const STORED = readFileSync(join(__dirname, 'fixtures/trpc-agent-redis-session.json'), 'utf8');

interface StoredEvent {
  readonly id: string;
  readonly content: { readonly role: string; readonly parts: readonly object[] };
  readonly actions: object;
}

const REAL = JSON.parse(STORED) as { readonly events: readonly [StoredEvent, StoredEvent] };
const OWNER = { appName: 'APP', userId: 'u1' };

/** The real session with other fields. */
const session = (id: string, more: object): string => JSON.stringify({ ...REAL, id, state: {}, ...more });

/** A real event with other fields. */
function said(id: string, author: string, text: string, more: { actions?: object; model_flags?: number } = {}): object {
  const [first] = REAL.events;
  const content = { role: author === 'agent' ? 'model' : 'user', parts: [{ ...first.content.parts[0], text }] };
  const actions = { ...first.actions, ...more.actions };
  return { ...first, id, author, content, timestamp: 1_793_527_200.25 + Number(id.slice(2)), ...more, actions };
}

describe('sessions of tRPC-Agent in Redis', () => {
  const storage = new InMemorySessionStorage();
  const sessions = new SessionService({ storage });
  const prefix = newPrefix();
  const redis = new Redis(redisUrl);
  /** The server is shared, and the layout has no prefix. */
  const client: ForeignRedis = {
    async scan(cursor, match, pattern) {
      const [next, keys] = await redis.scan(cursor, match, `${prefix}${pattern}`, 'COUNT', 1_000_000);
      return [next, keys.map((key) => key.slice(prefix.length))];
    },
    get: (key) => redis.get(`${prefix}${key}`),
    hgetall: (key) => redis.hgetall(`${prefix}${key}`),
    pttl: (key) => redis.pttl(`${prefix}${key}`),
  };

  const stored = (id: string, text: string): Promise<unknown> => redis.set(`${prefix}session:APP:u1:${id}`, text);
  const importAll = () => importRecords(storage, trpcAgentRedisSessions(client));

  afterEach(async () => {
    await removeKeys([redis], prefix);
    await sessions.eraseUser(OWNER);
  });
  afterAll(() => redis.quit());

  it('reads what the system itself stored', async () => {
    await stored('s9', STORED);
    expect(await importAll()).toMatchObject({ sessions: { created: 1 }, events: 2, bad: 0 });
    const found = await sessions.getSession({ ...OWNER, sessionId: 's9' });
    expect(found).toMatchObject({
      createTime: 1_795_635_778_931,
      lastUpdateTime: 1_795_635_779_043,
      conversationCount: 1,
    });
    expect(found?.state.toRecord()).toEqual({ initial_key: 'initial_value', step: 2 });
    // Exactly: a field that is not set is missing.
    expect(found?.events.map(({ seq: _seq, ...event }) => event)).toEqual([
      {
        id: '9b38cfd2-8ef8-44ce-b565-a36002c9f45e',
        author: 'user',
        invocationId: 'i1',
        timestamp: 1_795_635_779_012,
        content: { role: 'user', parts: [{ text: 'hello' }] },
        actions: { stateDelta: {}, artifactDelta: {} },
        requiresCompletion: false,
        version: 0,
        visible: true,
        modelFlags: 1,
      },
      {
        id: 'd08e49ad-c8e1-4b34-9b24-e4545893531c',
        author: 'agent',
        invocationId: 'i1',
        timestamp: 1_795_635_779_043,
        content: { role: 'model', parts: [{ text: 'hi' }] },
        actions: { stateDelta: { step: 2 }, artifactDelta: {} },
        requiresCompletion: false,
        version: 0,
        visible: true,
        modelFlags: 1,
      },
    ]);
    expect(found?.events.map(isFinalResponse)).toEqual([true, true]);
    expect((await sessions.stateAt({ ...OWNER, sessionId: 's9', seq: 1 })).state).toEqual({
      initial_key: 'initial_value',
    });
    expect(await importAll()).toMatchObject({ sessions: { unchanged: 1 }, events: 0 });
  });

  it('keeps history, a summary in its place, state and expiry', async () => {
    const text = session('s-1', {
      last_update_time: 1_793_527_299.5,
      state: { step: 3, initial: 'x' },
      historical_events: [
        said('e-1', 'user', 'one'),
        said('e-2', 'agent', 'two', { actions: { state_delta: { step: 2 } } }),
      ],
      events: [
        said('e-3', 'system', 'Previous conversation summary: one, two', { model_flags: 3 }),
        said('e-4', 'user', 'three'),
        said('e-4', 'agent', 'a repeated id', { actions: { state_delta: { step: 3, 'user:seen': true } } }),
      ],
    });
    await redis.set(`${prefix}session:APP:u1:s-1`, text, 'PX', 100_000);
    await redis.hset(`${prefix}user_state:APP:u1`, { seen: '1', name: 'Ann' });
    await redis.hset(`${prefix}app_state:APP`, { currency: 'EUR' });
    await redis.pexpire(`${prefix}user_state:APP:u1`, 100_000);

    expect(await importAll()).toMatchObject({ sessions: { created: 1 }, states: 2 });

    const key = { ...OWNER, sessionId: 's-1' };
    const found = await sessions.getSession(key);
    // What tRPC-Agent shows: the summary, then what follows.
    expect(found?.events.map(({ id, content }) => [id, content?.parts?.[0]?.text])).toEqual([
      ['e-3', 'Previous conversation summary: one, two'],
      ['e-4', 'three'],
      ['import:5', 'a repeated id'],
    ]);
    const { events } = await sessions.listEvents(key);
    expect(events.map(({ id }) => id)).toEqual(['e-1', 'e-2', 'e-3', 'e-4', 'import:5']);
    expect(found?.state.toRecord()).toEqual({
      step: 3,
      initial: 'x',
      'user:seen': '1',
      'user:name': 'Ann',
      'app:currency': 'EUR',
    });
    expect(found).toMatchObject({
      conversationCount: 2,
      createTime: 1_793_527_201_250,
      lastUpdateTime: 1_793_527_299_500,
    });
    const { expiresAt: ofSession } = (await storage.read({ key }))?.record ?? {};
    for (const expiresAt of [ofSession, (await storage.readScope(OWNER)).expiresAt]) {
      const left = (expiresAt ?? 0) - Date.now();
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(100_000);
    }
    expect(await importAll()).toMatchObject({ sessions: { unchanged: 1 }, states: 0 });
  });

  it('keeps null where it is a value, and bytes in the usual alphabet', async () => {
    const call = { id: null, name: 'look_up', args: { order_id: 7, city: null }, partial_args: null };
    const file = { display_name: null, data: '-_-_', mime_type: 'image/png' };
    const [first, second] = REAL.events;
    const parts = [
      { ...second.content.parts[0], text: null, function_call: call, thought_signature: 'a-_=' },
      { ...second.content.parts[0], text: null, inline_data: file },
    ];
    const actions = { ...second.actions, state_delta: { draft: null } };
    const events = [first, { ...second, content: { role: 'model', parts }, actions, custom_metadata: { a_b: null } }];
    await stored('s-1', session('s-1', { state: { draft: null }, events }));
    await importAll();
    const { events: found } = await sessions.listEvents({ ...OWNER, sessionId: 's-1' });
    expect(found[1]).toMatchObject({ customMetadata: { a_b: null }, actions: { stateDelta: { draft: null } } });
    expect(found[1]?.content?.parts).toEqual([
      { functionCall: { name: 'look_up', args: { order_id: 7, city: null } }, thoughtSignature: 'a+/=' },
      { inlineData: { data: '+/+/', mimeType: 'image/png' } },
    ]);
  });

  it('finds the sessions of all nodes of a cluster', async () => {
    const ids = ['s-1', 's-2', 's-3'];
    for (const id of ids) await stored(id, session(id, { events: [] }));
    const nodes = ids.map((id) => ({
      scan: async (): Promise<[string, string[]]> => ['0', [`session:APP:u1:${id}`]],
    }));
    await importRecords(storage, trpcAgentRedisSessions(client, nodes));
    const { sessions: found } = await sessions.listSessions(OWNER);
    expect(found.map((each) => each.id).toSorted()).toEqual(ids);
  });

  it('keeps a summary without the history that it replaced', async () => {
    const events = [
      said('e-1', 'system', 'Previous conversation summary', { model_flags: 3 }),
      said('e-2', 'user', 'two'),
    ];
    await stored('s-2', session('s-2', { events }));
    await importAll();
    const found = await sessions.getSession({ ...OWNER, sessionId: 's-2' });
    expect(found?.events.map(({ id }) => id)).toEqual(['e-1', 'e-2']);
  });

  it('names what is no session, and goes on without it', async () => {
    await stored('s9', STORED);
    await redis.hset(`${prefix}session:of:another`, { program: '1' });
    await expect(importAll()).rejects.toMatchObject({
      code: 'TRANSFER_FILE_INVALID',
      message: expect.stringContaining('is no session of tRPC-Agent') as string,
    });
    expect(await importRecords(storage, trpcAgentRedisSessions(client), { onBad: 'skip' })).toMatchObject({
      sessions: { unchanged: 1 },
      bad: 1,
    });
  });
});
