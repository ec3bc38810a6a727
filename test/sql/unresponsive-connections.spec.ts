import { DataSource } from 'typeorm';
import { type AppendResult, type EventInput, type Session, SessionService } from '../../src/index.js';
import { PostgresFeed } from '../../src/sessions/storage/typeorm/live/postgres-feed.js';
import { newListeningClient } from '../../src/sessions/storage/typeorm/live/postgres-listener.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { retryUntilSuccess, until } from '../support/until.js';
import { type SqlBench, describeSqlServersWithTables } from '../support/sql-bench.js';
import type { Piece, TcpProxy, Verdict } from '../support/tcp-proxy.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const EVENT = { id: 'e', author: 'user' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
/** Short, so that a busy machine may need longer for any call: all that must succeed are repeated. */
const LIMIT_MS = 400;
/** For tests of what a single call does. */
const LONGER_LIMIT_MS = 2_000;
const POOL_SIZE = 8;
/** What PostgreSQL is told when a connection is closed. */
const GOODBYE = Buffer.from('X\0\0\0\x04');

/** The message after which a proxy drops everything. */
const WHILE_CONNECTING: Readonly<Record<string, (piece: Piece) => boolean>> = {
  'from the first byte': () => true,
  'while it logs in': ({ from }) => from === 'client',
};
const WHILE_OPENING: typeof WHILE_CONNECTING = {
  ...WHILE_CONNECTING,
  'while the database is asked for its version': asks('version'),
  'while the database is checked': asks('server_encoding', 'character_set_client'),
};

function asks(...words: string[]): (piece: Piece) => boolean {
  return ({ data }) => words.some((word) => data.toString('latin1').toLowerCase().includes(word));
}

describeSqlServersWithTables('A connection of a $name store that stops responding', (bench) => {
  let proxy: TcpProxy;
  let behind: Awaited<ReturnType<SqlBench['proxy']>>['behind'];

  beforeEach(async () => {
    ({ proxy, behind } = await bench().proxy());
    // Creating the tables takes longer than the time limit.
    await bench().storage().open();
  });

  function newSessions(timeLimitMs = LIMIT_MS): SessionService {
    return bench().sessions({ ...behind, timeLimitMs, poolSize: POOL_SIZE });
  }

  it.each(Object.entries(WHILE_OPENING))('%s, does not prevent opening the store later', async (_moment, isMatch) => {
    proxy.filter = droppingFrom(isMatch);
    const sessions = newSessions();
    for (let call = 1; call <= 2; call++) {
      await expect(sessions.createSession(KEY)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        outcomeUnknown: false,
        message: expect.stringContaining(`127.0.0.1:${proxy.port}`) as string,
        publicMessage: expect.not.stringContaining('127.0.0.1') as string,
      });
    }
    proxy.filter = () => 'pass';
    expect(await created(sessions)).toMatchObject({ id: 's-1' });
  });

  it.each(Object.entries(WHILE_CONNECTING))('%s, does not use up the pool', async (_moment, isMatch) => {
    const sessions = newSessions();
    await created(sessions);
    proxy.filter = droppingFrom(isMatch);
    proxy.reset();
    const calls = Array.from({ length: 2 * POOL_SIZE }, () => sessions.getSession(KEY));
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    proxy.filter = () => 'pass';
    await fillPool(sessions);
  });

  it('while all connections are idle, costs only one call', async () => {
    const sessions = newSessions(LONGER_LIMIT_MS);
    await created(sessions);
    await fillPool(sessions);
    const used = new Set<number>();
    proxy.filter = droppingUpTo(proxy.connections, ({ connection, data }) => {
      if (!data.equals(GOODBYE)) used.add(connection);
    });
    await Promise.allSettled([sessions.getSession(KEY)]);
    expect(await retryUntilSuccess(() => sessions.getSession(KEY))).toMatchObject({ id: 's-1' });
    expect(await appended(sessions)).toMatchObject({ event: { seq: 1 } });
    expect(used.size).toBe(1);
  });

  it('after a long idle time, costs no call', async () => {
    const sessions = bench().sessions({ ...behind, timeLimitMs: LONGER_LIMIT_MS });
    await created(sessions);
    const idle = proxy.connections;
    proxy.filter = droppingUpTo(idle);
    const realNow = performance.now.bind(performance);
    const now = jest.spyOn(performance, 'now').mockImplementation(() => realNow() + 60_000);
    try {
      await Promise.allSettled([sessions.append({ session: SESSION, event: EVENT })]);
      // Within the same call.
      expect(proxy.connections).toBeGreaterThan(idle);
      expect(await appended(sessions)).toMatchObject({ event: { seq: 1 } });
    } finally {
      now.mockRestore();
    }
  });

  it('during a call, is not used again', async () => {
    const sessions = newSessions();
    await created(sessions);
    await fillPool(sessions);
    const events = Array.from({ length: 5 }, (_, index) => ({ id: `e-${index}`, author: 'user' }));
    proxy.mode = 'black hole';
    await Promise.allSettled(events.map((event) => sessions.append({ session: SESSION, event })));
    proxy.mode = 'pass';
    for (const event of events) await appended(sessions, event);
    expect((await retryUntilSuccess(() => sessions.getSession(KEY)))?.events).toHaveLength(events.length);
    await fillPool(sessions);
  });

  it('from a DataSource of the app, is destroyed by the store and blocks no other call', async () => {
    const dataSource = await openHost(bench(), behind.url ?? '');
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource, timeLimitMs: LIMIT_MS }) });
    proxy.mode = 'black hole';
    // The store checks the tables first.
    for (let call = 1; call <= 2; call++) {
      await expect(sessions.createSession(KEY)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    }
    proxy.mode = 'pass';
    await created(sessions);
    await fillPool(sessions);
    proxy.mode = 'black hole';
    await expect(sessions.getSession(KEY)).rejects.toMatchObject({
      message: expect.stringContaining(`The database at 127.0.0.1:${proxy.port} did not answer`) as string,
    });
    proxy.mode = 'pass';
    await appended(sessions);
    await sessions.close();
  });
});

