import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { ReusedDatabases } from './reused-databases.js';
import { EMPTY_TABLES } from './sql-raw-data.js';
import { type SqlDatabase, type SqlServer, sqlServers } from './sql-servers.js';
import { disconnectOthers } from './sql-transactions.js';

/** The databases of tests that need the tables and do not change them. */
const emptied = new Map(sqlServers.map((server) => [server, databasesWithTables(server)] as const));
afterAll(() => Promise.all([...emptied.values()].map((databases) => databases.drop())));

function databasesWithTables(server: SqlServer): ReusedDatabases<SqlDatabase> {
  return new ReusedDatabases({
    async create() {
      const database = await server.createDatabase();
      const storage = new TypeOrmSessionStorage(database.storageOptions);
      await storage.open();
      await storage.close();
      return database;
    },
    async empty(database) {
      const connection = await database.connect();
      await disconnectOthers(server.name, connection);
      await connection.query(EMPTY_TABLES);
      await connection.close();
    },
    drop: (database) => database.drop(),
  });
}

/** Takes a database of the server of the tests. To create one takes longer than most tests. */
export async function takeDatabaseWithTables(
  server: SqlServer,
): Promise<{ readonly database: SqlDatabase; giveBack(): Promise<void> }> {
  const databases = emptied.get(server);
  if (!databases) throw new Error(`${server.name} is not a server of the tests`);
  const database = await databases.take();
  return { database, giveBack: () => databases.giveBack(database) };
}
