import { join } from 'node:path';
import Database from 'libsql';
import { OWNER } from '../owner.mjs';
import { ALL, STATEMENTS, TABLES, newSession, readPage, readSession, writeOf } from './sql-statements.mjs';

/** `BEGIN`, `INSERT`, `UPDATE`, `COMMIT`, prepared, with WAL and `synchronous = FULL`. @implements {import('../sides.mjs').Side} */
export class MinimumSqlite {
  constructor(directory) {
    this.database = new Database(join(directory, 'minimum.db'));
    for (const setting of ['journal_mode = WAL', 'synchronous = FULL']) this.database.pragma(setting);
    for (const table of TABLES) this.database.exec(table);
    const texts = { ...STATEMENTS, begin: 'BEGIN IMMEDIATE', commit: 'COMMIT' };
    this.sql = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, this.database.prepare(text)]));
  }

  create(sessionId) {
    const session = newSession(sessionId);
    this.sql.insertSession.run(sessionId, OWNER.userId, Date.now(), JSON.stringify(session.state));
    return session;
  }

  append(session, event) {
    this.fill(session, [event]);
  }

  fill(session, events) {
    this.sql.begin.run();
    for (const event of events) {
      const { insertEvent, updateSession } = writeOf(session, event);
      this.sql.insertEvent.run(...insertEvent);
      this.sql.updateSession.run(...updateSession);
    }
    this.sql.commit.run();
  }

  readAll(session) {
    return this.readNewest(session, ALL);
  }

  readNewest({ id }, count) {
    return readSession(this.sql.selectSession.get(id), this.sql.selectEvents.all(id, count));
  }

  list(count) {
    return readPage(this.sql.selectPage.all(OWNER.userId, count));
  }

  close() {
    this.database.close();
  }
}
