import type { RowDataPacket } from 'mysql2/promise';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import type { ServerOptions } from '../../src/typeorm.js';
import { mysqlOptionsOf } from '../servers/mysql-login.js';
import { createMariaDbDatabase, mariaDbAddress } from './mariadb-store.js';
import { createPostgresDatabase, postgresAddress } from './postgres-store.js';
import { newDatabaseName } from './reused-databases.js';

export type SqlServerName = 'mariadb' | 'postgres';

type Row = Readonly<Record<string, unknown>>;

/** A connection without the store. */
export interface RawConnection {
  /** The rows of a query, none for other statements. */
  query(text: string): Promise<Row[]>;
  close(): Promise<void>;
}

/** A database of a test, which stays when connections break. */
export interface SqlDatabase {
  readonly storageOptions: ServerOptions;
  connect(): Promise<RawConnection>;
  drop(): Promise<void>;
}

/** A kind of SQL server. */
export interface SqlServer {
  readonly name: SqlServerName;
  /** The address of the server of the tests. */
  address(): string;
  createDatabase(address?: string): Promise<SqlDatabase>;
  /** Connects to the address. */
  connect(address: string): Promise<RawConnection>;
}

export const mariaDbServer: SqlServer = {
  name: 'mariadb',
  address: mariaDbAddress,
  async createDatabase(address = mariaDbAddress()) {
    const { connection, name, storageOptions } = await createMariaDbDatabase(newDatabaseName(), address);
    await connection.end();
    return {
      storageOptions,
      connect: () => connectToMariaDb(storageOptions.url, storageOptions.driverOptions),
      drop: () => once(connectToMariaDb(address), `DROP DATABASE ${name}`),
    };
  },
  connect: connectToMariaDb,
};

export const postgresServer: SqlServer = {
  name: 'postgres',
  address: postgresAddress,
  async createDatabase(address = postgresAddress()) {
    const { connection, name, storageOptions } = await createPostgresDatabase(newDatabaseName(), address);
    await connection.end();
    return {
      storageOptions,
      connect: () => connectToPostgres(storageOptions.url),
      drop: () => once(connectToPostgres(address), `DROP DATABASE ${name} WITH (FORCE)`),
    };
  },
  connect: connectToPostgres,
};

export const sqlServers: readonly SqlServer[] = [mariaDbServer, postgresServer];

async function connectToMariaDb(address: string, driverOptions: object = {}): Promise<RawConnection> {
  const database = new URL(address).pathname.slice(1);
  const options = { ...mysqlOptionsOf(address), ...driverOptions, charset: 'utf8mb4', multipleStatements: true };
  const connection = await createConnection({ ...options, ...(database && { database }) });
  return {
    async query(sql) {
      const [rows] = await connection.query<RowDataPacket[]>({ sql, typeCast: (field) => field.string('utf8') });
      return Array.isArray(rows) ? rows : [];
    },
    close: () => connection.end(),
  };
}

async function connectToPostgres(address: string): Promise<RawConnection> {
  const client = new Client({ connectionString: address });
  // The running query reports the error.
  client.on('error', () => undefined);
  await client.connect();
  return {
    query: async (text) => (await client.query<Row>(text)).rows ?? [],
    close: () => client.end(),
  };
}

async function once(connecting: Promise<RawConnection>, statement: string): Promise<void> {
  const connection = await connecting;
  try {
    await connection.query(statement);
  } finally {
    await connection.close();
  }
}
