import { Client } from 'pg';
import { SessionService, readsOf } from '../../src/index.js';
import { Replica } from '../../src/sessions/reads/replica.js';
import type { SessionReads } from '../../src/sessions/session-reads.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { describeContract } from '../../src/testing/contract-runner.js';
import type { OpenSessions, SessionClient, SessionSettings } from '../../src/testing/open-sessions.js';
import { events } from '../../src/testing/service-contract/events.js';
import { explaining } from '../../src/testing/service-contract/explaining.js';
import { filteredLists } from '../../src/testing/service-contract/filtered-lists.js';
import { lists } from '../../src/testing/service-contract/lists.js';
import { modelRequests } from '../../src/testing/service-contract/model-requests.js';
import { stateChanges } from '../../src/testing/service-contract/state-changes.js';
import { stateAtMoments } from '../../src/testing/service-contract/state-history.js';
import { type ServiceFixture, USER } from '../../src/testing/service-contract/support.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { REPLICATIONS, type Replication } from '../support/replications.js';
import { openExistingDatabase } from '../../src/sessions/storage/typeorm/connect/open-database.js';
import { EMPTY_TABLES, readRawTables } from '../support/sql-raw-data.js';
import { chosenStoreNames } from '../support/store-names.js';
import { methodOf } from '../transports/operations.js';
import { ROWS, ROW_NAMES } from '../transports/rows.js';
import { until } from '../support/until.js';

/** Those whose row takes `minSeq`, and lists. */
const READS = [
  'listSessions',
  ...ROW_NAMES.filter((name) => 'minSeq' in (ROWS[name].request ?? {})).map(methodOf),
] as readonly (keyof SessionReads & keyof SessionClient)[];

const [postgres] = REPLICATIONS;
if (postgres && chosenStoreNames().includes('postgres'))
  describe('Through a replica', () => describeReads(postgres.start));
else it('A replica is not selected by STORES', () => expect(chosenStoreNames()).not.toContain('postgres'));

function describeReads(start: () => Promise<Replication>): void {
  let replication: Replication;
  let connection: Client;
  let reads = 0;

  beforeAll(async () => {
    replication = await start();
    connection = new Client({ connectionString: replication.url });
    connection.on('error', () => undefined);
    await connection.connect();
  });

  afterAll(async () => {
    await connection.end();
    await replication.stop();
    expect(reads).toBeGreaterThan(100);
    expect(replication.trips().replica).toBeGreaterThan(reads);
  });

  /** Each read waits until the replica has what was written before. */
  async function open(settings: SessionSettings, clock: ManualClock): Promise<OpenSessions> {
    const storage = new TypeOrmSessionStorage({ url: replication.url, clock });
    await storage.open();
    await connection.query(EMPTY_TABLES);
    const copy = new TypeOrmSessionStorage({ url: replication.replicaUrl, clock }, openExistingDatabase);
    const time = new ManualClock();
    // At first it lacks the tables, and says so.
    const use = { maxLagMs: 1_000_000, warn: () => undefined, now: () => time.now() };
    const replica = new Replica(storage.entries, copy, use);
    Object.defineProperty(storage, 'replica', { value: replica });
    const ignored = { onUnsavedState: () => undefined, onMisspelledField: () => undefined };
    const sessions = new SessionService({
      ...settings,
      ...ignored,
      storage,
      clock,
      onBackgroundError: () => undefined,
    });
    const followed = async (): Promise<void> => {
      time.advance(1);
      replica.wrote(USER);
      await until(async () => {
        time.advance(1);
        await replica.look();
        return replica.isUsable(USER);
      });
    };
    const client = new Proxy(sessions, {
      get(target, name) {
        const read = READS.find((each) => each === name);
        const method: unknown = Reflect.get(target, name, target);
        if (!read) return typeof method === 'function' ? (method.bind(target) as unknown) : method;
        return async (request: never) => {
          await followed();
          reads++;
          return readsOf(target)[read](request);
        };
      },
    });
    return {
      sessions: client,
      raw: () => readRawTables(async (table) => (await connection.query(`SELECT * FROM ${table}`)).rows as never),
      async destroy() {
        await sessions.close();
        await replica.close();
      },
    };
  }

  describeContract<ServiceFixture>({
    name: 'reads that may be a little old keep the contract of sessions',
    topics: [lists, filteredLists, events, explaining, stateAtMoments, stateChanges, modelRequests],
    async open() {
      const clock = new ManualClock();
      const opened: OpenSessions[] = [];
      return {
        fixture: {
          clock,
          async open(settings = {}) {
            const sessions = await open(settings, clock);
            opened.push(sessions);
            return sessions;
          },
        },
        async close() {
          for (const sessions of opened) await sessions.destroy();
        },
      };
    },
  });
}
