import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { exportSessions, importSessions } from '../../src/transfer/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import type { VertexSessionStorageOptions } from '../../src/vertex.js';
import { ENGINE, storageAt } from './support/open-vertex.js';
import { VertexServer } from './support/vertex-server.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1', id: 's-1' };
const DAY = 86_400_000;

describe('managed sessions', () => {
  let clock: ManualClock;
  let server: VertexServer;
  let closing: (() => Promise<void>)[];

  beforeEach(async () => {
    closing = [];
    clock = new ManualClock();
    server = await VertexServer.start({ clock });
  });

  afterEach(async () => {
    for (const close of closing) await close();
    await server.stop();
  });

  function open(
    options: Partial<VertexSessionStorageOptions> & Pick<ConstructorParameters<typeof SessionService>[0], 'ttl'> = {},
  ): SessionService {
    const { ttl, ...ofStorage } = options;
    const storage = storageAt(server, { clock, ...ofStorage });
    closing.push(() => storage.close());
    return new SessionService({ storage, clock, ttl });
  }

  it('a slow creation and a slow deletion are waited for', async () => {
    server.polls = 3;
    const sessions = open();
    expect(await sessions.createSession(KEY)).toMatchObject({ id: 's-1', version: 0 });
    await sessions.deleteSession(KEY);
    expect(server.requests.filter((line) => line.includes('/operations/'))).toHaveLength(6);
    expect(server.sessions).toEqual([]);
  });

  it('an operation that takes too long is an error with an unknown outcome', async () => {
    server.polls = 1_000;
    await expect(open({ operationLimitMs: 200 }).createSession(KEY)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcomeUnknown: true,
    });
  });

  it.each([0, 2])('an operation that fails after %i polls is an error without text of the server', async (polls) => {
    server.polls = polls;
    server.creationFailure = 13;
    const error: unknown = await open()
      .createSession(KEY)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: true });
    expect((error as Error).message).toContain('code 13');
    expect(JSON.stringify([(error as Error).message, error])).not.toContain('secret text');
    server.creationFailure = undefined;
    expect(await open().createSession(KEY)).toMatchObject({ id: 's-1' });
  });

  it('an operation that finds the session of another process is no creation', async () => {
    const mine = await open().createSession({ ...KEY, state: { of: 'the first' } });
    server.creationFailure = 6;
    await expect(open().createSession(KEY)).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    expect((await open().getSession(KEY))?.state.toRecord()).toEqual(mine.state.toRecord());
  });

  it.each(['drop', 'truncate'] as const)(
    'a creation whose answer was lost (%s) finds its own session',
    async (after) => {
      const sessions = open();
      server.faults.push({ on: /^POST/, after });
      expect(await sessions.createSession({ ...KEY, state: { step: 1 } })).toMatchObject({ state: { step: 1 } });
      expect(server.sessions).toHaveLength(1);
      await expect(sessions.createSession(KEY)).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    },
  );

  it('of two processes, one creates a session', async () => {
    const created = await Promise.allSettled([open().createSession(KEY), open().createSession(KEY)]);
    expect(created.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it("another user's session is not found, not deleted, and its id can be used", async () => {
    const sessions = open();
    await sessions.createSession({ ...KEY, state: { secret: 1 } });
    const other = { ...KEY, userId: 'bob' };
    expect(await sessions.getSession(other)).toBeUndefined();
    await sessions.deleteSession(other);
    await expect(sessions.appendEvent({ session: other, event: { author: 'user' } })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    await sessions.createSession({ ...other, state: { secret: 2 } });
    expect((await sessions.getSession(KEY))?.state).toEqual({ secret: 1 });
    await sessions.deleteSession(KEY);
    expect((await open().getSession(other))?.state).toEqual({ secret: 2 });
    await expect(sessions.createSession(other)).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
  });

  it('ids that the service refuses are possible', async () => {
    const sessions = open();
    for (const sessionId of ['Cart 1', '../x', 'é😀', 'x-taken', '-a', 'a'.repeat(191)]) {
      await sessions.createSession({ ...KEY, sessionId });
      expect((await sessions.getSession({ ...KEY, sessionId }))?.id).toBe(sessionId);
    }
    const { sessions: listed } = await sessions.listSessions({ appName: 'shop', userId: 'ann' });
    expect(listed.map(({ id }) => id)).toContain('é😀');
  });

  it('an app name may be the id of an engine, its full resource name, or the name of an app in the configured engine', async () => {
    const sessions = open({ project: 'p-1', location: 'us-central1' });
    const byId = { appName: '78', userId: 'ann', sessionId: 'by-id' };
    await sessions.createSession(byId);
    await sessions.createSession(KEY);
    await sessions.createSession({ ...KEY, appName: 'bank', sessionId: 's-2' });
    expect(server.sessions.map(({ name }) => name)).toEqual([
      `${ENGINE.replace('77', '78')}/sessions/by-id`,
      `${ENGINE}/sessions/s-1`,
      `${ENGINE}/sessions/s-2`,
    ]);
    expect(await sessions.getSession({ ...byId, appName: ENGINE.replace('77', '78') })).toMatchObject({ id: 'by-id' });
    expect(await sessions.getSession({ ...KEY, appName: 'bank' })).toBeUndefined();
    expect((await sessions.listSessions({ appName: 'bank' })).sessions.map(({ id }) => id)).toEqual(['s-2']);
    const whole = await sessions.listSessions({ appName: ENGINE });
    expect(whole.sessions.map(({ id }) => id).sort()).toEqual(['s-1', 's-2']);
  });

  it('an app name without an engine is refused', async () => {
    await expect(open({ reasoningEngine: undefined }).getSession(KEY)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      path: 'appName',
    });
  });

  it('a user id cannot change the filter of a list', async () => {
    const sessions = open();
    const userIds = ['ann', 'a" OR user_id="ann', 'back\\', 'back\\" AND labels.x="'];
    for (const [index, userId] of userIds.entries())
      await sessions.createSession({ ...KEY, userId, sessionId: `s-${index}` });
    for (const [index, userId] of userIds.entries()) {
      const { sessions: listed } = await sessions.listSessions({ appName: 'shop', userId });
      expect(listed.map(({ id }) => id)).toEqual([`s-${index}`]);
    }
  });

  it('a list has more than a page, in its order', async () => {
    await server.stop();
    server = await VertexServer.start({ clock, maxPage: 7 });
    const sessions = open();
    for (let number = 100; number <= 120; number++) {
      clock.advanceSeconds(1);
      await sessions.createSession({ ...KEY, sessionId: `s-${number}` });
    }
    await sessions.appendEvent({ session: { ...KEY, id: 's-100' }, event: { author: 'user' } });
    const { sessions: listed, nextCursor } = await sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 3 });
    expect(listed.map(({ id }) => id)).toEqual(['s-120', 's-100', 's-119']);
    const next = await sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 1, cursor: nextCursor });
    expect(next.sessions.map(({ id }) => id)).toEqual(['s-118']);
  });

  it('a list may not show a new session yet', async () => {
    await server.stop();
    server = await VertexServer.start({ clock, listLag: 1 });
    const sessions = open();
    await sessions.createSession(KEY);
    expect((await sessions.listSessions({ appName: 'shop' })).sessions).toEqual([]);
    expect(await sessions.getSession(KEY)).toBeDefined();
    expect((await sessions.listSessions({ appName: 'shop' })).sessions).toHaveLength(1);
  });

  it('a lifetime is that of the service, and is renewed after a tenth of it', async () => {
    const sessions = open({ ttl: { enabled: true, sessionSeconds: 2 * 86_400 } });
    await sessions.createSession(KEY);
    const expiry = (): number => Date.parse(server.sessions[0]?.expireTime ?? '') - clock.now();
    expect(expiry()).toBe(2 * DAY);
    clock.advanceSeconds(3_600);
    await sessions.getSession(KEY);
    expect(expiry()).toBe(2 * DAY - 3_600_000);
    clock.advanceSeconds(20_000);
    await sessions.appendEvent({ session: KEY, event: { author: 'user' } });
    expect(expiry()).toBe(2 * DAY);
    clock.advanceSeconds(2 * 86_400);
    expect(await sessions.getSession(KEY)).toBeUndefined();
    expect(await sessions.createSession(KEY)).toMatchObject({ version: 0 });
  });

  it.each([
    ['state of users', (sessions: SessionService) => sessions.createSession({ ...KEY, state: { 'user:a': 1 } })],
    [
      'state of an app',
      (sessions: SessionService) => sessions.updateAppState({ appName: 'shop', stateDelta: { a: 1 } }),
    ],
    ['sums of a user', (sessions: SessionService) => sessions.getUsage({ appName: 'shop', userId: 'ann' })],
  ])('%s are refused, and nothing is written', async (_name, use) => {
    await expect(use(open())).rejects.toMatchObject({ code: 'UNSUPPORTED_BY_STORE', status: 501 });
    expect(server.sessions).toEqual([]);
  });

  it('without the promise to be the only process, turns and leases are refused', async () => {
    const storage = storageAt(server, { clock, singleProcess: false });
    closing.push(() => storage.close());
    const sessions = new SessionService({ storage, clock });
    await sessions.createSession(KEY);
    await expect(sessions.beginTurn({ ...KEY, ttlMs: 1_000 })).rejects.toMatchObject({ code: 'UNSUPPORTED_BY_STORE' });
    await expect(storage.leases.acquire({ name: 'job', holder: 'me', ttlMs: 1 })).rejects.toThrow('singleProcess');
  });

  it('sessions can be moved to another store, app by app', async () => {
    const source = storageAt(server, { clock });
    closing.push(() => source.close());
    const sessions = new SessionService({ storage: source, clock });
    await sessions.createSession({ ...KEY, state: { step: 1 } });
    await sessions.appendEvent({
      session: KEY,
      event: { id: 'e-1', author: 'user', actions: { stateDelta: { step: 2 } } },
    });
    const target = new InMemorySessionStorage({ clock });
    await importSessions(target, exportSessions(source, { filter: { appName: 'shop' } }));
    const moved = await new SessionService({ storage: target, clock }).getSession(KEY);
    expect(moved).toMatchObject({ version: 1, state: { step: 2 }, events: [{ id: 'e-1', seq: 1 }] });
    await expect(importSessions(target, exportSessions(source))).rejects.toThrow('Name the app');
  });

  it('the usage of a session is kept', async () => {
    const event = { author: 'clerk', modelVersion: 'm', usageMetadata: { promptTokenCount: 3, totalTokenCount: 5 } };
    await open().createSession(KEY);
    await open().appendEvent({ session: KEY, event });
    await open().appendEvent({ session: KEY, event });
    expect(await open().getUsage(KEY)).toMatchObject({ total: { totalTokens: 10 } });
  });
});
