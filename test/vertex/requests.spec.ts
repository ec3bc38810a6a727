import { SessionService, type StoreUnavailableError } from '../../src/index.js';
import type { VertexError } from '../../src/vertex.js';
import { ENGINE, storageAt } from './support/open-vertex.js';
import { type Fault, VertexServer } from './support/vertex-server.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1', id: 's-1' };
const EVENT = { id: 'e-1', author: 'user', content: { role: 'user', parts: [{ text: 'my secret' }] } };

describe('requests to Vertex AI', () => {
  let server: VertexServer;
  let closing: (() => Promise<void>)[];

  beforeEach(async () => {
    closing = [];
    server = await VertexServer.start();
  });

  afterEach(async () => {
    for (const close of closing) await close();
    await server.stop();
  });

  function open(options: Parameters<typeof storageAt>[1] = {}): SessionService {
    const storage = storageAt(server, options);
    closing.push(() => storage.close());
    return new SessionService({ storage });
  }

  function requestsTo(part: string): string[] {
    return server.requests.filter((line) => line.includes(part));
  }

  it('a refused token is replaced once, and the request repeated', async () => {
    const asked: boolean[] = [];
    const sessions = open({
      accessToken: async (isRefused) => {
        asked.push(isRefused);
        return isRefused ? 'token-1' : 'expired';
      },
    });
    expect(await sessions.getSession(KEY)).toBeUndefined();
    expect(asked.filter(Boolean)).toHaveLength(asked.length / 2);
  });

  it('a second refusal of the token is an error, without the token', async () => {
    const sessions = open({ accessToken: async () => 'wrong-token' });
    const error = await failure(sessions.createSession(KEY));
    expect(error).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      httpStatus: 401,
      vertexStatus: 'UNAUTHENTICATED',
      outcomeUnknown: false,
    });
    expect(server.requests).toHaveLength(2);
    expect(everythingOf(error)).not.toContain('wrong-token');
  });

  it('a token that cannot be had is an error, without what the library says', async () => {
    const sessions = open({ accessToken: () => Promise.reject(new Error('private_key=hunter2')) });
    const error = await failure(sessions.createSession(KEY));
    expect(error.message).toContain('GOOGLE_APPLICATION_CREDENTIALS');
    expect(everythingOf(error)).not.toContain('hunter2');
  });

  it('an error names status and advice, and no text of the server', async () => {
    server.faults.push({ on: /^GET/, status: 403 });
    const error = await failure(open().getSession(KEY));
    expect(error).toMatchObject({ httpStatus: 403, outcomeUnknown: false });
    expect(error.message).toContain('roles/aiplatform.user');
    expect(everythingOf(error)).not.toContain('secret text');
    expect(error.publicMessage).not.toContain('403');
  });

  it('many at the same time are no leak of listeners, and Node warns of none', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    const sessions = open();
    await Promise.all(Array.from({ length: 20 }, async () => sessions.getSession(KEY)));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('a used up quota is waited for as long as the service asks', async () => {
    server.faults.push({ on: /^GET .*sessions\/s-1$/, status: 429, headers: { 'retry-after': '1' } });
    const start = Date.now();
    expect(await open().getSession(KEY)).toBeUndefined();
    expect(Date.now() - start).toBeGreaterThanOrEqual(990);
  });

  it('a quota that stays used up for longer than the time limit fails at once, and says when to come back', async () => {
    server.faults.push({ on: /^GET/, status: 429, headers: { 'retry-after': '60' }, times: 9 });
    const start = Date.now();
    const error = await failure(open().getSession(KEY));
    expect(error).toMatchObject({ httpStatus: 429, retryAfterMs: 60_000, outcomeUnknown: false });
    expect(Date.now() - start).toBeLessThan(5_000);
  });

  it.each<Omit<Fault, 'on'>>([{ status: 500 }, { status: 503 }, { after: 'truncate' }, { after: 'drop' }])(
    'a read is repeated after %j',
    async (fault) => {
      const sessions = open();
      await sessions.createSession(KEY);
      await sessions.appendEvent({ session: KEY, event: EVENT });
      server.faults.push({ ...fault, on: /^GET .*sessions\/s-1$/ }, { ...fault, on: /^GET .*events/ });
      expect((await sessions.getSession(KEY))?.events.map(({ id }) => id)).toEqual(['e-1']);
      expect(server.faults).toEqual([]);
    },
  );

  it.each<Omit<Fault, 'on'>>([
    { status: 500 },
    { status: 429 },
    { after: 'status', status: 500 },
    { after: 'truncate' },
    { after: 'drop' },
  ])('an append is stored once after %j', async (fault) => {
    const sessions = open();
    await sessions.createSession(KEY);
    server.faults.push({ ...fault, on: /:appendEvent/ });
    const stored = await sessions.appendEvent({ session: KEY, event: EVENT });
    expect(stored.seq).toBe(1);
    expect(server.sessions[0]?.events).toHaveLength(1);
    expect((await sessions.getSession(KEY))?.version).toBe(1);
  });

  it('an append whose outcome stays unknown says so, and the same event can be sent again', async () => {
    const sessions = open({ timeLimitMs: 2_000 });
    await sessions.createSession(KEY);
    server.faults.push({ on: /:appendEvent/, after: 'drop' }, { on: /events\?/, status: 503, times: 99 });
    const storage = storageAt(server);
    const error = await failure(sessions.appendEvent({ session: KEY, event: EVENT }));
    expect(error).toMatchObject({ eventId: 'e-1', code: 'STORE_UNAVAILABLE' });
    server.faults.length = 0;
    await sessions.appendEvent({ session: KEY, event: EVENT });
    expect(server.sessions[0]?.events.length).toBe(1);
    await storage.close();
  });

  it('a request without answer ends with the time limit', async () => {
    server.faults.push({ on: /^GET/, hangs: true, times: 9 });
    const error = await failure(open({ timeLimitMs: 150 }).getSession(KEY));
    expect(error.message).toContain('within 150 ms');
  });

  it('closing ends requests, and later calls fail', async () => {
    const storage = storageAt(server);
    const sessions = new SessionService({ storage });
    server.faults.push({ on: /^GET/, hangs: true, times: 9 });
    const reading = failure(sessions.getSession(KEY));
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await storage.close();
    expect((await reading).message).toContain('closed');
    expect((await failure(sessions.getSession(KEY))).message).toContain('closed');
  });

  it('a service that does not know raw events gets the event without it, and later ones too', async () => {
    await server.stop();
    server = await VertexServer.start({ knowsRawEvent: false });
    const sessions = open();
    await sessions.createSession(KEY);
    await sessions.appendEvent({ session: KEY, event: { ...EVENT, usageMetadata: { totalTokenCount: 7 } } });
    await sessions.appendEvent({ session: KEY, event: { ...EVENT, id: 'e-2' } });
    expect(requestsTo(':appendEvent')).toHaveLength(3);
    const read = await open().getSession(KEY);
    expect(read?.events[0]).toMatchObject({ id: 'e-1', usageMetadata: { totalTokenCount: 7 }, content: EVENT.content });
  });

  it('an event that the service refuses is an error that names the field', async () => {
    const sessions = open();
    await sessions.createSession(KEY);
    server.faults.push({ on: /:appendEvent/, status: 400, times: 2 });
    const error = await failure(sessions.appendEvent({ session: KEY, event: EVENT }));
    expect(error).toMatchObject({ httpStatus: 400, outcomeUnknown: false });
    expect(everythingOf(error)).not.toContain('my secret');
  });

  it.each(['null', '[]', '5', '{"sessionEvents":5}', '{"sessionEvents":[null]}', '{"sessions":"x","name":{}}'])(
    'an answer that is none of the API is an error: %s',
    async (body) => {
      server.faults.push({ on: /./, body, times: Infinity });
      const sessions = open({ timeLimitMs: 300 });
      for (const work of [() => sessions.getSession(KEY), () => sessions.createSession(KEY)]) {
        expect(await failure(work())).toMatchObject({ name: 'VertexError', code: 'STORE_UNAVAILABLE' });
      }
      if (body.includes('sessionEvents')) return;
      expect(await failure(sessions.listSessions({ appName: 'shop' }))).toMatchObject({ name: 'VertexError' });
    },
  );

  it.each(['null', '{"error":5}', '{"error":{"details":[null,{"fieldViolations":[null,5]}]}}'])(
    'a refusal that is none of the API is an error: %s',
    async (body) => {
      server.faults.push({ on: /./, status: 400, body, times: Infinity });
      expect(await failure(open().getSession(KEY))).toMatchObject({ name: 'VertexError', httpStatus: 400 });
    },
  );

  it.each(['', undefined])('an access token that is %j is an error before a request', async (token) => {
    const error = await failure(open({ accessToken: async () => token as string }).getSession(KEY));
    expect(error).toMatchObject({ name: 'VertexError', outcomeUnknown: false });
    expect(server.requests).toEqual([]);
  });

  it.each(['projects/../locations/x/reasoningEngines/1', 'projects/p/locations/../reasoningEngines/1'])(
    'an app name that only looks like that of an engine is refused: %s',
    async (appName) => {
      expect(await failure(open().getSession({ ...KEY, appName }))).toMatchObject({ code: 'INVALID_INPUT' });
      expect(server.requests).toEqual([]);
    },
  );

  it('an engine that does not exist is an error', async () => {
    const sessions = open({ reasoningEngine: ENGINE.replace('77', '404') });
    expect(await failure(sessions.createSession(KEY))).toMatchObject({ httpStatus: 404 });
  });
});

async function failure(work: Promise<unknown>): Promise<VertexError & StoreUnavailableError> {
  return work.then(
    () => {
      throw new Error('Nothing failed');
    },
    (error: VertexError) => error,
  );
}

/** All that a log could show of an error. */
function everythingOf(error: Error): string {
  return JSON.stringify([error, error.message, error.stack, String(error.cause)]);
}
