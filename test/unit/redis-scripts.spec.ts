import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_SCRIPTS } from '../../src/sessions/storage/redis/all-scripts.js';
import { CHECK_PERMISSIONS } from '../../src/sessions/storage/redis/connect/permission-check.js';
import type { Script } from '../../src/sessions/storage/redis/script/script.js';

const FOLDER = join(__dirname, '../../src/sessions/storage/redis');

const isScript = (value: unknown): value is Script => typeof value === 'object' && value !== null && 'sha' in value;

describe('ALL_SCRIPTS', () => {
  it('lists every script, so that opening a store checks the permissions of each', async () => {
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && name !== 'all-scripts.ts',
    );
    const modules = await Promise.all(files.map((name) => import(join(FOLDER, name)) as Promise<object>));
    const found = modules.flatMap((module) => Object.values(module).filter(isScript)).map(({ name }) => name);
    expect(ALL_SCRIPTS.map(({ name }) => name).toSorted()).toEqual(
      found.filter((name) => name !== CHECK_PERMISSIONS.name).toSorted(),
    );
  });
});
