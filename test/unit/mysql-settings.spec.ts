import { MysqlPool } from '../../src/sessions/storage/typeorm/connect/mysql/mysql-connection.js';
import { sql } from '../../src/sessions/storage/typeorm/sql/sql.js';

const SETTINGS = 'SET SESSION something = 1';

/** One connection of mysql2, again and again, that fails where it is told to. */
class OneConnection {
  readonly config = { multipleStatements: true };
  readonly said: string[] = [];
  isFailing = false;

  query({ sql: text }: { sql: string }, done: (error: Error | null, result: unknown) => void): void {
    this.said.push(text);
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

describe('what a new connection to MySQL is told', () => {
  it('is said again until it was heard, and then no more', async () => {
    const connection = new OneConnection();
    const pool = new MysqlPool(
      { pool: { getConnection: (done) => done(null, connection) } },
      { settings: [SETTINGS], withTime: false },
    );
    const isSaid = async (): Promise<boolean> => {
      connection.said.length = 0;
      const acquired = await pool.acquire();
      acquired.begin('write');
      await acquired.rows(sql`SELECT 1`).catch(() => undefined);
      acquired.release();
      return connection.said.some((text) => text.startsWith(SETTINGS));
    };
    connection.isFailing = true;
    expect([await isSaid(), await isSaid()]).toEqual([true, true]);
    connection.isFailing = false;
    expect([await isSaid(), await isSaid()]).toEqual([true, false]);
  });
});
