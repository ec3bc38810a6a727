import { InvalidInputError } from '../../src/index.js';
import { type TypeOrmSessionStorageOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';

const NOWHERE = 'postgres://nobody@127.0.0.1:1/nothing';
const PLACES = [{ database: ':memory:' }, { url: NOWHERE }, { url: NOWHERE.replace('postgres', 'mysql') }];

describe('names of tables', () => {
  it.each(['x?', "x'", 'x"', 'x`', 'x;', 'x.y', 'x y', 'ä', 'x\0', 'x\n', 'x'.repeat(31)])(
    'do not begin with %j',
    async (tablePrefix) => {
      for (const place of PLACES) await expectRefusal({ ...place, tablePrefix }, 'tablePrefix');
    },
  );

  it.each(['x?', "x'", 'x"', 'x.y', ' x', 'x ', 'x  y', 'ä', 'x\n', 'x'.repeat(64)])(
    'are not in a schema called %j',
    async (schema) => {
      await expectRefusal({ url: NOWHERE, schema }, 'schema');
    },
  );

  it('may begin with letters, digits and _', async () => {
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
