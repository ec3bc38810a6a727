import mysql from 'mysql2/promise';
import { OWNER } from './owner.mjs';
import { recordOf } from './raw-record.mjs';

const CONNECTIONS = 10;
const DIGEST = 'x'.repeat(43);

/**
 * The least that an append in MySQL or MariaDB has to do on the tables of the package: lock the row of the session,
 * change it, insert the event.
 *
 * @implements {import('./server-sides.mjs').RawServer}
 */
export class RawMysql {
  /** @param {string} url */
  static async open(url) {
    const raw = new RawMysql(mysql.createPool({ uri: url, connectionLimit: CONNECTIONS }));
    raw.scopes = await raw.#sharedScopes();
    return raw;
  }

  constructor(pool) {
    this.pool = pool;
  }

  async find(sessionId) {
    const [[{ pk }]] = await this.pool.query('SELECT pk FROM agent_sessions WHERE session_id = ?', [sessionId]);
    return { pk };
  }

  append(session, event) {
    return this.#write(session, event, () => undefined);
  }

  appendShared(session, event) {
    return this.#write(session, event, (connection) =>
      connection.execute(
        `INSERT INTO agent_shared_state (scope_pk, name, value) VALUES (?, 'raw', ?), (?, 'raw', ?)
          ON DUPLICATE KEY UPDATE value = VALUES(value)`,
        [this.scopes.user, JSON.stringify(event.id), this.scopes.app, JSON.stringify(event.id)],
      ),
    );
  }

  async readNewest({ pk }, count) {
    const [[[session]], [events]] = [
      await this.pool.execute('SELECT * FROM agent_sessions WHERE pk = ?', [pk]),
      await this.pool.execute(
        `SELECT payload FROM agent_session_events WHERE session_pk = ? ORDER BY seq DESC LIMIT ${count}`,
        [pk],
      ),
    ];
    return { session, events: events.map(({ payload }) => JSON.parse(payload)).toReversed() };
  }

  async close() {
    await this.pool.end();
  }

  async #write({ pk }, event, writeState) {
    const connection = await this.pool.getConnection();
    try {
      await connection.query('BEGIN');
      const [[{ last_seq: last }]] = await connection.execute(
        'SELECT last_seq FROM agent_sessions WHERE pk = ? FOR UPDATE',
        [pk],
      );
      const [seq, now] = [last + 1, Date.now()];
      await connection.execute(
        'UPDATE agent_sessions SET last_seq = ?, last_update_time = ?, record = ? WHERE pk = ?',
        [seq, now, recordOf(seq, now), pk],
      );
      await connection.execute(
        `INSERT INTO agent_session_events
          (session_pk, seq, event_id, digest, appended_at, high_water, anchor, event_group, payload)
          VALUES (?, ?, ?, ?, ?, ?, 1, '', ?)`,
        [pk, seq, event.id, DIGEST, now, now, JSON.stringify(event)],
      );
      await writeState(connection);
      await connection.query('COMMIT');
    } finally {
      connection.release();
    }
  }

  /** As the package made them. */
  async #sharedScopes() {
    const find = async (userId) => {
      const [[{ pk }]] = await this.pool.query('SELECT pk FROM agent_shared_scopes WHERE user_id = ?', [userId]);
      return pk;
    };
    return { user: await find(OWNER.userId), app: await find('') };
  }
}
