import { EventEmitter, on } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { SessionService } from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { CountingStorage } from '../support/counting-storage.js';
import { observedDriver } from '../support/observed-driver.js';
import { describeSqlServersWithTables } from '../support/sql-bench.js';
import { StatementLog } from '../support/statement-log.js';
import { chosenStoreNames } from '../support/store-names.js';
import { storeOfEachKind } from '../support/stores.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
const WATCHERS = 1_100;
const NEVER = 1_000_000;
/** After so many ticks without news, they are as far from each other as they become. */
const TICKS_UNTIL_CALM = 20;

/** Starts the watches and returns their pending first results. */
async function watchMany(sessions: SessionService): Promise<Promise<IteratorResult<unknown>>[]> {
  const waiting: Promise<IteratorResult<unknown>>[] = [];
  for (let from = 0; from < WATCHERS; from += 100) {
    const keys = Array.from({ length: 100 }, (_, index) => ({ ...KEY, sessionId: `s-${from + index}` }));
    await Promise.all(keys.map((key) => sessions.createSession(key)));
    waiting.push(...keys.map((key) => sessions.watch(key).next()));
    await sessions.whenIdle();
  }
  return waiting;
}

if (chosenStoreNames().includes('sqlite')) {
  it(`${WATCHERS} idle watches of a SQLite store take two statements per tick, and none after they end`, async () => {
    const log = new StatementLog();
    const storage = new TypeOrmSessionStorage({ database: ':memory:', driver: observedDriver(log) });
    const sessions = new SessionService({ storage, watchPollMs: 50 });
    const waiting = await watchMany(sessions);
    log.clear();
    while (log.counts().transactions < TICKS_UNTIL_CALM) await delay(50);
    log.clear();
    const startedAt = performance.now();
    while (log.counts().transactions <= 2) await delay(50);
    const most = Math.ceil((performance.now() - startedAt) / 50);
    const statements = log.statements();
    const ticks = log.counts().transactions;
    expect(ticks).toBeLessThanOrEqual(most + 1);
    expect(statements).toHaveLength(2 * ticks);
    await sessions.finish();
    await Promise.all(waiting);
    await delay(60);
    log.clear();
    await delay(200);
    expect(log.statements()).toEqual([]);
    await sessions.close();
  });
}

describeSqlServersWithTables(
  `${WATCHERS} idle watches of a $name store`,
  (bench) => {
    it('share one transaction per tick, and still receive new events', async () => {
      const { proxy, behind } = await bench().proxy();
      const sessions = bench().sessions({ ...behind, service: { watchPollMs: 100 } });
      const elsewhere = bench().sessions();
      const waiting = await watchMany(sessions);
      let statements = 0;
      const counted = new EventEmitter();
      proxy.filter = ({ from, data }) => {
        if (from === 'client') statements += data.toString('latin1').split('s.pk IN').length - 1;
        counted.emit('statement');
        return 'pass';
      };
      for await (const _ of on(counted, 'statement')) if (statements > 2 * TICKS_UNTIL_CALM) break;
      statements = 0;
      const startedAt = performance.now();
      for await (const _ of on(counted, 'statement')) if (statements > 2) break;
      const ticks = Math.ceil((performance.now() - startedAt) / 100);
      // A tick may have been in progress when counting began.
      expect(statements).toBeLessThanOrEqual(2 * (ticks + 1));
      const next = waiting[1_034];
      await elsewhere.appendEvent({ session: { ...SESSION, id: 's-1034' }, event: { author: 'user', id: 'e' } });
      expect((await next)?.value).toMatchObject({ id: 'e' });
      await sessions.close();
      await Promise.all(waiting);
    });
  },
  ['mariadb'],
);

describe.each(storeOfEachKind)('a slow reader of a $name store', ({ open }) => {
  it('holds at most one page in memory', async () => {
    const { storage, destroy } = await open({});
    const counting = new CountingStorage(storage);
    const writing = new SessionService({ storage });
    const sessions = new SessionService({ storage: counting.storage, watchPollMs: NEVER });
    await writing.createSession(KEY);
    const watch = sessions.watch({ ...KEY, afterSeq: 0 });
    await writing.appendEvent({ session: SESSION, event: { author: 'user' } });
    await watch.next();
    for (let sent = 0; sent < 1_000; sent += 100) {
      await writing.appendEvents({ session: SESSION, events: Array.from({ length: 100 }, () => ({ author: 'user' })) });
    }
    counting.taken();
    expect((await watch.next()).value).toMatchObject({ seq: 2 });
    expect(counting.taken().events).toBeLessThanOrEqual(100);
    await sessions.finish();
    await writing.finish();
    await destroy();
  });
});
