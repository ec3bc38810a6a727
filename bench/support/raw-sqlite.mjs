import { join } from 'node:path';
import Database from 'libsql';
import { TypeOrmSessionStorage } from '../../dist/typeorm.js';
import { OWNER } from './owner.mjs';
import { recordOf } from './raw-record.mjs';

const DIGEST = 'x'.repeat(43);

const STATEMENTS = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  insertSession: `INSERT INTO agent_sessions (
      app_name, user_id, session_id, record, create_time, last_update_time, expires_at, first_seq, last_seq, view_from_seq,
      summary_seq, state_bytes, waiting_since, stamp, update_minute, expiry_minute, metadata, state, base_state
    ) VALUES (?, ?, ?, ?, ?, ?, 8640000000000000, 1, 0, 0, 0, 5, 0, 0, 0, 144000000000, '', '"step":0', '{"step":0}')`,
  updateSession: 'UPDATE agent_sessions SET last_seq = ?, last_update_time = ?, record = ?, state = ? WHERE pk = ?',
  insertEvent: `INSERT INTO agent_session_events
    (session_pk, seq, event_id, digest, appended_at, high_water, anchor, event_group, payload) VALUES (?, ?, ?, ?, ?, ?, ?, '', ?)`,
  selectSession: 'SELECT * FROM agent_sessions WHERE pk = ?',
  selectEvents: 'SELECT payload FROM agent_session_events WHERE session_pk = ? ORDER BY seq DESC LIMIT ?',
  selectPage: `SELECT * FROM agent_sessions
    WHERE app_name = ? AND user_id = ? ORDER BY update_minute DESC, session_id DESC LIMIT ?`,
};

/**
 * The least that a store in SQLite can do on the same tables with the same indexes: prepared statements,
 * nothing checked, nothing read before it is written. It bounds what is possible; it is no competitor.
 *
 * @implements {import('./sides.mjs').Side}
 */
export class RawSqlite {
  /** @param {string} directory */
  static async open(directory) {
    const database = new Database(join(directory, 'raw.db'));
    for (const setting of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON']) database.pragma(setting);
    for (const statement of await schemaOf(directory)) database.exec(statement);
    return new RawSqlite(database);
  }

  constructor(database) {
    this.database = database;
    this.sql = Object.fromEntries(Object.entries(STATEMENTS).map(([name, text]) => [name, database.prepare(text)]));
  }

  create(sessionId) {
    const now = Date.now();
    this.sql.begin.run();
    const values = [OWNER.appName, OWNER.userId, sessionId, recordOf(0, now), now, now];
    const { lastInsertRowid } = this.sql.insertSession.run(...values);
    this.sql.commit.run();
    return { pk: Number(lastInsertRowid), lastSeq: 0 };
  }

  append(session, event) {
    this.sql.begin.run();
    this.#write(session, event);
    this.sql.commit.run();
  }

  fill(session, events) {
    this.sql.begin.run();
    for (const event of events) this.#write(session, event);
    this.sql.commit.run();
  }

  readAll(session) {
    return this.readNewest(session, -1);
  }

  readNewest({ pk }, count) {
    const [session] = this.sql.selectSession.all(pk);
    const events = this.sql.selectEvents.all(pk, count).map(({ payload }) => JSON.parse(payload));
    return { ...session, state: JSON.parse(`{${session.state}}`), events: events.toReversed() };
  }

  list(count) {
    return this.sql.selectPage
      .all(OWNER.appName, OWNER.userId, count)
      .map((row) => ({ ...row, state: JSON.parse(`{${row.state}}`) }));
  }

  close() {
    this.database.close();
  }

  #write(session, event) {
    const { pk } = session;
    const seq = ++session.lastSeq;
    const now = Date.now();
    const anchor = event.author === 'user' ? 1 : 0;
    const state = `"step":${JSON.stringify(event.actions.stateDelta.step)}`;
    this.sql.updateSession.run(seq, now, recordOf(seq, now), state, pk);
    this.sql.insertEvent.run(pk, seq, event.id, DIGEST, now, now, anchor, JSON.stringify(event));
  }
}

/** The tables and indexes that the package itself creates. */
async function schemaOf(directory) {
  const file = join(directory, 'schema.db');
  const storage = new TypeOrmSessionStorage({ database: file });
  await storage.open();
  await storage.close();
  const database = new Database(file);
  const rows = database
    .prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
    .all();
  database.close();
  return rows.map(({ sql }) => sql);
}
