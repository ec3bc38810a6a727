import { type Clock, systemClock } from '../../domain/clock.js';
import type { AppendOutcome, Commit } from '../../domain/commit.js';
import { type Lifetime, expiresAt, isRenewalDue } from '../../domain/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import type {
  CreateRequest,
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SessionStorage,
  StateEntries,
  StoredSession,
  TouchRequest,
  TrimRequest,
  WriteStateRequest,
} from '../session-storage.js';
import { appendCommit } from './append-commit.js';
import { createSession } from './create-session.js';
import { listSessions } from './list-sessions.js';
import { purgeExpired } from './purge-expired.js';
import { readSession } from './read-session.js';
import { readScope } from './read-state.js';
import { findLiveSession, hasKey } from './session-lookup.js';
import { sql } from './sql.js';
import type { SqlConnection } from './sql-connection.js';
import { type SqliteOptions, SqliteDatabase } from './sqlite-database.js';
import type { Tables } from './tables.js';
import { trimLog } from './trim-log.js';
import { renewScope, writeScope } from './write-state.js';

export interface TypeOrmSessionStorageOptions extends SqliteOptions {
  /** Where the time comes from; the machine's clock unless given. */
  readonly clock?: Clock | undefined;
}

type Work<Result> = (connection: SqlConnection, tables: Tables, now: number) => Promise<Result>;

/**
 * Keeps sessions in a SQLite file through TypeORM. The file and its tables are made when they are first
 * needed; several processes may use one file.
 *
 * @example
 * const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ database: './data/sessions.db' }) });
 */
export class TypeOrmSessionStorage implements SessionStorage {
  readonly #database: SqliteDatabase;
  readonly #clock: Clock;

  constructor({ clock = systemClock, ...options }: TypeOrmSessionStorageOptions) {
    this.#database = new SqliteDatabase(options);
    this.#clock = clock;
  }

  /** Opens the database and brings its tables up to date, so that a wrong setting shows at once. */
  async open(): Promise<void> {
    await this.#database.open();
  }

  create(request: CreateRequest): Promise<StoredSession | undefined> {
    return this.#write((connection, tables, now) => createSession(connection, tables, request, now));
  }

  append(commit: Commit): Promise<AppendOutcome> {
    return this.#write((connection, tables, now) => appendCommit(connection, tables, commit, now));
  }

  read(request: ReadRequest): Promise<StoredSession | undefined> {
    return this.#read((connection, tables, now) => readSession(connection, tables, request, now));
  }

  list(request: ListRequest): Promise<ListResult> {
    return this.#read((connection, tables, now) => listSessions(connection, tables, request, now));
  }

  touch({ key, incarnation, renew }: TouchRequest): Promise<void> {
    const { appName, userId } = key;
    return this.#write(async (connection, tables, now) => {
      const session = renew.session && (await findLiveSession(connection, tables, key, now));
      if (renew.session && session?.record.incarnation === incarnation) {
        const expiry = expiresAt(now, renew.session);
        await connection.change(sql`UPDATE ${tables.sessions} SET expires_at = ${expiry} WHERE pk = ${session.pk}`);
      }
      if (renew.user) await renewScope(connection, tables, { appName, userId }, renew.user, now);
      if (renew.app) await renewScope(connection, tables, { appName }, renew.app, now);
    });
  }

  trim(request: TrimRequest): Promise<void> {
    return this.#write((connection, tables, now) => trimLog(connection, tables, request, now));
  }

  async delete(key: SessionKey): Promise<void> {
    await this.#write((connection, { sessions }) =>
      connection.change(sql`DELETE FROM ${sessions} AS s WHERE ${hasKey(key)}`),
    );
  }

  async readState(owner: StateOwner, renew?: Lifetime): Promise<StateEntries> {
    const { entries, isDue } = await this.#read(async (connection, tables, now) => {
      const scope = await readScope(connection, tables, owner, now);
      return { ...scope, isDue: renew && scope.expiresAt && isRenewalDue(scope.expiresAt, now, renew) };
    });
    if (renew && isDue) {
      await this.#write((connection, tables, now) => renewScope(connection, tables, owner, renew, now));
    }
    return entries;
  }

  writeState({ owner, ...writes }: WriteStateRequest): Promise<StateEntries> {
    return this.#write(async (connection, tables, now) => {
      await writeScope(connection, tables, owner, { ...writes, now });
      return (await readScope(connection, tables, owner, now)).entries;
    });
  }

  async purgeExpired(limit: number): Promise<PurgeCounts> {
    const { tables } = await this.#database.open();
    return purgeExpired((work) => this.#write((connection, _tables, now) => work(connection, now)), tables, limit);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async #read<Result>(work: Work<Result>): Promise<Result> {
    const { transactions, tables } = await this.#database.open();
    return transactions.read((connection) => work(connection, tables, this.#clock.now()));
  }

  async #write<Result>(work: Work<Result>): Promise<Result> {
    const { commits, tables } = await this.#database.open();
    return commits.write((connection) => work(connection, tables, this.#clock.now()));
  }
}
