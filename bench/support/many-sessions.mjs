import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'libsql';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { SessionService } from '../../dist/index.js';

/** Sessions that the package creates. Databases copy their rows. */
export const CREATED = 10_000;
const SESSIONS_OF_A_USER = 10;
/** Creates in flight when a store is filled: Redis gets many scripts at once. */
const TOGETHER = 512;
const APP = 'many';

/** The ids of session `number`, from 0. */
export function keyOf(number) {
  const created = number % CREATED;
  const copy = Math.floor(number / CREATED);
  const user = `user-${Math.floor(created / SESSIONS_OF_A_USER)}`;
  return { appName: APP, userId: copy === 0 ? user : `${user}-${copy}`, sessionId: `session-${created}` };
}

/** Creates the sessions in this range through the package. */
async function create(service, from, to) {
  for (let next = from; next < to; next += TOGETHER) {
    const numbers = Array.from({ length: Math.min(TOGETHER, to - next) }, (_, index) => next + index);
    await Promise.all(numbers.map((number) => service.createSession(keyOf(number))));
  }
}

/** Sessions of an own user that expire after a second. */
async function createBrief(storage, count) {
  const service = new SessionService({ storage, ttl: { enabled: true, sessionSeconds: 1 } });
  for (let number = 0; number < count; number++) await service.createSession({ appName: APP, userId: 'brief' });
}

/**
 * Fills a store the fastest way that there is.
 *
 * @typedef {object} Filler
 * @property {(ours: import('./ours.mjs').Ours, sessions: number) => Promise<void>} fill
 * @property {(ours: import('./ours.mjs').Ours, sessions: number) => Promise<void>} expire so many more sessions, which are expired
 * @property {() => unknown} close
 */

/** @implements {Filler} */
export class MemoryFiller {
  #ahead = 0;
  clock = { now: () => Date.now() + this.#ahead };

  fill({ service }, sessions) {
    return create(service, 0, sessions);
  }

  async expire({ storage }, sessions) {
    await createBrief(storage, sessions);
    this.#ahead += 2_000;
  }

  close() {}
}

/** @implements {Filler} */
export class RedisFiller {
  static open() {
    return new RedisFiller();
  }

  fill({ service }, sessions) {
    return create(service, 0, sessions);
  }

  async expire({ storage }, sessions) {
    await createBrief(storage, sessions);
    await setTimeout(1_100);
  }

  close() {}
}

/** Copies the rows of the first sessions inside the database, 10,000 with each statement, each time as if updated a minute earlier. @implements {Filler} */
class SqlFiller {
  async fill({ service }, sessions) {
    await create(service, 0, Math.min(sessions, CREATED));
    const [row] = await this.rows('SELECT * FROM agent_sessions LIMIT 1');
    const names = Object.keys(row).filter(
      (name) => !['pk', 'user_id', 'record', 'last_update_time', 'update_minute'].includes(name),
    );
    const columns = names.join(', ');
    const created = `SELECT MAX(pk) AS last FROM agent_sessions`;
    const [{ last }] = await this.rows(created);
    for (let copy = 1; copy * CREATED < sessions; copy++) {
      await this.rows(
        `INSERT INTO agent_sessions (user_id, record, last_update_time, update_minute, ${columns})
          SELECT ${this.joined('user_id', `'-${copy}'`)}, ${this.changedLine('last_update_time', `last_update_time - ${copy * 60_000}`)}, last_update_time - ${copy * 60_000}, update_minute - ${copy}, ${columns}
          FROM agent_sessions WHERE app_name = ${this.text(APP)} AND pk <= ${last} ORDER BY pk LIMIT ${sessions - copy * CREATED}`,
      );
    }
    await this.rows(this.analyze);
  }

  async expire({ storage }, sessions) {
    await createBrief(storage, sessions);
    await this.rows(
      `UPDATE agent_sessions SET record = ${this.changedLine('expires_at', '1')}, expires_at = 1, expiry_minute = 0 WHERE app_name = ${this.text(APP)} AND user_id = ${this.text('brief')}`,
    );
  }

  analyze = 'ANALYZE agent_sessions';

  joined(a, b) {
    return `${a} || ${b}`;
  }

  /** The record with another line for what this column has, too. It is not the first line. */
  changedLine(column, value) {
    const line = (what) => this.joined(this.joined(`'\n'`, what), `'\n'`);
    return `REPLACE(record, ${line(column)}, ${line(`(${value})`)})`;
  }

  text(value) {
    return `'${value}'`;
  }
}

export class SqliteFiller extends SqlFiller {
  constructor(directory) {
    super();
    this.database = new Database(join(directory, 'ours.db'));
  }

  rows(sql) {
    const statement = this.database.prepare(sql);
    return sql.startsWith('SELECT') ? statement.all() : statement.run();
  }

  close() {
    this.database.close();
  }
}

export class MysqlFiller extends SqlFiller {
  analyze = 'ANALYZE TABLE agent_sessions';

  static async open(url) {
    const filler = new MysqlFiller();
    filler.connection = await mysql.createConnection(url);
    return filler;
  }

  async rows(sql) {
    const [rows] = await this.connection.query(sql);
    return rows;
  }

  joined(a, b) {
    return `CONCAT(${a}, ${b})`;
  }

  close() {
    return this.connection.end();
  }
}

export class PostgresFiller extends SqlFiller {
  static async open(url) {
    const filler = new PostgresFiller();
    filler.client = new pg.Client(url);
    await filler.client.connect();
    return filler;
  }

  async rows(sql) {
    return (await this.client.query(sql)).rows;
  }

  close() {
    return this.client.end();
  }
}
