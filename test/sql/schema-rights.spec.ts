import { ConfigurationError } from '../../src/index.js';
import { type SqlBench, describeSqlServers } from '../support/sql-bench.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const PASSWORD = 'very-secret';

describeSqlServers(
  'A $name user without the right to create schemas',
  (bench) => {
    it('can use an existing schema, and gets an error if it is missing', async () => {
      const raw = await bench().connect();
      const role = `r${Math.random().toString(36).slice(2)}`;
      await raw.query(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
      try {
        await raw.query(`CREATE SCHEMA given; GRANT USAGE, CREATE ON SCHEMA given TO ${role}`);
        const url = urlOf(bench(), role);
        for (let time = 1; time <= 2; time++) {
          const sessions = bench().sessions({ url, schema: 'given' });
          expect(await sessions.getOrCreateSession(KEY)).toMatchObject({ version: 0 });
          await sessions.close();
        }
        const storage = bench().storage({ url, schema: 'missing' });
        await expect(storage.open()).rejects.toBeInstanceOf(ConfigurationError);
      } finally {
        await raw.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      }
    });
  },
  ['postgres'],
);

function urlOf({ database }: SqlBench, username: string): string {
  return Object.assign(new URL(database.storageOptions.url), { username, password: PASSWORD }).href;
}
