import { Redis } from 'ioredis';
import { type Session, SessionService } from '../../src/index.js';
import { RedisFeed } from '../../src/sessions/storage/redis/live/redis-feed.js';
import { RedisKeys } from '../../src/sessions/storage/redis/redis-keys.js';
import { CHECK_PERMISSIONS } from '../../src/sessions/storage/redis/connect/permission-check.js';
import { retryUntilSuccess, until } from '../support/until.js';
import { describeRedis } from '../support/redis-servers.js';
import { redisUrl } from '../support/redis-store.js';
import { type Piece, TcpProxy, type Verdict } from '../support/tcp-proxy.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const LIMIT_MS = 200;

/** The packet from which on a proxy drops everything. */
const MOMENTS: Readonly<Record<string, (piece: Piece) => boolean>> = {
  'from the first byte': () => true,
  'during the handshake': ({ data }) => data.includes('role:') || data.includes('redis_version'),
  'when it is ready': ({ data }) => data.includes(CHECK_PERMISSIONS.sha) || data.includes('refused'),
  'when its database is selected': ({ data }) => data.includes('select'),
};

describeRedis('A connection of a $name store that is accepted and then dead', ['redis'], (bench) => {
  let proxy: TcpProxy;
  let url: string;
  let feed: RedisFeed | undefined;

  beforeEach(async () => {
    const { hostname, port, username, password } = new URL(redisUrl);
    proxy = await TcpProxy.start({ host: hostname, port: Number(port || 6379) });
    const behind = new URL(redisUrl);
    behind.username = username;
    behind.password = password;
    behind.host = `127.0.0.1:${proxy.port}`;
    // Database 0 would need no SELECT.
    behind.pathname = '/1';
    url = behind.href;
  });
  afterEach(async () => {
    feed?.close();
    await proxy.stop();
  });

  function newSessions(): SessionService {
    return new SessionService({ storage: bench().storage({ url, commandTimeoutMs: LIMIT_MS }) });
  }

  it.each(Object.entries(MOMENTS))('%s, is replaced soon after the network works again', async (_moment, isMatch) => {
    proxy.filter = deadFrom(isMatch);
    const sessions = newSessions();
    for (let call = 1; call <= 5; call++) {
      await expect(sessions.createSession(KEY)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        outcomeUnknown: false,
        message: expect.stringContaining(`Redis at 127.0.0.1:${proxy.port}`) as string,
      });
    }
    proxy.filter = () => 'pass';
    const session = await created(sessions);
    const event = { id: 'e', author: 'user' };
    expect(await retryUntilSuccess(() => sessions.appendEvent({ session, event }))).toMatchObject({ seq: 1 });
    await retryUntilSuccess(() => sessions.deleteSession(KEY));
  });

  it.each(Object.entries(MOMENTS))('%s, is replaced after an earlier reset', async (_moment, isMatch) => {
    const sessions = newSessions();
    await created(sessions);
    proxy.filter = deadFrom(isMatch);
    proxy.reset();
    for (let call = 1; call <= 3; call++) await sessions.getSession(KEY).catch(() => undefined);
    proxy.filter = () => 'pass';
    expect(
      await retryUntilSuccess(() => sessions.append({ session: SESSION, event: { id: 'e', author: 'user' } })),
    ).toMatchObject({
      event: { seq: 1 },
    });
    await retryUntilSuccess(() => sessions.deleteSession(KEY));
  });

  it('while it is idle or in use, is replaced', async () => {
    const sessions = newSessions();
    await created(sessions);
    proxy.mode = 'black hole';
    await expect(sessions.appendEvent({ session: SESSION, event: { id: 'e', author: 'user' } })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcomeUnknown: true,
    });
    proxy.mode = 'pass';
    await retryUntilSuccess(() => sessions.append({ session: SESSION, event: { id: 'e', author: 'user' } }));
    expect((await retryUntilSuccess(() => sessions.getSession(KEY)))?.events).toHaveLength(1);
    await retryUntilSuccess(() => sessions.deleteSession(KEY));
  });

  it.each(Object.entries(MOMENTS))(
    '%s, is replaced by the client of an app with its own timeouts',
    async (_moment, isMatch) => {
      const limits = { commandTimeout: LIMIT_MS, socketTimeout: LIMIT_MS };
      const client = new Redis(url, { ...limits, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false });
      client.on('error', () => undefined);
      const sessions = new SessionService({ storage: bench().storage({ client, commandTimeoutMs: LIMIT_MS }) });
      proxy.filter = deadFrom(isMatch);
      for (let call = 1; call <= 3; call++) await expect(sessions.createSession(KEY)).rejects.toThrow();
      proxy.filter = () => 'pass';
      await created(sessions);
      await retryUntilSuccess(() => sessions.deleteSession(KEY));
      client.disconnect();
    },
  );

  const { 'when it is ready': _ready, ...ofSubscribers } = MOMENTS;
  it.each(Object.entries({ ...ofSubscribers, 'when it subscribes': ({ data }: Piece) => data.includes('subscribe') }))(
    '%s, is replaced for subscriptions',
    async (_moment, isMatch) => {
      const client = new Redis(url, { lazyConnect: true });
      feed = new RedisFeed(client, new RedisKeys(bench().prefix), { timeoutMs: LIMIT_MS, heartbeatMs: 20 });
      const verdicts = new Set<Verdict>();
      const filter = deadFrom(isMatch);
      proxy.filter = (piece) => {
        const verdict = filter(piece);
        verdicts.add(verdict);
        return verdict;
      };
      const listening = feed.listen({ key: KEY, incarnation: 'i' }, () => undefined);
      await until(async () => verdicts.has('drop'), 'Nothing was dropped');
      proxy.filter = () => 'pass';
      await until(async () => listening.isLive, 'It is not subscribed');
    },
  );
});

/**
 * On a busy machine, a connection that works can be slower than the short limit of these tests, and is replaced again. The session may
 * have been created before the answer was lost.
 */
async function created(sessions: SessionService): Promise<Session> {
  return retryUntilSuccess(() => sessions.getOrCreateSession(KEY));
}

/** Drops a matching packet, and everything after it on the same connection. */
function deadFrom(isMatch: (piece: Piece) => boolean): (piece: Piece) => Verdict {
  const dead = new Set<number>();
  return (piece) => {
    if (isMatch(piece)) dead.add(piece.connection);
    return dead.has(piece.connection) ? 'drop' : 'pass';
  };
}
