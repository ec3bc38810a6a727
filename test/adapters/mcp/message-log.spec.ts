import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { SessionEventStore } from '../../../src/adapters/mcp/index.js';
import { InMemorySessionStorage, SessionService } from '../../../src/index.js';
import { describeSharedStores } from '../../support/processes/shared-stores.js';
import { openDescribed } from '../../support/processes/store-description.js';
import { until } from '../../support/until.js';
import { USER } from './support/instances.js';

const SESSION = { ...USER, mcpSessionId: 'transport' };

function message(text: string): JSONRPCMessage {
  return { jsonrpc: '2.0', method: 'say', params: { text } };
}

function longMessages(writer: number): JSONRPCMessage[] {
  return [1, 2].map((number) => message(`${writer} ${number} ${'x'.repeat(1_500_000)}`));
}

async function replayed(store: SessionEventStore, lastEventId: string): Promise<unknown[]> {
  const texts: unknown[] = [];
  await store.replayEventsAfter(lastEventId, {
    send: async (_id, said) => {
      texts.push('params' in said ? (said.params as { readonly text?: string }).text : said);
    },
  });
  return texts;
}

describe('The messages of a transport', () => {
  it('keep their order, skip what only gives a place, and hold any size', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const store = new SessionEventStore({ sessions, ...SESSION });
    const first = await store.storeEvent('a', {} as JSONRPCMessage);
    await store.storeEvent('b', message('of another stream'));
    const long = '"\ud83d\ude00é\n'.repeat(500_000);
    const stored = [message('one'), {} as JSONRPCMessage, message(long), message('\ud800')];
    const ids = await Promise.all(stored.map((each) => store.storeEvent('a', each)));
    const other = new SessionEventStore({ sessions, ...SESSION });
    expect(await replayed(other, first)).toEqual(['one', long, '\ud800']);
    expect(await replayed(other, ids[2] ?? '')).toEqual(['\ud800']);
    expect(await other.getStreamIdForEventId(ids[2] ?? '')).toBe('a');
  });

  it('are bounded: old ones are removed, and the ids of these are refused', async () => {
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage });
    const store = new SessionEventStore({ sessions, ...SESSION, maxMessages: 10 });
    const ids: string[] = [];
    for (let number = 0; number < 75; number++) ids.push(await store.storeEvent('a', message(`${number}`)));
    const { sessions: parts } = await sessions.listSessions(USER);
    expect(parts).toHaveLength(2);
    const kept = await replayed(store, ids[64] ?? '');
    expect(kept).toEqual(Array.from({ length: 10 }, (_, index) => `${65 + index}`));
    expect(await store.getStreamIdForEventId(ids[0] ?? '')).toBeUndefined();
    await store.clear();
    expect((await sessions.listSessions(USER)).sessions).toEqual([]);
    // A tool may still be at work.
    await expect(store.storeEvent('a', message('late'))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect((await sessions.listSessions(USER)).sessions).toEqual([]);
    await new SessionEventStore({ sessions, ...SESSION }).storeEvent('a', message('again'));
    expect(await store.getStreamIdForEventId(ids[74] ?? '')).toBeUndefined();
  });

  it.each([
    [1, 0.5],
    [1, 1],
    [3, 3],
    [5, 8],
  ])('are kept in parts of %d also if one has %d million characters', async (maxMessages, millions) => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    let commits = 0;
    sessions.hooks.onBeforeAppend(({ event }) => {
      if (++commits > 200) throw new Error('This goes on for ever');
      return event;
    });
    const store = new SessionEventStore({ sessions, ...SESSION, maxMessages });
    const first = await store.storeEvent('a', {} as JSONRPCMessage);
    const long = 'x'.repeat(millions * 1_000_000);
    const last = await store.storeEvent('a', message(long));
    expect(await replayed(store, first)).toEqual([long]);
    await store.storeEvent('a', message('next'));
    expect(await replayed(store, last)).toEqual(['next']);
    expect((await sessions.listSessions(USER)).sessions.length).toBeLessThanOrEqual(2);
  });

  it('of two writers are all heard, whatever their length and wherever a part ends', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const writers = [1, 2].map(() => new SessionEventStore({ sessions, ...SESSION, maxMessages: 10 }));
    const [writer] = writers;
    const begin = (await writer?.storeEvent('a', {} as JSONRPCMessage)) ?? '';
    const gone = new AbortController();
    const heard: unknown[] = [];
    const follow = { signal: gone.signal };
    await new SessionEventStore({ sessions, ...SESSION, maxMessages: 10, follow }).replayEventsAfter(begin, {
      send: async (_id, said) => void heard.push(said),
    });
    await Promise.all(
      writers.map(async (each, which) => {
        for (const said of longMessages(which)) await each.storeEvent('a', said);
      }),
    );
    const all = [...longMessages(0), ...longMessages(1)];
    await until(() => heard.length === all.length);
    gone.abort();
    expect(heard).toEqual(expect.arrayContaining(all));
    const again: unknown[] = [];
    await writer?.replayEventsAfter(begin, { send: async (_id, said) => void again.push(said) });
    expect(again).toEqual(heard);
  });

  it('are found again after an instance fell behind, and its part was removed', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const [late, early] = [1, 2].map(() => new SessionEventStore({ sessions, ...SESSION, maxMessages: 2 }));
    if (!late || !early) throw new Error('There are two');
    await late.storeEvent('a', message('first'));
    let place = '';
    for (let number = 0; number < 7; number++) place = await early.storeEvent('a', message(`${number}`));
    await late.storeEvent('a', message('late'));
    expect(await replayed(early, place)).toEqual(['late']);
  });

  it('are refused if their part is always removed again', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    sessions.hooks.onBeforeAppend(({ key }) => sessions.deleteSession(key));
    const store = new SessionEventStore({ sessions, ...SESSION });
    await expect(store.storeEvent('a', message('lost'))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('expire with the sessions of the app, also under a transport that goes on', async () => {
    let now = Date.now();
    const sessions = new SessionService({
      storage: new InMemorySessionStorage({ clock: { now: () => now } }),
      ttl: { enabled: true, sessionSeconds: 60 },
    });
    const store = new SessionEventStore({ sessions, ...SESSION });
    const old = await store.storeEvent('a', message('old'));
    now += 61_000;
    expect(await store.getStreamIdForEventId(old)).toBeUndefined();
    const next = await store.storeEvent('a', message('new'));
    await store.storeEvent('a', message('newer'));
    expect(await replayed(store, next)).toEqual(['newer']);
  });

  it('are only those of the server: a client that writes as a user adds none', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const store = new SessionEventStore({ sessions, ...SESSION });
    const first = await store.storeEvent('a', message('real'));
    const record = { stream: 'a', text: '{"jsonrpc":"2.0","method":"evil"}', left: 0, of: 'x' };
    await sessions.appendEvent({
      session: { ...USER, id: 'transport.0' },
      event: { author: 'user', customMetadata: { mcp: record } },
    });
    expect(await replayed(store, first)).toEqual([]);
    const stranger = new SessionEventStore({ sessions, ...SESSION, userId: 'bob' });
    expect(await stranger.getStreamIdForEventId(first)).toBeUndefined();
  });
});

describeSharedStores('Two instances that write for one client on a $name store', ({ create }) => {
  it('lose and double nothing, also where they begin new parts of the log', async () => {
    const store = await create();
    const instances = await Promise.all(
      ['a', 'b'].map(async () => new SessionService({ storage: await openDescribed(store.description) })),
    );
    const stores = instances.map((sessions) => new SessionEventStore({ sessions, ...SESSION, maxMessages: 30 }));
    const [reader] = stores;
    const start = await reader?.storeEvent('a', {} as JSONRPCMessage);
    await reader?.storeEvent('b', message('of b'));
    await Promise.all(
      stores.map(async (each, writer) => {
        for (let number = 0; number < 20; number++) await each.storeEvent('a', message(`${writer} ${number}`));
      }),
    );
    const texts = reader && start ? await replayed(reader, start) : [];
    for (const writer of [0, 1]) {
      const own = texts.filter((text) => String(text).startsWith(`${writer} `));
      expect(own).toEqual(Array.from({ length: 20 }, (_, number) => `${writer} ${number}`));
    }
    for (const each of instances) await each.close();
    await store.destroy();
  });
});
