import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { SessionService, type SessionServiceOptions } from '../../src/index.js';
import { type SqliteOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { newStoreFolder } from './store-folder.js';

/** A SQLite file for one test, with services and raw connections. All of them are removed at the end. */
export class SqliteFile {
  readonly #folder = newStoreFolder();
  readonly #closers: (() => unknown)[] = [];
  readonly path = join(this.#folder, 'sessions.db');

  /** The store, opened. */
  async storage(options: Omit<SqliteOptions, 'database'> = {}): Promise<TypeOrmSessionStorage> {
    const storage = new TypeOrmSessionStorage({ ...options, database: this.path });
    this.#closers.push(() => storage.close());
    await storage.open();
    return storage;
  }

  /** A service with its own store. */
  async sessions({
    service,
    ...options
  }: Omit<SqliteOptions, 'database'> & {
    service?: Omit<SessionServiceOptions, 'storage'>;
  } = {}): Promise<SessionService> {
    return new SessionService({ ...service, storage: await this.storage(options) });
  }

  /** A connection without the store. */
  connection(): Libsql.Database {
    const connection = new Libsql(this.path);
    this.#closers.push(() => connection.close());
    return connection;
  }

  async remove(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close();
    rmSync(this.#folder, { recursive: true });
  }
}
