import pg from 'pg';
import { OWNER } from '../owner.mjs';
import { ALL, STATEMENTS, TABLES, newSession, readPage, readSession, writeOf } from './sql-statements.mjs';

const CONNECTIONS = 10;

/** Named, so that a connection prepares each of them once. */
const QUERIES = Object.fromEntries(
  Object.entries({ ...STATEMENTS, begin: 'START TRANSACTION', commit: 'COMMIT' }).map(([name, text]) => {
    let place = 0;
    return [name, { name, text: text.replaceAll('?', () => `$${++place}`) }];
  }),
);

/** `START TRANSACTION`, `INSERT`, `UPDATE`, `COMMIT`, each one prepared. @implements {import('../sides.mjs').Side} */
export class MinimumPostgres {
  /** @param {string} url */
  static async open(url) {
    const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
    // A connection on its way out may hear of the database being dropped.
    pool.on('error', () => undefined);
    for (const table of TABLES) await pool.query(table);
    return new MinimumPostgres(pool);
  }

  constructor(pool) {
    this.pool = pool;
  }

  async create(sessionId) {
    const session = newSession(sessionId);
    const values = [sessionId, OWNER.userId, Date.now(), JSON.stringify(session.state)];
    await this.pool.query({ ...QUERIES.insertSession, values });
    return session;
  }

  append(session, event) {
    return this.fill(session, [event]);
  }

  async fill(session, events) {
    const client = await this.pool.connect();
    try {
      await client.query(QUERIES.begin);
      for (const event of events) {
        const { insertEvent, updateSession } = writeOf(session, event);
        await client.query({ ...QUERIES.insertEvent, values: insertEvent });
        await client.query({ ...QUERIES.updateSession, values: updateSession });
      }
      await client.query(QUERIES.commit);
    } finally {
      client.release();
    }
  }

  readAll(session) {
    return this.readNewest(session, ALL);
  }

  async readNewest({ id }, count) {
    const { rows } = await this.pool.query({ ...QUERIES.selectSession, values: [id] });
    const { rows: events } = await this.pool.query({ ...QUERIES.selectEvents, values: [id, count] });
    return readSession(rows[0], events);
  }

  async list(count) {
    const { rows } = await this.pool.query({ ...QUERIES.selectPage, values: [OWNER.userId, count] });
    return readPage(rows);
  }

  /** How many statements one of the connections has prepared. */
  async preparedRuns() {
    const { rows } = await this.pool.query('SELECT count(*)::int AS count FROM pg_prepared_statements');
    return rows[0].count;
  }

  async close() {
    await this.pool.end();
  }
}
