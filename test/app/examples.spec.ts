import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { COMPILED_EXAMPLES, EXAMPLES, compileExample } from '../support/compiled-examples.js';
import { mariaDbAddress } from '../support/mariadb-store.js';
import { redisUrl } from '../support/redis-store.js';
import { type StoreName, chosenStoreNames } from '../support/store-names.js';

const run = promisify(execFile);

/** Examples that need a server. */
const serverOf: Readonly<Record<string, StoreName>> = { redis: 'redis', 'summary-queue': 'redis', mysql: 'mariadb' };

/** Runs the examples as a reader does: compiled against the built package, in plain Node. */
describe('the examples', () => {
  const examples = readdirSync(EXAMPLES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'dist')
    .map(({ name }) => name);
  const chosen = examples.filter((name) => {
    const server = serverOf[name];
    return server === undefined || chosenStoreNames().includes(server);
  });

  it('exist', () => {
    expect(examples.length).toBeGreaterThanOrEqual(10);
    expect(examples).toEqual(expect.arrayContaining(Object.keys(serverOf)));
  });

  it('contain the code that docs/configuration.md shows', () => {
    const page = readFileSync(join(EXAMPLES, '../docs/configuration.md'), 'utf8');
    const [shown] = /```ts\n(const database = TypeOrmModule[^]+?)```/.exec(page)?.slice(1) ?? [];
    const example = readFileSync(join(EXAMPLES, 'shared-data-source/main.ts'), 'utf8');
    expect(shown).toBeDefined();
    expect(example).toContain(shown);
  });

  it('are all listed in their README', () => {
    const readme = readFileSync(join(EXAMPLES, 'README.md'), 'utf8');
    for (const name of examples) expect(readme).toContain(`(${name}/main.ts)`);
  });

  describe('in one process, which ends by itself,', () => {
    let outputs: Readonly<Record<string, { readonly out: string; readonly err: string }>>;

    beforeAll(async () => {
      for (const name of chosen) compileExample(name);
      const env = { ...process.env, REDIS_URL: redisUrl, MYSQL_URL: mariaDbAddress() };
      const { stdout } = await run(
        process.execPath,
        [join(__dirname, 'run-examples.mjs'), COMPILED_EXAMPLES, ...chosen],
        {
          env,
        },
      );
      outputs = JSON.parse(stdout) as typeof outputs;
    });

    it.each(chosen)('%s prints the expected output', (name) => {
      expect(outputs[name]).toEqual({ out: readFileSync(join(EXAMPLES, name, 'output.txt'), 'utf8'), err: '' });
    });
  });
});
