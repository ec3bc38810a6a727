import { InvalidInputError } from '../../src/index.js';
import { type TypeOrmSessionStorageOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';

const NO_SERVER = 'postgres://nobody@127.0.0.1:1/nothing';
const DATABASES = [{ database: ':memory:' }, { url: NO_SERVER }, { url: NO_SERVER.replace('postgres', 'mysql') }];

describe('table names', () => {
  it.each(['x?', "x'", 'x"', 'x`', 'x;', 'x.y', 'x y', 'ä', 'x\0', 'x\n', 'x'.repeat(31)])(
    'cannot have the prefix %j',
    async (tablePrefix) => {
      for (const database of DATABASES) await expectRefusal({ ...database, tablePrefix }, 'tablePrefix');
    },
  );

  it.each(['x?', "x'", 'x"', 'x.y', ' x', 'x ', 'x  y', 'ä', 'x\n', 'x'.repeat(64)])(
    'cannot be in a schema named %j',
    async (schema) => {
      await expectRefusal({ url: NO_SERVER, schema }, 'schema');
    },
  );

  it('can have a prefix of letters, digits and _', async () => {
    for (const tablePrefix of ['', 'x_', 'My_App2_', '1', 'x'.repeat(30)]) {
      const storage = new TypeOrmSessionStorage({ database: ':memory:', tablePrefix });
      await storage.open();
      await storage.close();
    }
  });
});

async function expectRefusal(options: TypeOrmSessionStorageOptions, path: string): Promise<void> {
  const error: unknown = await new TypeOrmSessionStorage(options).open().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(error).toMatchObject({ path });
  expect((error as Error).message).toContain('must be letters from a to z');
}
