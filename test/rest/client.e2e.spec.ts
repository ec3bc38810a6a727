import { ProblemError, SessionsClient } from '../../src/client/index.js';
import { Event } from '../../src/index.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { RestApp, frameworks } from './rest-app.js';

const OWNER = { appName: 'shop', userId: 'ann/1' };
const KEY = { ...OWNER, sessionId: 's 1' };
const HELLO = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };

describe.each(frameworks)('SessionsClient on %s', (framework) => {
  let app: RestApp;
  let client: SessionsClient;

  beforeEach(async () => {
    app = await RestApp.start(framework);
    client = new SessionsClient({ url: `${app.url}/` });
  });

  afterEach(async () => {
    await app.close();
  });

  it('has the results of the service', async () => {
    const created = await client.createSession({ ...KEY, state: { step: 1 } });
    expect(created).toMatchObject({ id: 's 1', userId: 'ann/1', version: 0, state: { step: 1 } });
    const stored = await client.appendEvent({ ...KEY, event: HELLO, expectedVersion: 0 });
    expect(stored).toMatchObject({ seq: 1, author: 'user' });
    const changes = { stateDelta: { step: 2, 'user:theme': 'dark' } };
    await expect(client.updateState({ ...KEY, ...changes, expectedVersion: 0 })).rejects.toMatchObject({ status: 412 });
    await client.updateState({ ...KEY, ...changes, expectedVersion: stored.seq });
    expect(await client.getState(KEY)).toEqual({ step: 2, 'user:theme': 'dark' });
    expect((await client.getSession({ ...KEY, numRecentEvents: 1 }))?.events.map(({ seq }) => seq)).toEqual([2]);
    expect((await client.listEvents({ ...KEY, order: 'desc', limit: 1 })).events[0]?.seq).toBe(2);
    expect((await client.forkSession({ ...KEY, atSeq: 1, newSessionId: 'copy' })).state.step).toBe(1);
    expect((await client.rewindSession({ ...KEY, toSeq: 1 })).state.step).toBe(1);
    expect((await client.listSessions(OWNER)).sessions.map(({ id }) => id).toSorted()).toEqual(['copy', 's 1']);
    await client.createSession({ appName: 'shop', userId: 'bob', sessionId: 'of bob' });
    const ofApp = await client.listSessions({ appName: 'shop', order: 'asc', orderBy: 'createTime', limit: 2 });
    const { cursor, ...rest } = {
      cursor: ofApp.nextCursor,
      appName: 'shop',
      order: 'asc',
      orderBy: 'createTime',
    } as const;
    const ofBob = await client.listSessions({ ...rest, cursor });
    expect([...ofApp.sessions, ...ofBob.sessions].map(({ id }) => id)).toEqual(['s 1', 'copy', 'of bob']);
    await client.deleteSession(KEY);
    expect(await client.getSession(KEY)).toBeUndefined();
  });

  it('changes shared state, and creates a session once for concurrent callers', async () => {
    await client.updateUserState({ ...OWNER, stateDelta: { theme: 'dark', old: 1 } });
    expect(await client.updateUserState({ ...OWNER, stateRemovals: ['old'] })).toEqual({ theme: 'dark' });
    await client.updateAppState({ ...OWNER, stateDelta: { tax: 19 } });
    expect([await client.getUserState(OWNER), await client.getAppState(OWNER)]).toEqual([
      { theme: 'dark' },
      { tax: 19 },
    ]);
    const wanted = await Promise.all(['a', 'b', 'c'].map((by) => client.getOrCreateSession({ ...KEY, state: { by } })));
    for (const session of wanted) expect(session).toEqual(wanted[0]);
  });

  it('reports whether an event was stored before, and recognises a repeated Event by its content', async () => {
    await client.createSession(KEY);
    const [first, second] = [new Event({ id: 'order-7', ...HELLO }), new Event({ id: 'order-7', ...HELLO })];
    expect(await client.append({ ...KEY, event: first })).toMatchObject({ duplicate: false, event: { seq: 1 } });
    expect(await client.append({ ...KEY, event: second })).toMatchObject({ duplicate: true, event: { seq: 1 } });
  });

  it('throws errors with a code', async () => {
    await client.createSession(KEY);
    await client.appendEvent({ ...KEY, event: HELLO });
    const stale = client.appendEvent({ ...KEY, event: HELLO, expectedVersion: 0 });
    await expect(stale).rejects.toBeInstanceOf(ProblemError);
    await expect(stale).rejects.toMatchObject({ status: 412, code: 'STALE_SESSION', currentVersion: 1 });
    await expect(client.createSession(KEY)).rejects.toMatchObject({ status: 409, code: 'SESSION_EXISTS' });
  });

  it('sends the headers of the caller with every request', async () => {
    let asked = 0;
    const headers = (): Record<string, string> => ({ authorization: `Bearer ${(asked += 1)}` });
    const seen: unknown[] = [];
    const watching: typeof fetch = (input, init) => {
      seen.push(new Headers(init?.headers).get('authorization'));
      return fetch(input, init);
    };
    const authorized = new SessionsClient({ url: app.url, headers, fetch: watching });
    await authorized.createSession(KEY);
    await authorized.getState(KEY);
    expect(seen).toEqual(['Bearer 1', 'Bearer 2']);
  });

  it('stores each of 50 events once if every first response is lost', async () => {
    const proxy = await TcpProxy.start({ host: '127.0.0.1', port: Number(new URL(app.url).port) });
    const distant = new SessionsClient({ url: `http://127.0.0.1:${proxy.port}` });
    await client.createSession(KEY);
    for (let number = 1; number <= 50; number++) {
      proxy.mode = 'lose the next response';
      expect(await distant.appendEvent({ ...KEY, event: HELLO })).toMatchObject({ seq: number });
    }
    const { events, lastSeq } = await client.listEvents(KEY);
    expect([events.length, lastSeq]).toEqual([50, 50]);
    await proxy.stop();
  });

  it('watches across 50 broken connections without loss or repetition', async () => {
    const proxy = await TcpProxy.start({ host: '127.0.0.1', port: Number(new URL(app.url).port) });
    const distant = new SessionsClient({ url: `http://127.0.0.1:${proxy.port}` });
    await client.createSession(KEY);
    const seen: number[] = [];
    const appending = (async () => {
      for (let number = 0; number < 200; number++) await client.appendEvent({ ...KEY, event: HELLO });
    })();
    for await (const { seq } of distant.watch({ ...KEY, afterSeq: 0 })) {
      seen.push(seq);
      if (seq === 200) break;
      if (seq % 4 === 0) proxy.reset();
    }
    await appending;
    expect(seen).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    await proxy.stop();
  });

  it('stops watching when the session is deleted or the caller stops', async () => {
    await client.createSession(KEY);
    await client.appendEvent({ ...KEY, event: HELLO });
    const stop = new AbortController();
    const rest = client.watch({ ...KEY, afterSeq: 1, signal: stop.signal }).next();
    stop.abort();
    expect(await rest).toEqual({ done: true, value: undefined });
    const gone = client.watch({ ...KEY, afterSeq: 1 }).next();
    const told = expect(gone).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await client.deleteSession(KEY);
    await told;
  });
});
