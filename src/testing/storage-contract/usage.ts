import { lifetimesOf } from '../../sessions/domain/values/expiry.js';
import { DEFAULT_TTL } from '../../config/session-settings.js';
import { MOST_MODELS_OF_SESSION, type ModelUsage, NO_USAGE, UNKNOWN_MODEL } from '../../sessions/domain/usage/usage.js';
import type { UsageOwner, UsagePeriod } from '../../sessions/domain/usage/usage-periods.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import {
  APP,
  KEY,
  type StorageFixture,
  USER,
  createTestBatch,
  createTestCommit,
  creation,
  lives,
  together,
  upsert,
} from './support.js';

const DAY_SECONDS = 86_400;
const KEEP_MS = 100 * DAY_SECONDS * 1_000;

function used(model: string, totalTokens: number, more: Partial<ModelUsage> = {}): ModelUsage {
  return { ...NO_USAGE, model, events: 1, totalTokens, ...more };
}

function usage(...models: readonly ModelUsage[]): { usage: { models: readonly ModelUsage[]; keepMs: number } } {
  return { usage: { models, keepMs: KEEP_MS } };
}

async function readSortedUsage(
  storage: SessionStorage,
  owner: UsageOwner,
  period: UsagePeriod = 'total',
): Promise<readonly ModelUsage[] | undefined> {
  const { found } = await storage.readUsage([{ ...owner, period }]);
  return found[0]?.toSorted((a, b) => (a.model < b.model ? -1 : 1));
}

/** The tokens of all models together. */
async function tokens(storage: SessionStorage, owner: UsageOwner, period: UsagePeriod = 'total'): Promise<number> {
  const models = (await readSortedUsage(storage, owner, period)) ?? [];
  return models.reduce((sum, { totalTokens }) => sum + totalTokens, 0);
}

/** More models than a session counts by their names. */
const MANY_MODELS = Array.from({ length: MOST_MODELS_OF_SESSION + 9 }, (_, n) =>
  used(`m-${String(n).padStart(2, '0')}`, 2),
);

const OTHER = { ...KEY, sessionId: 's-2' };
const BOB = { appName: 'shop', userId: 'bob', sessionId: 's-1' };

