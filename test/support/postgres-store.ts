import { Client } from 'pg';
import { type ServerOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { newDatabaseName } from './reused-databases.js';
import { reusedStores } from './reused-stores.js';
import { EMPTY_TABLES, readRawTables } from './sql-raw-data.js';

/** A database of a PostgreSQL server, and a connection to it without the store. */
export interface PostgresDatabase {
  readonly connection: Client;
  readonly name: string;
  readonly address: string;
  readonly storageOptions: ServerOptions;
}

export function postgresAddress(): string {
  return process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
}

export async function createPostgresDatabase(name: string, address = postgresAddress()): Promise<PostgresDatabase> {
  await onServer(address, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  // Servers that tests kill have an address of their own.
  if (address === postgresAddress()) await onServer(address, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  const url = new URL(address);
  url.pathname = `/${name}`;
  const connection = new Client({ connectionString: url.href });
  connection.on('error', () => undefined);
  await connection.connect();
  return { connection, name, address, storageOptions: { url: url.href } };
}

export async function dropPostgresDatabase({ connection, name, address }: PostgresDatabase): Promise<void> {
  await connection.end();
  await onServer(address, `DROP DATABASE ${name} WITH (FORCE)`);
}

async function onServer(address: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A store in its own database. */
export const openPostgres = reusedStores(async (clock) => {
  const database = await createPostgresDatabase(newDatabaseName());
  const storage = new TypeOrmSessionStorage({ ...database.storageOptions, clock });
  await storage.open();
  return {
    storage,
    raw: () => readRawTables(async (table) => (await database.connection.query(`SELECT * FROM ${table}`)).rows),
    async empty() {
      await database.connection.query(EMPTY_TABLES);
    },
    remove: () => dropPostgresDatabase(database),
  };
});
