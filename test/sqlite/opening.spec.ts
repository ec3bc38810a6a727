import disk, { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, InvalidInputError, StoreUnavailableError } from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { SqliteFile } from '../support/sqlite-file.js';

describe('a SQLite file that cannot be opened', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-opening-'));
    await mkdir(join(folder, 'a-folder'));
    await writeFile(join(folder, 'a-text'), 'No database. '.repeat(100));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it.each([
    ['a-folder', 'it must be a file that this process may write, or a new one in a folder where it may.'],
    ['a-text', 'it is no SQLite file; give another path.'],
    ['a-text/sessions.db', 'a part of the path is a file; give another path.'],
  ])('is reported with advice: %s', async (path, advice) => {
    const database = join(folder, path);
    expect(await problemsOf(database)).toEqual([`SQLite cannot open ${database}: ${advice}`]);
  });

  it('is reported if it has other tables of the same names', async () => {
    // TypeORM prints failed migrations.
    const print = jest.spyOn(console, 'log').mockImplementation();
    const file = new SqliteFile();
    file.connection().exec('CREATE TABLE agent_sessions (id int)');
    expect(await problemsOf(file.path)).toEqual([
      `SQLite cannot open ${file.path}: it has other tables with the names of the session tables; set tablePrefix, or give another path.`,
    ]);
    print.mockRestore();
    await file.remove();
  });

  it.each(['', ' ', 'file:sessions.db', 'libsql://app.example', 'http://127.0.0.1:8080'])(
    'is refused if data would be lost: %j',
    async (database) => {
      const storage = new TypeOrmSessionStorage({ database });
      await expect(storage.open()).rejects.toThrow(InvalidInputError);
      await expect(storage.open()).rejects.toThrow('database: must be the path of a file');
    },
  );

  it('says that the disk is full if it is, and is opened once there is room', async () => {
    const database = join(folder, 'sessions.db');
    await mkdir(database);
    const full = jest.spyOn(disk, 'statfs').mockResolvedValue({ bavail: 12, bsize: 4_096 } as never);
    const storage = new TypeOrmSessionStorage({ database });
    const error: unknown = await storage.open().catch((thrown: unknown) => thrown);
    expect(full).toHaveBeenCalledWith(folder);
    full.mockRestore();
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect((error as StoreUnavailableError).message).toContain(`SQLite cannot open ${database}: its disk is full`);
    expect((error as StoreUnavailableError).publicMessage).not.toContain(folder);
    await rm(database, { recursive: true });
    await expect(storage.open()).resolves.toBeUndefined();
    await storage.close();
  });

  it('opens once the problem is fixed', async () => {
    const database = join(folder, 'a-folder');
    const storage = new TypeOrmSessionStorage({ database });
    await expect(storage.open()).rejects.toThrow(ConfigurationError);
    await rm(database, { recursive: true });
    await expect(storage.open()).resolves.toBeUndefined();
    await storage.close();
  });
});

async function problemsOf(database: string): Promise<readonly string[]> {
  const storage = new TypeOrmSessionStorage({ database });
  const error: unknown = await storage.open().catch((thrown: unknown) => thrown);
  await storage.close();
  expect(error).toBeInstanceOf(ConfigurationError);
  expect((error as Error).message).not.toContain('retry');
  return (error as ConfigurationError).problems;
}