describeSqlServersWithTables(
  'A listening connection of a $name store that stops responding',
  (bench) => {
    it.each(Object.entries({ ...WHILE_CONNECTING, 'when it listens': asks('listen ') }))(
      '%s, is replaced',
      async (_moment, isMatch) => {
        const { proxy, behind } = await bench().proxy();
        const dataSource = await openHost(bench(), behind.url ?? '');
        const feed = new PostgresFeed({
          newClient: () => newListeningClient(dataSource.driver, LIMIT_MS),
          channel: 'c',
          timeoutMs: LIMIT_MS,
          heartbeatMs: 20,
        });
        bench().closeInTheEnd(() => feed.close());
        const verdicts = new Set<Verdict>();
        const filter = droppingFrom(isMatch);
        proxy.filter = (piece) => {
          const verdict = filter(piece);
          verdicts.add(verdict);
          return verdict;
        };
        const listening = feed.listen({ key: KEY, incarnation: '1' }, () => undefined);
        await until(async () => verdicts.has('drop'), 'Nothing was dropped');
        proxy.filter = () => 'pass';
        await until(async () => listening.isLive, 'It does not listen');
      },
    );
  },
  ['postgres'],
);

/** An earlier attempt may have created it, and its answer come too late. */
async function created(sessions: SessionService): Promise<Session> {
  return retryUntilSuccess(() => sessions.getOrCreateSession(KEY));
}

async function appended(sessions: SessionService, event: EventInput = EVENT): Promise<AppendResult> {
  return retryUntilSuccess(() => sessions.append({ session: SESSION, event }));
}

/** Uses all connections of the pool, so that all of them are idle afterwards. */
async function fillPool(sessions: SessionService): Promise<void> {
  await Promise.all(Array.from({ length: POOL_SIZE }, () => retryUntilSuccess(() => sessions.getSession(KEY))));
}

async function openHost(bench: SqlBench, url: string): Promise<DataSource> {
  const dataSource = await retryUntilSuccess(() =>
    new DataSource({
      type: bench.name === 'postgres' ? 'postgres' : 'mysql',
      url,
      ...(bench.name === 'postgres'
        ? { connectTimeoutMS: LIMIT_MS }
        : { charset: 'utf8mb4', connectTimeout: LIMIT_MS }),
    }).initialize(),
  );
  bench.closeInTheEnd(() => dataSource.destroy());
  return dataSource;
}

/** Drops a matching message and everything after it on the same connection. */
function droppingFrom(isMatch: (piece: Piece) => boolean): (piece: Piece) => Verdict {
  const dead = new Set<number>();
  return (piece) => {
    if (isMatch(piece)) dead.add(piece.connection);
    return dead.has(piece.connection) ? 'drop' : 'pass';
  };
}

/** Drops everything on existing connections, but not on later ones. */
function droppingUpTo(last: number, dropped?: (piece: Piece) => void): (piece: Piece) => Verdict {
  return (piece) => {
    if (piece.connection > last) return 'pass';
    dropped?.(piece);
    return 'drop';
  };
}
