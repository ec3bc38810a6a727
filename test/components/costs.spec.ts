import { ComponentSession } from '../../src/components/index.js';
import { observedDriver } from '../support/observed-driver.js';
import { observedRedis } from '../support/observed-redis.js';
import { countTrips } from '../support/round-trips.js';
import { describeRedis } from '../support/redis-servers.js';
import { describeSqlServers } from '../support/sql-bench.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { StatementLog } from '../support/statement-log.js';

const LENGTHS = [10, 5_000];
/** The texts of a long list are read after its head. */
const LONG_READS = [1, 2];

interface Counter {
  readonly start: () => void;
  readonly count: () => unknown;
}

/** What each operation costs when the list has some items, and many. */
async function costsOf(store: ComponentSession, other: ComponentSession, { start, count }: Counter) {
  const costs = [];
  for (const length of LENGTHS) {
    const session = `s-${length}`;
    const items: unknown[] = Array.from({ length }, (_, index) => ({ index }));
    await store.saveList(session, 'list', items);
    await store.save(session, 'value', 1);
    await other.append(session, 'list', ['of another process']);
    items.push('of another process');
    const operations: Record<string, () => Promise<unknown>> = {
      'save a value after another process': () => store.save(session, 'value', 2),
      'save a value': () => store.save(session, 'value', 3),
      'save a value of a version': () => store.save(session, 'value', 4, { version: 3 }),
      'save a new value': () => store.save(session, 'new', 1),
      'save a value of a new session': () => store.save(`${session} new`, 'value', 1),
      'append after another process': () => store.append(session, 'list', ['a']),
      append: () => store.append(session, 'list', ['b']),
      'save a list that has grown': () => store.saveList(session, 'list', [...items, 'a', 'b', 'c']),
      'read a value': () => store.get(session, 'value'),
      'read a list': () => store.getList(session, 'list'),
      'list sessions': () => store.listSessionKeys({ limit: 1 }),
      'delete a name': () => store.delete(session, 'value'),
    };
    const counted: Record<string, unknown> = {};
    for (const [name, run] of Object.entries(operations)) {
      start();
      await run();
      counted[name] = count();
    }
    costs.push(counted);
  }
  return costs;
}

describeRedis('Scripts of component state in a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('are one for a save, however long the list', async () => {
    let scripts = 0;
    const client = observedRedis(bench().client(), { beforeScript: () => void scripts++ });
    const [store, other] = [bench().storage({ client }), bench().storage()].map(
      (storage) => new ComponentSession({ store: storage.components, ttlMs: 60_000 }),
    );
    if (!store || !other) throw new Error('There is no store');
    const expected = {
      'save a value after another process': 2,
      'save a value': 1,
      'save a value of a version': 1,
      'save a new value': 1,
      'save a value of a new session': 2,
      'append after another process': 3,
      append: 1,
      'save a list that has grown': 1,
      'read a value': 1,
      'list sessions': bench().name === 'redis' ? 1 : 128,
      'delete a name': 2,
    };
    const counter = { start: () => void (scripts = 0), count: () => scripts };
    expect(await costsOf(store, other, counter)).toEqual(
      LONG_READS.map((reads) => ({ ...expected, 'read a list': reads })),
    );
  });
});

describeSqlServers('Round trips of component state to a $name store', (bench) => {
  it('do not depend on the length of the list', async () => {
    const { proxy, behind } = await bench().proxy();
    const [store, other] = [bench().storage(behind), bench().storage()].map(
      (storage) => new ComponentSession({ store: storage.components, ttlMs: 60_000 }),
    );
    if (!store || !other) throw new Error('There is no store');
    const expected = {
      'save a value after another process': 4,
      'save a value': 2,
      'save a value of a version': 2,
      'save a new value': 2,
      'save a value of a new session': 3,
      'append after another process': 5,
      append: 2,
      'save a list that has grown': 2,
      'read a value': 1,
      'list sessions': 1,
      'delete a name': 3,
    };
    let trips = countTrips(proxy);
    const counter = { start: () => void (trips = countTrips(proxy)), count: () => trips() };
    expect(await costsOf(store, other, counter)).toEqual(
      LONG_READS.map((reads) => ({ ...expected, 'read a list': reads })),
    );
  });
});

it('The statements of component state in SQLite do not depend on the length of the list', async () => {
  const file = new SqliteFile();
  try {
    const log = new StatementLog();
    const { components } = await file.storage({ driver: observedDriver(log) });
    const other = (await file.storage()).components;
    const [store, another] = [components, other].map((each) => new ComponentSession({ store: each, ttlMs: 60_000 }));
    if (!store || !another) throw new Error('There is no store');
    const counter = { start: () => log.clear(), count: () => log.counts() };
    const [few, many] = await costsOf(store, another, counter);
    expect(few).toMatchObject({
      'save a value': { transactions: 1, reads: 1, writes: 1, rows: 2 },
      append: { transactions: 1, reads: 1, writes: 1, rows: 2 },
      'save a list that has grown': { transactions: 1, reads: 1, writes: 1, rows: 2 },
    });
    const { 'read a list': ofFew, ...others } = few ?? {};
    const { 'read a list': ofMany, ...same } = many ?? {};
    expect(same).toEqual(others);
    expect([ofFew, ofMany]).toMatchObject([
      { transactions: 1, rows: 2 },
      { transactions: 2, rows: 23 },
    ]);
  } finally {
    await file.remove();
  }
});
