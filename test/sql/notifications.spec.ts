import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { SessionService } from '../../src/index.js';
import { type ListeningClient } from '../../src/sessions/storage/typeorm/live/postgres-listener.js';
import { PostgresFeed } from '../../src/sessions/storage/typeorm/live/postgres-feed.js';
import { SESSION_MIGRATIONS, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { describeSqlServers } from '../support/sql-bench.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
const NEVER = 1_000_000;
/** A working connection responds within this time, also on a busy machine. */
const SILENCE_MS = 2_000;

type Query = (text: string) => unknown;

/** Records queries. */
function asked(query: Query, said: string[]): Query {
  return (text) => {
    said.push(text);
    return query(text);
  };
}

describeSqlServers(
  'Notifications of a $name store',
  (bench) => {
    it('work with a DataSource of the app, with and without pipelining', async () => {
      for (const pipeline of [true, false]) {
        const dataSource = new DataSource({
          type: 'postgres',
          url: bench().database.storageOptions.url,
          migrations: [...SESSION_MIGRATIONS],
          extra: { pipeline, max: 1 },
        });
        await dataSource.initialize();
        await dataSource.runMigrations();
        const sessions = new SessionService({
          storage: new TypeOrmSessionStorage({ dataSource }),
          watchPollMs: NEVER,
        });
        const elsewhere = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource }) });
        await sessions.createSession(KEY);
        const watch = sessions.watch(KEY);
        for (let seq = 1; seq <= 3; seq++) {
          const next = watch.next();
          await elsewhere.appendEvent({ session: SESSION, event: { author: 'user' } });
          expect((await next).value).toMatchObject({ seq });
        }
        await elsewhere.deleteSession(KEY);
        await expect(watch.next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
        await sessions.close();
        await elsewhere.close();
        await dataSource.destroy();
      }
    });

    it('arrive for 64 sessions whose appends shared a transaction', async () => {
      const sessions = bench().sessions({ service: { watchPollMs: NEVER } });
      const elsewhere = bench().sessions();
      const ids = Array.from({ length: 64 }, (_, index) => `s-${index}`);
      for (const sessionId of ids) await sessions.createSession({ ...KEY, sessionId });
      const waiting = ids.map((sessionId) => sessions.watch({ ...KEY, sessionId }).next());
      await sessions.whenIdle();
      await Promise.all(
        ids.map((id) => elsewhere.appendEvent({ session: { ...SESSION, id }, event: { author: 'user', id } })),
      );
      const received = await Promise.all(waiting);
      expect(received.map(({ value }) => value?.id)).toEqual(ids);
      await sessions.close();
    });

    it('are not used behind a pooler, which shares the connection', async () => {
      const { url } = bench().database.storageOptions;
      const said: string[] = [];
      let isEnded = false;
      const newClient = (): ListeningClient => {
        const client = new Client({ connectionString: url });
        // A pooler reports its own process id to each client.
        Object.defineProperty(client, 'processID', { get: () => 1, set: jest.fn() });
        const query = asked(client.query.bind(client), said);
        jest.spyOn(client, 'query').mockImplementation(query);
        client.once('end', () => (isEnded = true));
        return client;
      };
      const feed = new PostgresFeed({ newClient, channel: 'c', timeoutMs: 30_000 });
      const listening = feed.listen({ key: KEY, incarnation: '1' }, () => undefined);
      await until(() => isEnded, 'It keeps the connection');
      expect(said).toEqual(['SELECT pg_backend_pid() AS pid']);
      expect(listening.isLive).toBe(false);
      feed.close();
    });

    it('use a new connection after one stops responding', async () => {
      const { proxy, behind } = await bench().proxy();
      const raw = await bench().connect();
      const newClient = () =>
        new Client({ connectionString: behind.url, connectionTimeoutMillis: SILENCE_MS }) as never;
      const feed = new PostgresFeed({ newClient, channel: 'c', timeoutMs: SILENCE_MS, heartbeatMs: 20 });
      const received: unknown[] = [];
      const listening = feed.listen({ key: KEY, incarnation: '5' }, (seq) => received.push(seq));
      const untilLive = (isLive: boolean) => until(async () => listening.isLive === isLive, `It is not ${isLive}`);
      await untilLive(true);
      proxy.mode = 'black hole';
      await untilLive(false);
      proxy.mode = 'pass';
      await untilLive(true);
      await raw.query(`SELECT pg_notify('c', '4:1,5:7,6:2'), pg_notify('c', '5')`);
      await until(async () => received.length >= 4, 'Not all messages were received');
      expect(received).toEqual([undefined, undefined, 7, undefined]);
      feed.close();
    });
  },
  ['postgres'],
);
