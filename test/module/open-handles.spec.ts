import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StoreSettings } from '../../src/index.js';
import { chosenStoreNames } from '../support/store-names.js';
import { type Place, describePlaces, openPlace } from './support/places.js';

const run = promisify(execFile);
const script = join(__dirname, 'children/app-lives.mjs');
/** Whatever is left open keeps a process alive for longer than this, and a busy machine does not. */
const LIMIT_MS = 100_000;

/** Runs a story in a process of its own, which has to end by itself; answers what it prints. */
async function tell(story: string, settings: StoreSettings, cycles = 0): Promise<unknown> {
  const args = ['--expose-gc', script, JSON.stringify({ story, settings, cycles })];
  const { stdout, stderr } = await run(process.execPath, args, { timeout: LIMIT_MS, killSignal: 'SIGKILL' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describePlaces('a process with sessions in $name', ({ open }) => {
  let place: Place;

  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.remove());

  it.each(['once', 'two at a time'])('ends by itself after its apps were closed: %s', async (story) => {
    expect(await tell(story, place.settings)).toBe('done');
  });

  it.each(['another part fails when it is made', 'another part fails when it begins'])(
    'ends by itself where %s',
    async (story) => {
      expect(await tell(story, place.settings)).toBe('Error: Another part of the app fails');
    },
  );
});

const nowhere: readonly (readonly [name: string, settings: StoreSettings])[] = [
  ['Redis', { provider: 'redis', redis: { url: 'redis://app:hunter2@127.0.0.1:1', commandTimeoutMs: 200 } }],
  ['a cluster', { provider: 'redis', redis: { cluster: [{ host: '127.0.0.1', port: 1 }], commandTimeoutMs: 200 } }],
  ['MySQL', { provider: 'typeorm', database: { url: 'mysql://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500 } }],
  ['PostgreSQL', { provider: 'typeorm', database: { url: 'postgres://app:hunter2@127.0.0.1:1/db', timeLimitMs: 500 } }],
  ['SQLite', { provider: 'typeorm', database: { database: '/dev/null/sessions.db' } }],
];

describe('a process whose store is not there', () => {
  it.each(nowhere)('ends by itself: %s', async (_name, settings) => {
    const said = await tell('the store is not there', settings);
    expect(said).toMatch(/^[A-Z_]+: /);
    expect(said).not.toContain('hunter2');
  });
});

const embedded = (['memory', 'sqlite'] as const).filter((name) => chosenStoreNames().includes(name));

for (const name of embedded) {
  describe(`50 apps one after the other in ${name}`, () => {
    it('leave nothing in memory', async () => {
      const place = await openPlace(name);
      try {
        expect(await tell('again and again', place.settings, 50)).toBeLessThan(2 * 1024 * 1024);
      } finally {
        await place.remove();
      }
    });
  });
}
