import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mariaDbAddress } from '../support/mariadb-store.js';
import { redisUrl } from '../support/redis-store.js';
import { type StoreName, chosenStoreNames } from '../support/store-names.js';

const folder = join(__dirname, '../../examples');
const run = promisify(execFile);

/** Examples that need a server. */
const serverOf: Readonly<Record<string, StoreName>> = { 'nest-redis.mjs': 'redis', 'nest-sql.mjs': 'mariadb' };

/** The examples run as a reader runs them: the built package, plain Node. */
describe('the examples', () => {
  const examples = readdirSync(folder).filter((file) => file.endsWith('.mjs'));
  const chosen = examples.filter((file) => {
    const server = serverOf[file];
    return server === undefined || chosenStoreNames().includes(server);
  });

  it('are there', () => {
    expect(examples.length).toBeGreaterThanOrEqual(10);
    expect(examples).toEqual(expect.arrayContaining(Object.keys(serverOf)));
  });

  it('show whole what docs/configuration.md shows in part', () => {
    const page = readFileSync(join(folder, '../docs/configuration.md'), 'utf8');
    const [shown] = /```js\n(const database = TypeOrmModule[^]+?)```/.exec(page)?.slice(1) ?? [];
    const example = readFileSync(join(folder, 'nest-data-source.mjs'), 'utf8');
    expect(example.replace('class AppModule {}\n', '')).toContain(shown);
  });

  it.each(chosen)('%s prints what stands beside it', async (file) => {
    const env = { ...process.env, REDIS_URL: redisUrl, MYSQL_URL: mariaDbAddress() };
    const { stdout, stderr } = await run(process.execPath, [join(folder, file)], { env });
    expect(stderr).toBe('');
    expect(stdout).toBe(readFileSync(join(folder, file.replace('.mjs', '.out.txt')), 'utf8'));
  });
});