export const usageSums = topic<StorageFixture>('usage', (test) => {
  test('a commit adds its usage to its session, its user and its app, by model', async ({ storage }) => {
    for (const key of [KEY, OTHER, BOB]) await storage.create(creation({ key }));
    const all = { promptTokens: 1, cachedTokens: 2, outputTokens: 3, thinkingTokens: 4, toolUseTokens: 5 };
    await storage.append(createTestCommit('e1', usage(used('large', 10, all), used('small "é" 😀', 4))));
    await storage.append({ ...createTestCommit('e2', usage(used('large', 1e9, all))), key: OTHER });
    await storage.append({ ...createTestCommit('e3', usage(used('large', 7))), key: BOB });
    const small = used('small "é" 😀', 4);
    const twice = { promptTokens: 2, cachedTokens: 4, outputTokens: 6, thinkingTokens: 8, toolUseTokens: 10 };
    expect(await readSortedUsage(storage, KEY)).toEqual([used('large', 10, all), small]);
    expect(await readSortedUsage(storage, OTHER)).toEqual([used('large', 1e9, all)]);
    expect(await readSortedUsage(storage, USER)).toEqual([used('large', 1e9 + 10, { events: 2, ...twice }), small]);
    expect(await readSortedUsage(storage, APP)).toEqual([used('large', 1e9 + 17, { events: 3, ...twice }), small]);
    const queries = [KEY, BOB, { appName: 'other' }, { ...USER, userId: 'zoe' }, { ...KEY, sessionId: 'none' }];
    const { found } = await storage.readUsage([...queries, APP].map((owner) => ({ ...owner, period: 'total' })));
    expect(found.map((models) => models?.length)).toEqual([2, 1, 0, 0, undefined, 2]);
  });

  test('days and months begin anew at midnight in UTC, and can be read by their names', async ({ storage, clock }) => {
    await storage.create(creation());
    clock.advance(Date.UTC(2028, 1, 28, 23, 59, 59, 999) - clock.now());
    await storage.append(createTestCommit('e1', usage(used('m', 1))));
    clock.advance(1);
    await storage.append(createTestCommit('e2', usage(used('m', 10))));
    clock.advanceSeconds(DAY_SECONDS);
    await storage.append(createTestCommit('e3', usage(used('m', 100))));
    const periods = [
      '2028-02-28',
      '2028-02-29',
      '2028-03-01',
      '2028-02',
      '2028-03',
      'day',
      'month',
      'total',
      '2027-02',
    ];
    for (const owner of [USER, APP]) {
      const sums = await Promise.all(periods.map((period) => tokens(storage, owner, period)));
      expect(sums).toEqual([1, 10, 100, 11, 100, 100, 100, 111, 0]);
    }
    expect((await storage.readUsage([{ ...USER, period: 'day' }])).now).toBe(clock.now());
  });

  test('a session counts so many models by their names, and the others together', async ({ storage }) => {
    await storage.create(creation());
    await storage.append(createTestCommit('e1', usage(...MANY_MODELS)));
    await storage.append(createTestCommit('e2', usage(used('m-07', 1), used('other', 1))));
    const ofSession = (await readSortedUsage(storage, KEY)) ?? [];
    expect(ofSession).toHaveLength(MOST_MODELS_OF_SESSION + 1);
    expect(ofSession.find(({ model }) => model === 'm-07')).toEqual(used('m-07', 3, { events: 2 }));
    expect(ofSession.at(-1)).toEqual(used(UNKNOWN_MODEL, 19, { events: 10 }));
  });

  test('a user and an app count every model by its name', async ({ storage }) => {
    await storage.create(creation());
    await storage.append(createTestCommit('e1', usage(...MANY_MODELS)));
    await storage.append(createTestCommit('e2', usage(used('other', 1))));
    for (const owner of [USER, APP]) expect(await readSortedUsage(storage, owner)).toHaveLength(MANY_MODELS.length + 1);
  });

  test('a repeated event and a refused commit add nothing', async ({ storage }) => {
    await storage.create(creation());
    await storage.append(createTestCommit('e1', usage(used('m', 5))));
    await storage.append(createTestCommit('e1', usage(used('m', 5))));
    await storage.append(createTestCommit('e2', { ...usage(used('m', 5)), preconditions: { expectedVersion: 0 } }));
    await storage.append({ ...createTestCommit('e3', usage(used('m', 5))), key: { ...KEY, sessionId: 'none' } });
    for (const owner of [KEY, USER, APP]) expect(await tokens(storage, owner)).toBe(5);
  });

  test('a commit may have several events, state of all scopes, and no lifetimes', async ({ storage }) => {
    await storage.create(creation());
    const upserts = [upsert('session', 'a', 1), upsert('user', 'b', 2), upsert('app', 'c', 3)];
    await storage.append(
      createTestBatch([{ id: 'e1' }, { id: 'e2' }], { ...usage(used('m', 5, { events: 2 })), upserts }),
    );
    await storage.append(createTestCommit('e3', { ...usage(used('m', 1)), expiry: undefined }));
    await storage.append(createTestCommit('e4', { ...usage(used('m', 1)), expiry: lifetimesOf(DEFAULT_TTL) }));
    for (const owner of [KEY, USER, APP])
      expect(await readSortedUsage(storage, owner)).toEqual([used('m', 7, { events: 4 })]);
    expect(await storage.readState(APP)).toEqual([['c', '3']]);
    expect(await storage.readState(USER)).toEqual([['b', '2']]);
  });

  test('concurrent commits lose nothing', async ({ storage }) => {
    const keys = [KEY, OTHER, BOB];
    for (const key of keys) await storage.create(creation({ key }));
    await together(30, async (index) => {
      const key = keys[index % 3] ?? KEY;
      await storage.append({ ...createTestCommit(`e${index}`, usage(used('m', 1), used(`m${index % 4}`, 2))), key });
    });
    const sums = await Promise.all([...keys, USER, APP].map((owner) => tokens(storage, owner)));
    expect(sums).toEqual([30, 30, 30, 60, 90]);
    expect(await tokens(storage, APP, 'day')).toBe(90);
  });

  test('a session takes its usage with it, and its user and its app keep it', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 10 }) }));
    await storage.append(createTestCommit('e1', { ...usage(used('m', 5)), expiry: lives({ session: 10 }) }));
    clock.advanceSeconds(11);
    expect(await readSortedUsage(storage, KEY)).toBeUndefined();
    await storage.create(creation());
    expect(await readSortedUsage(storage, KEY)).toEqual([]);
    await storage.append(createTestCommit('e1', usage(used('m', 2))));
    expect(await tokens(storage, KEY)).toBe(2);
    await storage.delete(KEY);
    expect(await readSortedUsage(storage, KEY)).toBeUndefined();
    for (const owner of [USER, APP]) expect(await tokens(storage, owner)).toBe(7);
  });

  test('sums expire after their last change, and begin anew', async ({ storage, clock, raw }) => {
    await storage.create(creation());
    await storage.append(createTestCommit('e1', usage(used('canary', 1))));
    const [day, month] = ['2026-01-01', '2026-01'];
    clock.advanceSeconds(90 * DAY_SECONDS);
    await storage.append(createTestCommit('e2', usage(used('m', 10))));
    expect(await tokens(storage, USER, day)).toBe(0);
    expect(await tokens(storage, USER, month)).toBe(1);
    expect(await tokens(storage, APP)).toBe(11);
    clock.advanceSeconds(102 * DAY_SECONDS);
    for (const owner of [USER, APP]) expect(await tokens(storage, owner)).toBe(0);
    await storage.append(createTestCommit('e3', usage(used('m', 100))));
    for (const owner of [USER, APP]) expect(await tokens(storage, owner)).toBe(100);
    await storage.delete(KEY);
    await storage.purgeExpired(1_000);
    const { text } = await raw();
    expect(text).not.toContain('canary');
    for (const owner of [USER, APP]) expect(await tokens(storage, owner)).toBe(100);
  });
});
