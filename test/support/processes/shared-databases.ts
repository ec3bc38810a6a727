import { takeDatabaseWithTables } from '../databases-with-tables.js';
import { sqlProblems } from '../sql-integrity.js';
import type { RawConnection, SqlDatabase, SqlServer } from '../sql-servers.js';
import { nobodyElseIsConnected } from '../sql-transactions.js';
import type { SharedStore } from './shared-stores.js';
import type { SqlServerDescription } from './store-description.js';

type Settings = Pick<SqlServerDescription, 'timeLimitMs' | 'driverOptions'>;

/** A store with its tables in its own database, which other tests use afterwards. */
export async function sharedDatabase(server: SqlServer, settings: Settings = {}): Promise<SharedStore> {
  const { database, giveBack } = await takeDatabaseWithTables(server);
  return storeIn(server, database, settings, giveBack);
}

/** A store in a new database without tables, on the server of the tests unless an address is given. */
export async function newSharedDatabase(
  server: SqlServer,
  { address, ...settings }: Settings & { readonly address?: string } = {},
): Promise<SharedStore> {
  const database = await server.createDatabase(address);
  return storeIn(server, database, settings, () => database.drop());
}

function storeIn(
  server: SqlServer,
  database: SqlDatabase,
  { driverOptions, ...settings }: Settings,
  destroy: () => Promise<void>,
): SharedStore {
  async function withConnection(work: (connection: RawConnection) => Promise<void>): Promise<void> {
    const connection = await database.connect();
    try {
      await work(connection);
    } finally {
      await connection.close();
    }
  }
  return {
    description: {
      kind: server.name,
      ...database.storageOptions,
      ...settings,
      driverOptions: { ...database.storageOptions.driverOptions, ...driverOptions },
    },
    settle: () => withConnection((connection) => nobodyElseIsConnected(server.name, connection)),
    checkIntegrity: () =>
      withConnection(async (connection) => {
        const problems = await sqlProblems((query) => connection.query(query));
        if (problems.length > 0) throw new Error(problems.join('\n'));
      }),
    destroy,
  };
}
