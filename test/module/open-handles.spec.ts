import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StoreSettings } from '../../src/index.js';
import { chosenStoreNames } from '../support/store-names.js';
import { type Place, describePlaces, openPlace } from './support/places.js';

const run = promisify(execFile);
const script = join(__dirname, 'children/open-and-close-apps.mjs');
/** An open handle keeps a process alive for longer than this. A busy machine does not. */
const LIMIT_MS = 100_000;

/** Runs scenarios one after the other in their own process, which must end by itself. Returns the outcome of each. */
async function runScenarios(
  scenarios: readonly string[],
  settings: StoreSettings,
  cycles = 0,
): Promise<readonly unknown[]> {
  const args = ['--expose-gc', script, JSON.stringify({ scenarios, settings, cycles })];
  const { stdout, stderr } = await run(process.execPath, args, { timeout: LIMIT_MS, killSignal: 'SIGKILL' });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as unknown[];
}

describePlaces('a process with sessions in $name', ({ open }) => {
  let place: Place;

  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.remove());

  it('ends by itself after its apps are closed', async () => {
    expect(await runScenarios(['once', 'two at a time'], place.settings)).toEqual(['done', 'done']);
  });

  it('ends by itself if another module fails', async () => {
    const failing = ['another module fails in its constructor', 'another module fails in onModuleInit'];
    const failure = 'Error: Another part of the app fails';
    expect(await runScenarios(failing, place.settings)).toEqual([failure, failure]);
  });
});

const unreachable: readonly (readonly [name: string, settings: StoreSettings])[] = [
  ['Redis', { provider: 'redis', redis: { url: 'redis://app:hunter2@127.0.0.1:1', commandTimeoutMs: 200 } }],
  ['a cluster', { provider: 'redis', redis: { cluster: [{ host: '127.0.0.1', port: 1 }], commandTimeoutMs: 200 } }],
  ['MySQL', { provider: 'typeorm', database: { url: 'mysql://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500 } }],
  ['PostgreSQL', { provider: 'typeorm', database: { url: 'postgres://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500 } }],
  ['SQLite', { provider: 'typeorm', database: { database: '/dev/null/sessions.db' } }],
];

describe('a process whose store is unreachable', () => {
  it.each(unreachable)('ends by itself: %s', async (_name, settings) => {
    const [output] = await runScenarios(['the store is unreachable'], settings);
    expect(output).toMatch(/^[A-Z_]+: /);
    expect(output).not.toContain('hunter2');
  });
});

const embedded = (['memory', 'sqlite'] as const).filter((name) => chosenStoreNames().includes(name));

for (const name of embedded) {
  describe(`50 apps in a row with ${name}`, () => {
    it('do not leak memory', async () => {
      const place = await openPlace(name);
      try {
        const [growth] = await runScenarios(['many cycles'], place.settings, 50);
        expect(growth).toBeLessThan(2 * 1024 * 1024);
      } finally {
        await place.remove();
      }
    });
  });
}
