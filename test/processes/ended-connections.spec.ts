import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { SessionReference } from '../../src/index.js';
import { redisUrl } from '../support/redis-store.js';
import { inStore, wholeLog } from '../support/processes/session-checks.js';
import { type SharedStore, describeChosen } from '../support/processes/shared-stores.js';
import { sharedDatabase } from '../support/processes/shared-databases.js';
import { sharedRedis } from '../support/processes/shared-redis.js';
import { until } from '../support/until.js';
import { WorkerProcess } from '../support/processes/worker-process.js';
import { mariaDbServer, postgresServer } from '../support/sql-servers.js';
import { rounds } from '../support/rounds.js';

const USER = { appName: 'shop', userId: 'ann' };
const SESSION: SessionReference = { ...USER, id: 's-1' };
const ROUNDS = rounds(60);
const TIME_LIMIT_MS = 2_000;

/** A store whose connections can be identified on its server. */
interface MarkedStore {
  readonly store: SharedStore;
  /** Ends all of them, and returns their number. */
  endConnections(): Promise<number>;
  close(): Promise<void>;
}

async function markedPostgres(): Promise<MarkedStore> {
  const name = `test-${randomUUID()}`;
  const store = await sharedDatabase(postgresServer, {
    timeLimitMs: TIME_LIMIT_MS,
    driverOptions: { application_name: name },
  });
  const admin = await postgresServer.connect(postgresServer.address());
  return {
    store,
    async endConnections() {
      const query = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}'`;
      return (await admin.query(query)).length;
    },
    close: () => admin.close(),
  };
}

async function markedMariaDb(): Promise<MarkedStore> {
  const store = await sharedDatabase(mariaDbServer, { timeLimitMs: TIME_LIMIT_MS });
  const database = new URL((store.description as { url: string }).url).pathname.slice(1);
  const admin = await mariaDbServer.connect(mariaDbServer.address());
  return {
    store,
    async endConnections() {
      const query = `SELECT id FROM information_schema.processlist WHERE db = '${database}'`;
      const threads = await admin.query(query);
      // A connection may have been closed in the meantime.
      for (const { id } of threads) await admin.query(`KILL ${String(id)}`).catch(() => undefined);
      return threads.length;
    },
    close: () => admin.close(),
  };
}

async function markedRedis(): Promise<MarkedStore> {
  const connectionName = `test-${randomUUID()}`;
  const store = sharedRedis(redisUrl, { commandTimeoutMs: TIME_LIMIT_MS, connection: { connectionName } });
  const admin = new Redis(redisUrl);
  return {
    store,
    async endConnections() {
      const clients = String(await admin.client('LIST')).split('\n');
      const ids = clients
        .filter((line) => line.includes(`name=${connectionName}`))
        .map((line) => /id=(\d+)/.exec(line)?.[1]);
      for (const id of ids) await admin.call('CLIENT', 'KILL', 'ID', id ?? '');
      return ids.length;
    },
    close: async () => admin.disconnect(),
  };
}

describeChosen(
  'A process whose connections a $name server ends repeatedly',
  [
    { name: 'postgres' as const, open: markedPostgres },
    { name: 'mariadb' as const, open: markedMariaDb },
    { name: 'redis' as const, open: markedRedis },
  ],
  ({ open }) => {
    let marked: MarkedStore;
    let worker: WorkerProcess;

    beforeEach(async () => {
      marked = await open();
      worker = await WorkerProcess.start();
    });
    afterEach(async () => {
      await worker.kill();
      await marked.close();
      await marked.store.destroy();
    });

    it(`keeps running and has stored every acknowledged event once after ${ROUNDS} rounds`, async () => {
      const { store } = marked;
      await inStore(store, (sessions) => sessions.createSession({ ...USER, sessionId: SESSION.id }));
      await worker.run('open', { store: store.description });
      const ended = new AbortController();
      let appended = 0;
      const onProgress = (progress: number): void => void (appended = progress);
      const writing = worker
        .run('appendWithRetry', { session: SESSION, writer: 'w' }, { onProgress })
        .finally(() => ended.abort());
      for (let round = 0; round < ROUNDS && !ended.signal.aborted;) {
        if ((await marked.endConnections()) > 0) round += 1;
        // Half of the rounds end connections during their handshake. Before the others, the process appends.
        const before = appended;
        if (round % 2 === 0) await until(() => appended > before || ended.signal.aborted);
      }
      await inStore(store, (sessions) => sessions.updateAppState({ ...USER, stateDelta: { stop: true } }));
      const acknowledged = await writing;
      await worker.run('close', undefined);
      const log = await inStore(store, (sessions) => wholeLog(sessions, SESSION));
      expect(log.map(({ id }) => id)).toEqual(Array.from({ length: acknowledged }, (_, index) => `w-${index + 1}`));
    });
  },
);
