import mysql from 'mysql2/promise';
import { OWNER } from '../owner.mjs';
import { ALL, STATEMENTS, TABLES, newSession, readPage, readSession, writeOf } from './sql-statements.mjs';

const CONNECTIONS = 10;

/** `START TRANSACTION`, `INSERT`, `UPDATE`, `COMMIT`, each one prepared. @implements {import('../sides.mjs').Side} */
export class MinimumMysql {
  /** @param {string} url */
  static async open(url) {
    const pool = mysql.createPool({ uri: url, connectionLimit: CONNECTIONS });
    for (const table of TABLES) await pool.query(table);
    return new MinimumMysql(pool);
  }

  constructor(pool) {
    this.pool = pool;
  }

  async create(sessionId) {
    const session = newSession(sessionId);
    const values = [sessionId, OWNER.userId, Date.now(), JSON.stringify(session.state)];
    await this.pool.execute(STATEMENTS.insertSession, values);
    return session;
  }

  append(session, event) {
    return this.fill(session, [event]);
  }

  async fill(session, events) {
    const connection = await this.pool.getConnection();
    try {
      await connection.execute('START TRANSACTION');
      for (const event of events) {
        const { insertEvent, updateSession } = writeOf(session, event);
        await connection.execute(STATEMENTS.insertEvent, insertEvent);
        await connection.execute(STATEMENTS.updateSession, updateSession);
      }
      await connection.execute('COMMIT');
    } finally {
      connection.release();
    }
  }

  readAll(session) {
    return this.readNewest(session, ALL);
  }

  async readNewest({ id }, count) {
    const [[session]] = await this.pool.execute(STATEMENTS.selectSession, [id]);
    // MySQL refuses numbers as the limit of a prepared statement, and accepts text.
    const [events] = await this.pool.execute(STATEMENTS.selectEvents, [id, String(count)]);
    return readSession(session, events);
  }

  async list(count) {
    const [rows] = await this.pool.execute(STATEMENTS.selectPage, [OWNER.userId, String(count)]);
    return readPage(rows);
  }

  /** How many prepared statements the server ran for one of the connections. */
  async preparedRuns() {
    const [[{ Value: runs }]] = await this.pool.query("SHOW SESSION STATUS LIKE 'Com_stmt_execute'");
    return Number(runs);
  }

  async close() {
    await this.pool.end();
  }
}
