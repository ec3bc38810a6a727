import { EntryLeases } from '../../src/sessions/coordination/entry-leases.js';
import { KnownEntries } from '../../src/sessions/coordination/known-entries.js';
import { InMemoryEntries } from '../../src/sessions/storage/in-memory/in-memory-entries.js';
import { ManualClock } from '../../src/testing/index.js';

const NAMES = Array.from({ length: 20 }, (_, place) => `work ${place}`);
const REQUEST = { names: NAMES, holder: 'one', ttlMs: 10_000 };

const clock = new ManualClock();

describe('leases that are counted', () => {
  let entries: InMemoryEntries;
  let leases: EntryLeases;
  beforeEach(() => {
    entries = new InMemoryEntries(() => clock.now());
    leases = new EntryLeases(new KnownEntries(entries));
  });

  it('are taken by all requests that come at once in few calls of the store, each as far as it allows', async () => {
    const find = jest.spyOn(entries, 'find');
    const write = jest.spyOn(entries, 'write');
    const asked = [3, 3, 1, 3, 5, 5, 5, 5].map((atMost) => leases.acquireAny({ ...REQUEST, atMost }));
    const got = (await Promise.all(asked)).map((lease) => lease?.name);
    const [one, two, three, four, five] = NAMES;
    expect(got).toEqual([one, two, undefined, three, four, five, undefined, undefined]);
    expect(find.mock.calls.length + write.mock.calls.length).toBeLessThanOrEqual(4);
  });

  it('fail together if the store fails, and can be taken after that', async () => {
    const failure = new Error('away');
    const find = jest.spyOn(entries, 'find').mockRejectedValue(failure);
    const asked = Array.from({ length: 10 }, () => leases.acquireAny({ ...REQUEST, atMost: 3 }));
    for (const end of await Promise.allSettled(asked)) expect(end).toEqual({ status: 'rejected', reason: failure });
    expect(find.mock.calls.length).toBeLessThanOrEqual(2);
    find.mockRestore();
    expect(await leases.acquireAny({ ...REQUEST, atMost: 1 })).toMatchObject({ name: NAMES[0] });
  });

  it('are counted by processes that do not see each other', async () => {
    const other = new EntryLeases(new KnownEntries(entries));
    const asked = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? other : leases).acquireAny({ ...REQUEST, atMost: 7 }),
    );
    const got = (await Promise.all(asked)).flatMap((lease) => lease?.name ?? []);
    expect(got.toSorted()).toEqual(NAMES.slice(0, 7).toSorted());
  });
});
