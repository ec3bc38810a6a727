import pg from 'pg';
import { OWNER } from './owner.mjs';
import { recordOf } from './raw-record.mjs';

const CONNECTIONS = 10;
const DIGEST = 'x'.repeat(43);

/** Named, so that a connection prepares each of them once. */
const LOCK = { name: 'lock', text: 'SELECT last_seq FROM agent_sessions WHERE pk = $1 FOR UPDATE' };
const UPDATE = {
  name: 'update',
  text: 'UPDATE agent_sessions SET last_seq = $1, last_update_time = $2, record = $3 WHERE pk = $4',
};
const INSERT = {
  name: 'insert',
  text: `INSERT INTO agent_session_events
    (session_pk, seq, event_id, digest, appended_at, high_water, anchor, event_group, payload)
    VALUES ($1, $2, $3, $4, $5, $5, 1, '', $6)`,
};
const UPSERT_SHARED = {
  name: 'upsert-shared',
  text: `INSERT INTO agent_shared_state (scope_pk, name, value) VALUES ($1, 'raw', $3), ($2, 'raw', $3)
    ON CONFLICT (scope_pk, name) DO UPDATE SET value = excluded.value`,
};
const READ_SESSION = { name: 'session', text: 'SELECT * FROM agent_sessions WHERE pk = $1' };
const READ_NEWEST = {
  name: 'newest',
  text: 'SELECT payload FROM agent_session_events WHERE session_pk = $1 ORDER BY seq DESC LIMIT $2',
};

/**
 * The least that an append in PostgreSQL has to do on the tables of the package: lock the row of the session, change
 * it, insert the event.
 *
 * @implements {import('./server-sides.mjs').RawServer}
 */
export class RawPostgres {
  /** @param {string} url */
  static async open(url) {
    const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
    // A connection on its way out may hear of the database being dropped.
    pool.on('error', () => undefined);
    const raw = new RawPostgres(pool);
    raw.scopes = await raw.#sharedScopes();
    return raw;
  }

  constructor(pool) {
    this.pool = pool;
  }

  async find(sessionId) {
    const { rows } = await this.pool.query('SELECT pk FROM agent_sessions WHERE session_id = $1', [sessionId]);
    return rows[0];
  }

  append(session, event) {
    return this.#write(session, event, () => undefined);
  }

  appendShared(session, event) {
    const { user, app } = this.scopes;
    return this.#write(session, event, (client) =>
      client.query({ ...UPSERT_SHARED, values: [user, app, JSON.stringify(event.id)] }),
    );
  }

  async readNewest({ pk }, count) {
    const { rows: session } = await this.pool.query({ ...READ_SESSION, values: [pk] });
    const { rows: events } = await this.pool.query({ ...READ_NEWEST, values: [pk, count] });
    return { session, events: events.map(({ payload }) => JSON.parse(payload)).toReversed() };
  }

  async close() {
    await this.pool.end();
  }

  async #write({ pk }, event, writeState) {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const { rows } = await client.query({ ...LOCK, values: [pk] });
      const [seq, now] = [rows[0].last_seq + 1, Date.now()];
      await client.query({ ...UPDATE, values: [seq, now, recordOf(seq, now), pk] });
      await client.query({ ...INSERT, values: [pk, seq, event.id, DIGEST, now, JSON.stringify(event)] });
      await writeState(client);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
  }

  /** As the package made them. */
  async #sharedScopes() {
    const find = async (userId) => {
      const { rows } = await this.pool.query('SELECT pk FROM agent_shared_scopes WHERE user_id = $1', [userId]);
      return rows[0].pk;
    };
    return { user: await find(OWNER.userId), app: await find('') };
  }
}
