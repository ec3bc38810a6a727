import type { EventEmitter } from 'node:events';
import { Client, type ClientConfig } from 'pg';
import { DataSource } from 'typeorm';
import { SessionService } from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { type MysqlDriver, MysqlPool } from '../../src/sessions/storage/typeorm/connect/mysql/mysql-connection.js';
import { mysqlServer } from '../../src/sessions/storage/typeorm/connect/mysql/mysql-server.js';
import { ConnectionTracker } from '../../src/sessions/storage/typeorm/connect/connection-pool.js';
import { sql } from '../../src/sessions/storage/typeorm/sql/sql.js';
import { describeSqlServers } from '../support/sql-bench.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const LIMIT_MS = 2_000;

/** Moments at which an unhandled error event would have ended the process. */
class Moments {
  readonly seen = new Set<string>();
  readonly unheard = new Set<string>();

  /** Emits errors as a driver does when a connection ends, possibly several. */
  emitError(connection: EventEmitter, moment: string): void {
    this.seen.add(moment);
    for (let time = 1; time <= 2; time++) {
      try {
        connection.emit('error', new Error('terminating connection due to administrator command'));
      } catch {
        this.unheard.add(moment);
      }
    }
  }
}

const MOMENTS = [
  'made',
  'connecting',
  'connected',
  'taken',
  'before a statement',
  'during one',
  'after one',
  'idle',
  'ended',
];

type AnyFunction = (...args: unknown[]) => unknown;

/** A class of pg clients that emit errors all the time once this is switched on. */
function failingClient(moments: Moments, isOn: () => boolean): typeof Client {
  const meet = (client: EventEmitter, moment: string): void => {
    if (isOn()) moments.emitError(client, moment);
  };
  class NervousClient extends Client {
    constructor(options?: ClientConfig | string) {
      super(options);
      setImmediate(() => meet(this, 'made'));
    }
  }
  const connect = Client.prototype.connect as AnyFunction;
  const query = Client.prototype.query as AnyFunction;
  const end = Client.prototype.end as AnyFunction;
  Object.assign(NervousClient.prototype, {
    connect(this: Client, done?: (error?: Error) => void): unknown {
      this.once('connect', () => meet(this, 'connected'));
      setTimeout(() => meet(this, 'connecting'), 0);
      if (!done) return connect.call(this);
      return connect.call(this, (error?: Error) => {
        done(error);
        // The pool has just handed it out and removed its error listener.
        meet(this, 'taken');
      });
    },
    query(this: Client, ...args: unknown[]): unknown {
      meet(this, 'before a statement');
      const answer = query.apply(this, args);
      meet(this, 'during one');
      if (answer instanceof Promise) {
        const met = (): void => {
          meet(this, 'after one');
          setTimeout(() => meet(this, 'idle'), 5);
        };
        answer.then(met, met);
      }
      return answer;
    },
    end(this: Client, ...args: unknown[]): unknown {
      setImmediate(() => meet(this, 'ended'));
      return end.apply(this, args);
    },
  });
  return NervousClient;
}

describeSqlServers(
  'An error event of a $name client',
  (bench) => {
    it('is always handled', async () => {
      const moments = new Moments();
      const { storageOptions } = bench().database;
      let isOn = false;
      const driverOptions = { ...storageOptions.driverOptions, Client: failingClient(moments, () => isOn) };
      const sessions = bench().sessions({ driverOptions, timeLimitMs: LIMIT_MS, service: { watchPollMs: 20 } });
      await sessions.createSession(KEY);
      isOn = true;
      const watch = sessions.watch(KEY);
      const next = watch.next();
      await until(async () => {
        await sessions.append({ session: SESSION, event: { author: 'user' } }).catch(() => undefined);
        await Promise.all([1, 2, 3].map(() => sessions.getSession(KEY).catch(() => undefined)));
        return moments.seen.size === MOMENTS.length;
      }, 'Not all moments came');
      expect((await next).value).toMatchObject({ seq: 1 });
      await sessions.close();
      await new Promise((resolve) => setImmediate(resolve));
      expect([...moments.unheard]).toEqual([]);
    });

    it('is handled while the store uses a connection from a pool of the app', async () => {
      const moments = new Moments();
      const dataSource = new DataSource({ type: 'postgres', url: bench().database.storageOptions.url });
      await bench().storage().open();
      await dataSource.initialize();
      bench().closeInTheEnd(() => dataSource.destroy());
      const { master } = dataSource.driver as unknown as { master: Pool };
      const connect = master.connect.bind(master);
      master.connect = (done) =>
        connect((error, client, release) => {
          // Events of the same chunk of data are emitted in the same tick.
          done(error, client, release);
          moments.emitError(client, 'taken');
          const query = client.query.bind(client);
          client.query = (...args) => {
            moments.emitError(client, 'before a statement');
            const answer = query(...args);
            moments.emitError(client, 'during one');
            return answer;
          };
        });
      const storage = new TypeOrmSessionStorage({ dataSource, timeLimitMs: LIMIT_MS });
      const sessions = new SessionService({ storage });
      await sessions.createSession(KEY);
      await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
      await sessions.close();
      expect([...moments.seen]).toEqual(['taken', 'before a statement', 'during one']);
      expect([...moments.unheard]).toEqual([]);
    });
  },
  ['postgres'],
);

