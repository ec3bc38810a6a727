import { SessionService, StoreUnavailableError } from '../../src/index.js';
import { describeRedis } from '../support/redis-servers.js';
import { redisUrl } from '../support/redis-store.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { rounds } from '../support/rounds.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
/** Enough for a call on a busy machine. */
const LIMIT_MS = 4_000;
/** A busy machine may be slow; a call that hangs never ends. */
const SLACK_MS = 10_000;
const LOSSES = rounds(100);

describeRedis('A $name store behind a bad network', ['redis'], (bench) => {
  let proxy: TcpProxy;
  let sessions: SessionService;

  beforeEach(async () => {
    const { hostname, port } = new URL(redisUrl);
    proxy = await TcpProxy.start({ host: hostname, port: Number(port || 6379) });
    const url = new URL(redisUrl);
    url.host = `127.0.0.1:${proxy.port}`;
    const storage = bench().storage({ url: url.href, commandTimeoutMs: LIMIT_MS });
    sessions = new SessionService({ storage });
    await sessions.createSession(KEY);
  });

  afterEach(() => proxy.stop());

  it(`appends each event once when ${LOSSES} responses are lost`, async () => {
    for (let number = 1; number <= LOSSES; number++) {
      const event = { id: `e${number}`, author: 'user', actions: { stateDelta: { count: number } } };
      proxy.mode = 'lose the next response';
      // The store looks whether the event is there.
      expect(await sessions.appendEvent({ session: SESSION, event })).toMatchObject({ seq: number });
      expect(await sessions.append({ session: SESSION, event })).toMatchObject({
        duplicate: true,
        event: { seq: number },
      });
    }
    const session = await sessions.getSession(KEY);
    expect(session?.events.map(({ seq, id }) => [seq, id])).toEqual(
      Array.from({ length: LOSSES }, (_, index) => [index + 1, `e${index + 1}`]),
    );
    expect(session?.state.get('count')).toBe(LOSSES);
  });

  it('reads again when a response is lost', async () => {
    await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
    proxy.mode = 'lose the next response';
    expect(await sessions.getSession(KEY)).toMatchObject({ version: 1 });
    proxy.mode = 'lose the next response';
    expect(await sessions.listEvents(KEY)).toMatchObject({ lastSeq: 1 });
    proxy.mode = 'lose the next response';
    expect(await sessions.listSessions({ appName: KEY.appName, userId: KEY.userId })).toMatchObject({
      sessions: [{ id: SESSION.id }],
    });
  });

  it('appends each batch once when responses are lost', async () => {
    for (let number = 1; number <= 20; number++) {
      const events = ['a', 'b', 'c'].map((part) => ({ id: `${part}${number}`, author: 'user' }));
      proxy.mode = 'lose the next response';
      const eventIds = events.map(({ id }) => id);
      expect(await sessions.appendEvents({ session: SESSION, events })).toMatchObject(eventIds.map((id) => ({ id })));
      const again = await sessions.appendBatch({ session: SESSION, events });
      expect(again).toMatchObject({ duplicate: true, events: eventIds.map((id) => ({ id })) });
    }
    expect((await sessions.getSession(KEY))?.version).toBe(60);
  });

  it('ends every call within its time limit when no packet gets through', async () => {
    proxy.mode = 'black hole';
    const event = { id: 'e1', author: 'user' };
    const calls = [
      { outcomeUnknown: true, call: () => sessions.appendEvent({ session: SESSION, event }) },
      { outcomeUnknown: false, call: () => sessions.getSession(KEY) },
      { outcomeUnknown: false, call: () => sessions.listSessions({ appName: 'shop' }) },
      { outcomeUnknown: true, call: () => sessions.updateAppState({ appName: 'shop', stateDelta: { k: 1 } }) },
    ];
    await Promise.all(
      calls.map(async ({ outcomeUnknown, call }) => {
        const refused = expect(call()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown });
        expect(await timeOf(() => refused)).toBeLessThan(LIMIT_MS + SLACK_MS);
      }),
    );
    proxy.mode = 'pass';
    proxy.reset();
    // The first append after a reset may go to the connection that is being closed.
    const first = await sessions.append({ session: SESSION, event }).catch((error: unknown) => error);
    const appended =
      first instanceof StoreUnavailableError ? await sessions.append({ session: SESSION, event }) : first;
    expect(appended).toMatchObject({ event: { seq: 1 } });
    expect((await sessions.getSession(KEY))?.version).toBe(1);
  });

  it('reconnects by itself after a black hole', async () => {
    proxy.mode = 'black hole';
    const event = { id: 'e1', author: 'user' };
    await expect(sessions.appendEvent({ session: SESSION, event })).rejects.toBeInstanceOf(StoreUnavailableError);
    proxy.mode = 'pass';
    // The dead connection is closed a little later.
    let tries = 0;
    for (; tries < 10; tries++) {
      if (await sessions.append({ session: SESSION, event }).catch(() => undefined)) break;
    }
    expect(tries).toBeLessThan(10);
    expect((await sessions.getSession(KEY))?.version).toBe(1);
  });

  it('continues after its connections were reset', async () => {
    for (let number = 1; number <= 20; number++) {
      const event = { id: `e${number}`, author: 'user' };
      proxy.reset();
      const first = await sessions.append({ session: SESSION, event }).catch((error: unknown) => error);
      if (first instanceof StoreUnavailableError) await sessions.append({ session: SESSION, event });
    }
    const { events } = await sessions.listEvents(KEY);
    expect(events.map(({ seq, id }) => `${id} ${seq}`)).toEqual(events.map((_, index) => `e${index + 1} ${index + 1}`));
    expect(events).toHaveLength(20);
  });

  it('reports that nothing was written when there is no connection', async () => {
    proxy.refuse();
    const request = { session: SESSION, event: { author: 'user' } };
    // The first call may already be sent when the connection breaks.
    await expect(sessions.appendEvent(request)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const refused = expect(sessions.appendEvent(request)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcomeUnknown: false,
    });
    expect(await timeOf(() => refused)).toBeLessThan(LIMIT_MS + SLACK_MS);
  });
});

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
