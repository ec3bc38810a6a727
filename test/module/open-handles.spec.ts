import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StoreSettings } from '../../src/config/store-settings.js';
import { chosenStoreNames } from '../support/store-names.js';
import { type Place, describePlaces, openPlace } from './support/places.js';

const run = promisify(execFile);
const script = join(__dirname, 'children/open-and-close-apps.mjs');
/** An open handle keeps a process alive for longer than this. A busy machine does not. */
const LIMIT_MS = 100_000;

/** Runs scenarios with each store in a process of their own, which must end by itself. Returns the outcome of each. */
async function runScenarios(
  scenarios: readonly string[],
  stores: readonly StoreSettings[],
  cycles = 0,
): Promise<readonly unknown[]> {
  const args = ['--expose-gc', script, JSON.stringify({ scenarios, stores, cycles })];
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

  it('ends by itself after its apps are closed, and if another module fails', async () => {
    const failing = ['another module fails in its constructor', 'another module fails in onModuleInit'];
    const failure = 'Error: Another part of the app fails';
    const outcomes = await runScenarios([...failing, 'once', 'two at a time'], [place.settings]);
    expect(outcomes).toEqual([failure, failure, 'done', 'done']);
  });
});

const NO_SERVER = 'No server listens at 127.0.0.1:1: start it, or correct host and port in the url';

/** Settings with what the error says. */
const unreachable: readonly (readonly [settings: StoreSettings, reason: string])[] = [
  [
    { provider: 'redis', redis: { url: 'redis://app:hunter2@127.0.0.1:1', commandTimeoutMs: 200 } },
    'There was no connection to Redis at 127.0.0.1:1 within 200 ms',
  ],
  [
    { provider: 'redis', redis: { cluster: [{ host: '127.0.0.1', port: 1 }], commandTimeoutMs: 200 } },
    'There was no connection to Redis Cluster at 127.0.0.1:1 within 200 ms',
  ],
  [{ provider: 'typeorm', database: { url: 'mysql://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500 } }, NO_SERVER],
  [{ provider: 'typeorm', database: { url: 'postgres://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500 } }, NO_SERVER],
  [
    { provider: 'typeorm', database: { database: '/dev/null/sessions.db' } },
    'SQLite cannot open /dev/null/sessions.db',
  ],
];

describe('a process whose store is unreachable', () => {
  it('ends by itself, with any store', async () => {
    const stores = unreachable.map(([settings]) => ({ ...settings, retryAttempts: 0 }));
    const outputs = await runScenarios(['the store is unreachable'], stores);
    expect(outputs).toHaveLength(unreachable.length);
    for (const [index, [, reason]] of unreachable.entries()) {
      expect(outputs[index]).toMatch(/^[A-Z_]+: /);
      expect(outputs[index]).toContain(reason);
      expect(outputs[index]).not.toContain('hunter2');
    }
  });
});

const embedded = (['memory', 'sqlite'] as const).filter((name) => chosenStoreNames().includes(name));

for (const name of embedded) {
  describe(`50 apps in a row with ${name}`, () => {
    it('do not leak memory', async () => {
      const place = await openPlace(name);
      try {
        const [growth] = await runScenarios(['many cycles'], [place.settings], 50);
        expect(growth).toBeLessThan(2 * 1024 * 1024);
      } finally {
        await place.remove();
      }
    });
  });
}
