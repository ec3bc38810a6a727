import { topic } from '../contract-runner.js';
import { type StorageFixture, acquired, leaseOf } from './support.js';

/** All different, but similar enough that careless comparison or escaping confuses them. */
export const NAMES: readonly string[] = [
  'cleanup',
  'Cleanup',
  'CLEANUP',
  'cleanup ',
  ' cleanup',
  'cleanup\t',
  'cleanup\n',
  'caf\u00e9',
  'cafe\u0301',
  'cafe',
  '{}',
  '{cleanup}',
  '{a}{b}',
  ':',
  'cleanup:',
  'a:b',
  'a%3Ab',
  'a|b',
  '*',
  'clean*',
  '?',
  '[a-z]',
  '%',
  '_',
  '\\',
  "'",
  '"',
  "'; DROP TABLE agent_leases; --",
  '$1',
  '.',
  '..',
  '../x',
  '/',
  ' ',
  '0',
  '00',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'last-token',
  '\ud83d\ude00',
  '\ud83d\ude01',
  '\ufeff',
  '\u200b',
  'ı',
  'i',
  'ß',
  'ss',
  '日本',
  'x'.repeat(400),
  `${'x'.repeat(399)}y`,
  '\ud83d\ude00'.repeat(100),
];

export const leaseNames = topic<StorageFixture>('names of leases', (test) => {
  test('leases with different names are independent', async ({ storage }) => {
    const held = [];
    for (const name of NAMES) held.push(await acquired(storage, leaseOf({ name })));
    expect(held.map(({ name }) => name)).toEqual(NAMES);
    for (const name of NAMES) expect(await storage.leases.acquire(leaseOf({ name }))).toBeUndefined();
    const [first, ...others] = held;
    if (first) await storage.leases.release(first);
    for (const lease of others) {
      expect(await storage.leases.renew(lease, 20_000)).toMatchObject({ name: lease.name, token: lease.token });
    }
    for (const lease of others) await storage.leases.release(lease);
    for (const name of NAMES) await acquired(storage, leaseOf({ name }));
  });

  test('the holder is stored as the same text', async ({ storage }) => {
    for (const holder of ['{}', ':*', 'caf\u00e9', 'cafe\u0301', "'; --", '\ud83d\ude00', ' ', 'x'.repeat(191)]) {
      const held = await acquired(storage, leaseOf({ holder }));
      expect(held.holder).toBe(holder);
      expect(await storage.leases.renew(held, 1_000)).toMatchObject({ holder });
      await storage.leases.release(held);
    }
  });
});
