import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

describe('the mode of a SQLite file', () => {
  let folder: string;
  let umask: number;
  let storage: TypeOrmSessionStorage | undefined;

  beforeEach(async () => {
    umask = process.umask(0o022);
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-modes-'));
    await chmod(folder, 0o755);
  });
  afterEach(async () => {
    await storage?.close();
    process.umask(umask);
    await rm(folder, { recursive: true });
  });

  const write = async (database: string): Promise<void> => {
    storage = new TypeOrmSessionStorage({ database });
    const sessions = new SessionService({ storage });
    await sessions.createSession(KEY);
    await sessions.appendEvent({ session: { ...KEY, id: 's' }, event: { author: 'user' } });
  };

  it('gives access to the owner only, also to the files beside it and new folders', async () => {
    const inner = join(folder, 'a', 'b');
    await write(join(inner, 'sessions.db'));
    expect((await readdir(inner)).toSorted()).toEqual(['sessions.db', 'sessions.db-shm', 'sessions.db-wal']);
    for (const name of await readdir(inner)) expect([name, await modeOf(join(inner, name))]).toEqual([name, '600']);
    expect([await modeOf(inner), await modeOf(join(folder, 'a')), await modeOf(folder)]).toEqual(['700', '700', '755']);
  });

  it('does not change if file and folder exist', async () => {
    const inner = join(folder, 'shared');
    await mkdir(inner);
    const database = join(inner, 'sessions.db');
    await writeFile(database, '');
    await chmod(database, 0o640);
    await write(database);
    for (const name of await readdir(inner)) expect([name, await modeOf(join(inner, name))]).toEqual([name, '640']);
    expect(await modeOf(inner)).toBe('755');
  });
});
