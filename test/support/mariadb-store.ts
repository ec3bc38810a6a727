import { type Connection, type RowDataPacket, createConnection } from 'mysql2/promise';
import { type ServerOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { mysqlOptionsOf } from '../servers/mysql-login.js';
import { newDatabaseName } from './reused-databases.js';
import { reusedStores } from './reused-stores.js';
import { EMPTY_TABLES, readRawTables } from './sql-raw-data.js';

/** A database of a MySQL or MariaDB server, and a connection to it without the store. */
export interface MariaDbDatabase {
  readonly connection: Connection;
  readonly name: string;
  readonly storageOptions: ServerOptions;
}

export function mariaDbAddress(): string {
  return process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306';
}

/** New tables would get a character set that cannot store all text. */
export async function createMariaDbDatabase(name: string, address = mariaDbAddress()): Promise<MariaDbDatabase> {
  const connection = await createConnection({
    ...mysqlOptionsOf(address),
    charset: 'utf8mb4',
    multipleStatements: true,
  });
  await connection.query(`CREATE DATABASE ${name} CHARACTER SET latin1`);
  await connection.query(`USE ${name}`);
  const url = new URL(address);
  const socketPath = url.searchParams.get('socketPath');
  url.search = '';
  url.pathname = `/${name}`;
  return { connection, name, storageOptions: { url: url.href, ...(socketPath && { driverOptions: { socketPath } }) } };
}

export async function dropMariaDbDatabase({ connection, name }: MariaDbDatabase): Promise<void> {
  await connection.query(`DROP DATABASE ${name}`);
  await connection.end();
}

/** A store in its own database. */
export const openMariaDb = reusedStores(async (clock) => {
  const database = await createMariaDbDatabase(newDatabaseName());
  const storage = new TypeOrmSessionStorage({ ...database.storageOptions, clock });
  await storage.open();
  return {
    storage,
    raw: () => readRawTables((table) => rowsOf(database.connection, table)),
    async empty() {
      await database.connection.query(EMPTY_TABLES);
    },
    remove: () => dropMariaDbDatabase(database),
  };
});

/** Converts text that is stored as bytes. */
async function rowsOf(connection: Connection, table: string): Promise<unknown[]> {
  const [rows] = await connection.query<RowDataPacket[]>({
    sql: `SELECT * FROM ${table}`,
    typeCast: (field) => field.string('utf8'),
  });
  return rows;
}
