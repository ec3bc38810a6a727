import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { mariaDbAddress } from '../support/mariadb-store.js';
import { redisUrl } from '../support/redis-store.js';
import { type StoreName, chosenStoreNames } from '../support/store-names.js';

const folder = join(__dirname, '../../examples');
const run = promisify(execFile);

/** Examples that need a server. */
const serverOf: Readonly<Record<string, StoreName>> = { redis: 'redis', mysql: 'mariadb' };

const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** Compiles an example without its types, which `test/docs` checks together with those of the docs. */
function compile(name: string): void {
  mkdirSync(join(folder, 'dist', name), { recursive: true });
  for (const file of readdirSync(join(folder, name)).filter((each) => each.endsWith('.ts'))) {
    const { outputText } = ts.transpileModule(readFileSync(join(folder, name, file), 'utf8'), { compilerOptions });
    writeFileSync(join(folder, 'dist', name, file.replace(/\.ts$/, '.js')), outputText);
  }
}

/** Runs the examples as a reader does: compiled against the built package, in plain Node. */
describe('the examples', () => {
  const examples = readdirSync(folder, { withFileTypes: true })
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
    const page = readFileSync(join(folder, '../docs/configuration.md'), 'utf8');
    const [shown] = /```ts\n(const database = TypeOrmModule[^]+?)```/.exec(page)?.slice(1) ?? [];
    const example = readFileSync(join(folder, 'shared-data-source/main.ts'), 'utf8');
    expect(shown).toBeDefined();
    expect(example).toContain(shown);
  });

  it('are all listed in the README', () => {
    const readme = readFileSync(join(folder, '../README.md'), 'utf8');
    for (const name of examples) expect(readme).toContain(`(examples/${name}/main.ts)`);
  });

  it.each(chosen)('%s prints the expected output', async (name) => {
    compile(name);
    const env = { ...process.env, REDIS_URL: redisUrl, MYSQL_URL: mariaDbAddress() };
    const { stdout, stderr } = await run(process.execPath, [join(folder, 'dist', name, 'main.js')], { env });
    expect(stderr).toBe('');
    expect(stdout).toBe(readFileSync(join(folder, name, 'output.txt'), 'utf8'));
  });
});
