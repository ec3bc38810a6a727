import { sqlProblems } from '../sql-integrity.js';
import type { SqlServer } from '../sql-servers.js';
import type { SharedStore } from './shared-stores.js';
import type { SqlServerDescription } from './store-description.js';

/** A store in a database of its own, on the server of the tests unless an address is given. */
export async function sharedDatabase(
  server: SqlServer,
  {
    address,
    driverOptions,
    ...settings
  }: Pick<SqlServerDescription, 'timeLimitMs' | 'driverOptions'> & { readonly address?: string } = {},
): Promise<SharedStore> {
  const database = await server.createDatabase(address);
  return {
    description: {
      kind: server.name,
      ...database.storageOptions,
      ...settings,
      driverOptions: { ...database.storageOptions.driverOptions, ...driverOptions },
    },
    async checkIntegrity() {
      const connection = await database.connect();
      try {
        const problems = await sqlProblems((query) => connection.query(query));
        if (problems.length > 0) throw new Error(problems.join('\n'));
      } finally {
        await connection.close();
      }
    },
    destroy: () => database.drop(),
  };
}