/** The part of a pg pool that is used here. */
interface Pool {
  connect(done: (error: Error | undefined, client: PooledClient, release: () => void) => void): void;
}

type PooledClient = EventEmitter & { query(...args: unknown[]): unknown };

describeSqlServers(
  'An error event of a $name connection',
  (bench) => {
    it('is always handled, also if several occur', async () => {
      const moments = new Moments();
      const { url, driverOptions } = bench().database.storageOptions;
      const dataSource = new DataSource(mysqlServer.dataSourceOptions({ url, driverOptions, timeLimitMs: LIMIT_MS }));
      const connections = new ConnectionTracker();
      mysqlServer.trackConnections(dataSource, connections);
      await dataSource.initialize();
      // The pool drops a connection after an error, and the test acquired one directly.
      bench().closeInTheEnd(() => connections.destroyAll());
      bench().closeInTheEnd(() => dataSource.destroy());
      const driver = dataSource.driver as unknown as Required<Pick<MysqlDriver, 'pool'>>;
      const pool = new MysqlPool(driver, { withTime: false });

      const first = new Promise((resolve) => driver.pool.getConnection((_error, connection) => resolve(connection)));
      const { _allConnections: all } = driver.pool as unknown as { _allConnections: Queue };
      const taken = (await first) as EventEmitter & { release(): void };
      // Forces a second connection.
      const second = pool.acquire().catch((error: unknown) => error);
      const connecting = all.get(all.length - 1);
      moments.emitError(connecting, 'connecting');
      expect(await second).toBeInstanceOf(Error);
      expect(connecting.stream.destroyed).toBe(true);
      moments.emitError(taken, 'taken');
      taken.release();
      moments.emitError(taken, 'given back');

      const connection = await pool.acquire();
      const inUse = all.get(all.length - 1);
      moments.emitError(inUse, 'in use');
      expect(await connection.rows(sql`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
      connection.release();
      expect(inUse.stream.destroyed).toBe(true);
      expect([...moments.unheard]).toEqual([]);
    });

    it('is handled while the store uses a connection from a pool of the app', async () => {
      const moments = new Moments();
      const { url, driverOptions } = bench().database.storageOptions;
      const dataSource = new DataSource({ type: 'mysql', url, extra: driverOptions });
      await dataSource.initialize();
      bench().closeInTheEnd(() => dataSource.destroy());
      const driver = dataSource.driver as unknown as Required<Pick<MysqlDriver, 'pool'>>;
      const { _allConnections: all } = driver.pool as unknown as { _allConnections: Queue };
      const pool = new MysqlPool(driver, { withTime: false });
      const connection = await pool.acquire();
      const [inUse] = [all.get(all.length - 1)];
      moments.emitError(inUse, 'taken');
      const answer = connection.rows(sql`SELECT 1 AS one`);
      moments.emitError(inUse, 'during a statement');
      expect(await answer).toEqual([{ one: 1 }]);
      connection.discard();
      moments.emitError(inUse, 'broken');
      expect([...moments.unheard]).toEqual([]);
    });
  },
  ['mariadb'],
);

/** The connections of a mysql2 pool. */
interface Queue {
  readonly length: number;
  get(index: number): EventEmitter & { readonly stream: { readonly destroyed: boolean } };
}
