import { MysqlPool } from '../../src/sessions/storage/typeorm/connect/mysql/mysql-connection.js';
import { sql } from '../../src/sessions/storage/typeorm/sql/sql.js';

const SETTINGS = 'SET SESSION something = 1';

/** A connection of mysql2 that a test can make fail. */
class FakeConnection {
  readonly config = { multipleStatements: true };
  readonly sent: string[] = [];
  isFailing = false;

  query({ sql: text }: { sql: string }, done: (error: Error | null, result: unknown) => void): void {
    this.sent.push(text);
    if (this.isFailing) done(new Error('lost'), undefined);
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

describe('MysqlPool', () => {
  it('sends the settings of a new connection until they succeed, then never again', async () => {
    const connection = new FakeConnection();
    const pool = new MysqlPool(
      { pool: { getConnection: (done) => done(null, connection) } },
      { settings: [SETTINGS], withTime: false },
    );
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
});
