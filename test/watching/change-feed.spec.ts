import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { type ListeningConnections, untilCount } from '../support/listening-connections.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { RedisBench } from '../support/redis-servers.js';
import { clusterNodes, redisUrl } from '../support/redis-store.js';
import { SqlBench } from '../support/sql-bench.js';
import { postgresServer } from '../support/sql-servers.js';
import { until } from '../support/until.js';
import { rounds } from '../support/rounds.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const CUTS = rounds(20);
const WATCHERS = 500;
const TICKS = 10;
/** No poll happens, so all events arrive through the feed. */
const NEVER = 1_000_000;

interface FeedBench {
  readonly connections: ListeningConnections;
  storage(): SessionStorage;
  close(): Promise<void>;
}

describeChosen(
  'the change feed of a $name store',
  [
    { name: 'redis' as const, open: () => redisBench('redis'), mostConnections: 1 },
    { name: 'redis-cluster' as const, open: () => redisBench('redis-cluster'), mostConnections: 3 },
    { name: 'postgres' as const, open: postgresBench, mostConnections: 1 },
  ],
  ({ open, mostConnections }) => {
    let bench: FeedBench;
    beforeEach(async () => {
      bench = await open();
    });
    afterEach(() => bench.close());

    it(`loses no events and repeats none if the connection is cut ${CUTS} times`, async () => {
      const sessions = new SessionService({ storage: bench.storage(), watchPollMs: NEVER });
      const elsewhere = new SessionService({ storage: bench.storage() });
      await sessions.createSession(KEY);
      const watch = sessions.watch(KEY);
      const session = { ...KEY, id: KEY.sessionId };
      const seqs: (number | undefined)[] = [];
      const reading = (async () => {
        while (seqs.length < 4 * CUTS) seqs.push((await watch.next()).value?.seq);
      })();
      for (let cut = 0; cut < CUTS; cut++) {
        await elsewhere.appendEvent({ session, event: { author: 'user' } });
        await untilCount(bench.connections, (count) => count > 0);
        const appending = elsewhere.appendEvent({ session, event: { author: 'user' } });
        await bench.connections.cut();
        await appending;
        // No connection is listening now, and no poll will find these events.
        for (let count = 0; count < 2; count++) await elsewhere.appendEvent({ session, event: { author: 'user' } });
      }
      await reading;
      expect(seqs).toEqual(Array.from({ length: 4 * CUTS }, (_, index) => index + 1));
      await sessions.close();
      await elsewhere.close();
      await untilCount(bench.connections, (count) => count === 0);
    });

    it(`takes ${mostConnections} connections for ${WATCHERS} idle watches, and hardly any query`, async () => {
      const { storage, counts } = counted(bench.storage());
      const sessions = new SessionService({ storage, watchPollMs: 100 });
      const elsewhere = new SessionService({ storage: bench.storage() });
      const keys = Array.from({ length: WATCHERS }, (_, index) => ({
        ...KEY,
        userId: `user-${index % 10}`,
        sessionId: `s-${index}`,
      }));
      await inBatches(keys, (key) => elsewhere.createSession(key));
      const waiting: Promise<IteratorResult<unknown>>[] = [];
      await inBatches(keys, async (key) => {
        waiting.push(sessions.watch(key).next());
        await sessions.whenIdle();
      });
      await untilCount(bench.connections, (count) => count >= 1);
      const next = waiting[123];
      await elsewhere.appendEvent({
        session: { ...KEY, userId: 'user-3', id: 's-123' },
        event: { author: 'user', id: 'e' },
      });
      expect((await next)?.value).toMatchObject({ id: 'e' });
      // Several ticks pass: a watch without a feed polls on each of them.
      const polling = counted(bench.storage(), { hasFeed: false });
      const pollingSessions = new SessionService({ storage: polling.storage, watchPollMs: 100 });
      waiting.push(pollingSessions.watch({ ...KEY, userId: 'user-0', sessionId: 's-0' }).next());
      counts.looks = 0;
      counts.read = 0;
      await until(() => polling.counts.looks >= TICKS);
      expect(counts.read).toBe(0);
      expect(counts.looks).toBeLessThanOrEqual(2);
      expect(await bench.connections.count()).toBeLessThanOrEqual(mostConnections);
      await sessions.close();
      await pollingSessions.close();
      await elsewhere.close();
      await Promise.all(waiting);
      await untilCount(bench.connections, (count) => count === 0);
    });
  },
);

async function inBatches<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += 100) await Promise.all(items.slice(from, from + 100).map(work));
}

function counted(storage: SessionStorage, { hasFeed = true }: { hasFeed?: boolean } = {}) {
  const counts = { looks: 0, read: 0 };
  const proxy = new Proxy(storage, {
    get(target, name) {
      if (name === 'feed') return hasFeed ? target.feed : undefined;
      if (name === 'tails') counts.looks += 1;
      if (name === 'read') counts.read += 1;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { storage: proxy, counts };
}

async function redisBench(name: 'redis' | 'redis-cluster'): Promise<FeedBench> {
  const bench = new RedisBench(name);
  const connectionName = `test-${randomUUID()}`;
  const nodes =
    name === 'redis' ? [new Redis(redisUrl)] : clusterNodes().map(({ host, port }) => new Redis(port, host));
  const listening = async () =>
    (
      await Promise.all(
        nodes.map(async (node) =>
          String(await node.client('LIST'))
            .split('\n')
            .filter((line) => line.includes(`name=${connectionName} `) && / flags=\w*P/.test(line))
            .map((line) => ({ node, id: /^id=(\d+)/.exec(line)?.[1] ?? '' })),
        ),
      )
    ).flat();
  return {
    connections: {
      count: async () => (await listening()).length,
      async cut() {
        for (const { node, id } of await listening()) await node.client('KILL', 'ID', id);
      },
    },
    // What 500 watches do at once takes its time on a busy machine.
    storage: () => bench.storage({ connection: { connectionName }, commandTimeoutMs: 30_000 }),
    async close() {
      await bench.close();
      for (const node of nodes) node.disconnect();
    },
  };
}

async function postgresBench(): Promise<FeedBench> {
  const bench = await SqlBench.open(postgresServer);
  const connection = await bench.connect();
  // The server shows only the last query of a connection. The listening connection also sends `SELECT 1` now and then
  // as a keep-alive.
  const of = (what: string) =>
    connection.query(`
      SELECT ${what} AS found FROM pg_stat_activity
      WHERE datname = current_database() AND (query LIKE 'LISTEN%' OR query = 'SELECT 1')`);
  return {
    connections: {
      count: async () => Number((await of('count(*)'))[0]?.found),
      async cut() {
        await of('pg_terminate_backend(pid)');
      },
    },
    storage: () => bench.storage(),
    close: () => bench.close(),
  };
}
