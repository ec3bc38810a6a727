import type { PooledConnection } from '../../src/sessions/storage/typeorm/connect/connection-pool.js';
import { lentMysqlConnection, MysqlPool } from '../../src/sessions/storage/typeorm/connect/mysql/mysql-connection.js';
import { sql } from '../../src/sessions/storage/typeorm/sql/sql.js';

const SETTINGS = 'SET SESSION something = 1';

const ASK_GALERA = "SHOW SESSION VARIABLES LIKE 'wsrep_on'";

/** A connection of mysql2 that a test can make fail. */
class FakeConnection {
  readonly config = { multipleStatements: true };
  readonly sent: string[] = [];
  isFailing = false;

  constructor(private readonly galera: 'ON' | 'OFF' | 'unknown' = 'unknown') {}

  query({ sql: text }: { sql: string }, done: (error: Error | null, result: unknown) => void): void {
    this.sent.push(text);
    if (text === ASK_GALERA) done(null, this.galera === 'unknown' ? [] : [{ Value: this.galera }]);
    else if (this.isFailing) done(new Error('lost'), undefined);
    else
      done(
        null,
        text.split('; ').map(() => []),
      );
  }

  format(text: string): string {
    return text;
  }

  on(): void {}
  off(): void {}
  release(): void {}
  destroy(): void {}
}

const poolOf = (connection: FakeConnection): MysqlPool =>
  new MysqlPool(
    { pool: { getConnection: (done) => done(null, connection) } },
    { settings: [SETTINGS], withTime: false },
  );

/** All that a transaction can send. */
async function useConnection(connection: PooledConnection): Promise<void> {
  connection.begin('write');
  await connection.rows(sql`SELECT 1`);
  await connection.changeAll([sql`UPDATE a`, sql`UPDATE b`]);
  await connection.commit({ statements: [sql`UPDATE c`, sql`UPDATE d`], queries: [sql`SELECT 2`] });
  connection.release();
}

const TRANSACTION = [
  'SET TRANSACTION ISOLATION LEVEL READ COMMITTED',
  'START TRANSACTION READ WRITE',
  'SELECT 1',
  'UPDATE a',
  'UPDATE b',
  'UPDATE c',
  'UPDATE d',
  'SELECT 2',
  'COMMIT',
];

describe('MysqlPool', () => {
  it('sends the settings of a new connection until they succeed, then never again', async () => {
    const connection = new FakeConnection();
    const pool = poolOf(connection);
    const sendsSettings = async (): Promise<boolean> => {
      connection.sent.length = 0;
      const acquired = await pool.acquire();
      acquired.begin('write');
      await acquired.rows(sql`SELECT 1`).catch(() => undefined);
      acquired.release();
      return connection.sent.some((text) => text.startsWith(SETTINGS));
    };
    connection.isFailing = true;
    expect([await sendsSettings(), await sendsSettings()]).toEqual([true, true]);
    connection.isFailing = false;
    expect([await sendsSettings(), await sendsSettings()]).toEqual([true, false]);
  });

  it('sends each statement to a Galera node by itself, and never writes directly', async () => {
    const connection = new FakeConnection('ON');
    const pool = poolOf(connection);
    await useConnection(await pool.acquire());
    const waits = 'SET SESSION wsrep_sync_wait = @@SESSION.wsrep_sync_wait | 1';
    expect(connection.sent).toEqual([ASK_GALERA, SETTINGS, waits, ...TRANSACTION]);
    connection.sent.length = 0;
    const again = await pool.acquire();
    expect(again.canWriteDirectly).toBe(false);
    await useConnection(again);
    expect(connection.sent).toEqual(TRANSACTION);
  });

  it('sends each statement to a Galera node by itself in a transaction of the app, and sets nothing there', async () => {
    const connection = new FakeConnection('ON');
    const lent = lentMysqlConnection(connection, false);
    await lent.changeAll([sql`UPDATE a`, sql`UPDATE b`]);
    expect(connection.sent).toEqual([ASK_GALERA, 'UPDATE a', 'UPDATE b']);
  });

  it.each(['OFF', 'unknown'] as const)('sends several statements at once if wsrep_on is %s', async (galera) => {
    const connection = new FakeConnection(galera);
    const pool = poolOf(connection);
    await useConnection(await pool.acquire());
    expect(connection.sent).toEqual([
      ASK_GALERA,
      [SETTINGS, ...TRANSACTION.slice(0, 3)].join('; '),
      TRANSACTION.slice(3, 5).join('; '),
      TRANSACTION.slice(5).join('; '),
    ]);
    expect((await pool.acquire()).canWriteDirectly).toBe(true);
  });
});
