import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { RedisSessionStorage } from '../../src/redis.js';
import { encryptedStorage } from '../../src/sessions/encryption/encrypted-storage.js';
import type { SessionStorage } from '../../src/storage.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { startMariaDb } from '../servers/private-mariadb.js';
import { startPostgres } from '../servers/private-postgres.js';
import { startRedis } from '../servers/private-redis.js';
import { requiredBinary } from '../support/processes/killable-stores.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { newStoreFolder } from '../support/store-folder.js';
import type { StoreName } from '../support/store-names.js';
import { CANARY_KEY, writeEverywhere } from './canary-writes.js';
import { KEY_A } from './support.js';

/** A store whose files are here, and what ends it. */
interface StoreWithFiles {
  readonly folder: string;
  readonly storage: SessionStorage;
  /** Files that have to have the plain text of a control: the data, and what else a server writes of it. */
  readonly files: readonly RegExp[];
  flush?(): Promise<void>;
  end(): Promise<void>;
}

interface KindOfFiles {
  readonly name: StoreName;
  start(): Promise<StoreWithFiles>;
}

const kinds: readonly KindOfFiles[] = [
  {
    name: 'sqlite',
    async start() {
      const folder = newStoreFolder();
      const storage = new TypeOrmSessionStorage({ database: join(folder, 'sessions.db') });
      await storage.open();
      const end = async (): Promise<void> => {
        await storage.close();
        rmSync(folder, { recursive: true });
      };
      return { folder, storage, files: [/-wal$/], end };
    },
  },
  {
    name: 'redis',
    async start() {
      const server = await startRedis(requiredBinary('redis-server'), { durable: true });
      const storage = new RedisSessionStorage({ url: server.address });
      await storage.open();
      const admin = new Redis(server.address);
      const end = async (): Promise<void> => {
        await storage.close();
        admin.disconnect();
        await server.stop();
      };
      const flush = async (): Promise<void> => void (await admin.call('SAVE'));
      return { folder: server.folder, storage, files: [/\.aof$/, /\.rdb$/], flush, end };
    },
  },
  {
    name: 'mariadb',
    async start() {
      const binaries = { command: requiredBinary('mariadbd'), installer: requiredBinary('mariadb-install-db') };
      const args = [
        '--log-bin=binlog',
        '--binlog-format=ROW',
        '--server-id=1',
        '--general-log=1',
        '--general-log-file=general.log',
      ];
      const server = await startMariaDb(binaries, { durable: true, args });
      const admin = new TypeOrmSessionStorage({ url: `${server.address}/mysql` });
      await admin.open();
      const end = async (): Promise<void> => {
        await admin.close();
        await server.stop();
      };
      return { folder: server.folder, storage: admin, files: [/binlog\.\d+$/, /general\.log$/, /ib_logfile0$/], end };
    },
  },
  {
    name: 'postgres',
    async start() {
      const binaries = { command: requiredBinary('postgres'), initdb: requiredBinary('initdb') };
      const settings = ['logging_collector=on', 'log_directory=log', 'log_statement=all'];
      const server = await startPostgres(binaries, { durable: true, settings });
      const storage = new TypeOrmSessionStorage({ url: server.address });
      await storage.open();
      const end = async (): Promise<void> => {
        await storage.close();
        await server.stop();
      };
      return { folder: server.folder, storage, files: [/pg_wal\/[0-9A-F]{24}$/, /log\/.+\.log$/], end };
    },
  },
];

const CANARY = 'canary4711';
const CONTROL = 'control4711';

describeChosen('The files of a $name store', kinds, ({ start }) => {
  let store: StoreWithFiles;

  beforeAll(async () => {
    store = await start();
  });

  afterAll(() => store.end());

  it('have nothing of what was encrypted: data, write-ahead log, binary log, and logs of statements', async () => {
    await writeEverywhere(encryptedStorage(store.storage, { keys: KEY_A }), CANARY);
    await store.storage.writeState({
      owner: { appName: 'plain' },
      upserts: [{ scope: 'app', name: 'control', value: JSON.stringify(CONTROL) }],
      removals: [],
      lifetime: { ttlMs: 3_600_000, renewBelowMs: 0 },
    });
    await store.flush?.();
    const controls = filesWith(store.folder, CONTROL);
    for (const expected of store.files) expect(controls).toContainEqual(expect.stringMatching(expected));
    expect(filesWith(store.folder, CANARY_KEY.sessionId)).not.toEqual([]);
    expect(filesWith(store.folder, CANARY)).toEqual([]);
  });
});

/** The files below a folder that hold a text. */
function filesWith(folder: string, text: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file).includes(text));
}
