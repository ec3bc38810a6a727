import { InMemorySessionStorage, InvalidInputError, withLease } from '../../src/index.js';

const { leases } = new InMemorySessionStorage();
const GOOD = { leases, name: 'job', holder: 'one', ttlMs: 1_000 };

describe('withLease', () => {
  it.each([
    ['name', ''],
    ['name', 'x'.repeat(401)],
    ['name', 'é'.repeat(201)],
    ['name', '\ud83d'],
    ['name', 'a\u0000b'],
    ['name', 7],
    ['name', undefined],
    ['holder', ''],
    ['holder', 'x'.repeat(192)],
    ['holder', '\ude00'],
    ['holder', '\u0000'],
    ['holder', null],
    ['ttlMs', 0],
    ['ttlMs', -1],
    ['ttlMs', 99],
    ['ttlMs', 100.5],
    ['ttlMs', 86_400_001],
    ['ttlMs', NaN],
    ['ttlMs', Infinity],
    ['ttlMs', '1000'],
    ['ttlMs', undefined],
  ])('refuses an invalid request before it calls the store: %s = %j', async (path, value) => {
    const acquire = jest.spyOn(leases, 'acquire');
    const work = jest.fn();
    const refused = withLease({ ...GOOD, [path]: value }, work);
    await expect(refused).rejects.toThrow(InvalidInputError);
    await expect(refused).rejects.toMatchObject({ path });
    expect(acquire).not.toHaveBeenCalled();
    expect(work).not.toHaveBeenCalled();
  });

  it.each([
    ['name', 'x'.repeat(400)],
    ['name', 'é'.repeat(200)],
    ['name', ' \n'],
    ['holder', 'x'.repeat(191)],
    ['holder', undefined],
    ['ttlMs', 100],
    ['ttlMs', 86_400_000],
  ])('accepts a value at the limit: %s = %j', async (path, value) => {
    expect(await withLease({ ...GOOD, [path]: value }, async () => 'done')).toEqual({ ran: true, result: 'done' });
  });
});
