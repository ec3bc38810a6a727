import { sqlProblems } from '../sql-integrity.js';
import type { RawConnection, SqlServer } from '../sql-servers.js';
import { nobodyElseIsConnected } from '../sql-transactions.js';
import type { SharedStore } from './shared-stores.js';
import type { SqlServerDescription } from './store-description.js';

/** A store in its own database, on the server of the tests unless an address is given. */
export async function sharedDatabase(
  server: SqlServer,
  {
    address,
    driverOptions,
    ...settings
  }: Pick<SqlServerDescription, 'timeLimitMs' | 'driverOptions'> & { readonly address?: string } = {},
): Promise<SharedStore> {
  const database = await server.createDatabase(address);
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
    destroy: () => database.drop(),
  };
}
