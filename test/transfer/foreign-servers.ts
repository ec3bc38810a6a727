import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ForeignDatabase } from '../../src/transfer/index.js';
import { mysqlOptionsOf } from '../servers/mysql-login.js';
import { createMariaDbDatabase, dropMariaDbDatabase, mariaDbAddress } from '../support/mariadb-store.js';
import { createPostgresDatabase, dropPostgresDatabase } from '../support/postgres-store.js';
import { newDatabaseName } from '../support/reused-databases.js';
import { sqliteOf } from './sqlite-of.js';

/** Where another system keeps its database. */
export interface ForeignServer {
  readonly name: 'sqlite' | 'mariadb' | 'postgres';
  readonly open: () => Promise<OpenDatabase>;
}

/** A new, empty database. */
export interface OpenDatabase {
  readonly database: ForeignDatabase;
  /** The file on SQLite, and else the name. */
  readonly dbName: string;
  /** How drivers reach its server. */
  readonly login: { readonly clientUrl?: string; readonly driverOptions?: { readonly connection: object } };
  readonly run: (statement: string, ...values: unknown[]) => Promise<unknown>;
  readonly destroy: () => Promise<void>;
}

export const sqlite: ForeignServer & { readonly name: 'sqlite' } = {
  name: 'sqlite',
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
    const dbName = join(folder, 'sessions.db');
    const { close, ...database } = sqliteOf('', dbName);
    const run = (statement: string, ...values: unknown[]) => database.query(statement, values);
    const destroy = async (): Promise<void> => {
      close();
      rmSync(folder, { recursive: true });
    };
    return { database, dbName, login: {}, run, destroy };
  },
};

export const mariaDb: ForeignServer & { readonly name: 'mariadb' } = {
  name: 'mariadb',
  async open() {
    const opened = await createMariaDbDatabase(newDatabaseName());
    const { connection, name: dbName } = opened;
    const run = async (statement: string, ...values: unknown[]): Promise<unknown> =>
      (await connection.query(statement, values))[0];
    const query: ForeignDatabase['query'] = (statement, values) => run(statement, ...values);
    const login = { driverOptions: { connection: mysqlOptionsOf(mariaDbAddress()) } };
    return { database: { dialect: 'mysql', query }, dbName, login, run, destroy: () => dropMariaDbDatabase(opened) };
  },
};

export const postgres: ForeignServer & { readonly name: 'postgres' } = {
  name: 'postgres',
  async open() {
    const opened = await createPostgresDatabase(newDatabaseName());
    const { connection, name: dbName } = opened;
    const query: ForeignDatabase['query'] = async (statement, values) =>
      (await connection.query(statement, values)).rows;
    const run = (statement: string, ...values: unknown[]): Promise<unknown> => {
      let number = 0;
      return query(
        statement.replaceAll('?', () => `$${++number}`),
        values,
      );
    };
    const login = { clientUrl: opened.storageOptions.url };
    return {
      database: { dialect: 'postgres', query },
      dbName,
      login,
      run,
      destroy: () => dropPostgresDatabase(opened),
    };
  },
};
