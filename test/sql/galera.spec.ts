import { type SessionReference, SessionService, StoreUnavailableError } from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { type GaleraCluster, startGaleraCluster } from '../servers/galera-cluster.js';
import { newSharedDatabase } from '../support/processes/shared-databases.js';
import { expectHealthy, wholeLog } from '../support/processes/session-checks.js';
import type { SharedStore } from '../support/processes/shared-stores.js';
import type { SqlServerDescription } from '../support/processes/store-description.js';
import { rounds } from '../support/rounds.js';
import { mariaDbServer } from '../support/sql-servers.js';
import { chosenStoreNames } from '../support/store-names.js';
import { retryUntilSuccess, until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const SESSIONS = ['s-0', 's-1', 's-2'].map((id) => ({ appName: 'shop', userId: `of ${id}`, id }));
/** How often calls through different nodes follow each other. */
const STEPS = 30;
const TIME_LIMIT_MS = 20_000;
/** The majority counts as lost after so long. */
const QUICK_LOSS = 'evs.suspect_timeout=PT1S;evs.inactive_timeout=PT2S';

type Three<Value> = readonly [Value, Value, Value];

if (chosenStoreNames().includes('mariadb')) describe('A Galera cluster of three nodes', describeCluster);
else it('A Galera cluster is not selected by STORES', () => expect(chosenStoreNames()).not.toContain('mariadb'));

function describeCluster(): void {
  let cluster: GaleraCluster;
  let store: SharedStore;
  const opened: SessionService[] = [];

  beforeAll(async () => {
    cluster = await startGaleraCluster();
  });

  afterAll(() => cluster?.stop());

  beforeEach(async () => {
    const [{ address }] = cluster.nodes;
    store = await newSharedDatabase(mariaDbServer, { address, timeLimitMs: TIME_LIMIT_MS });
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((sessions) => sessions.close()));
  });

  /** The store at each node. */
  function descriptions(): Three<SqlServerDescription> {
    const description = store.description as SqlServerDescription;
    const at = (address: string): SqlServerDescription => {
      const url = new URL(description.url);
      url.host = new URL(address).host;
      return { ...description, url: url.href };
    };
    const [first, second, third] = cluster.nodes;
    return [at(first.address), at(second.address), at(third.address)];
  }

  function serviceAt({ url, timeLimitMs }: SqlServerDescription): SessionService {
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ url, timeLimitMs }) });
    opened.push(sessions);
    return sessions;
  }

  function services(): Three<SessionService> {
    const [first, second, third] = descriptions();
    return [serviceAt(first), serviceAt(second), serviceAt(third)];
  }

  async function query(text: string): Promise<readonly Record<string, unknown>[]> {
    const connection = await mariaDbServer.connect((store.description as SqlServerDescription).url);
    try {
      return await connection.query(text);
    } finally {
      await connection.close();
    }
  }

  it.each(Array.from({ length: rounds(8) }, (_, round) => round + 1))(
    'lets instances at all nodes open an empty database at the same moment (%i)',
    async () => {
      const created = services().map((sessions, index) => sessions.createSession({ ...KEY, sessionId: `s-${index}` }));
      expect((await Promise.all(created)).map(({ id }) => id)).toEqual(['s-0', 's-1', 's-2']);
      const migrations = await query('SELECT name FROM agent_session_migrations');
      expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
      await expectHealthy(store);
    },
  );

  it('shows at each node what another one has acknowledged', async () => {
    const [first, second, third] = services();
    for (let step = 0; step < STEPS; step++) {
      const sessionId = `s-${step}`;
      await first.createSession({ ...KEY, sessionId });
      const session = { ...SESSION, id: sessionId };
      await second.append({ session, event: { author: 'user', actions: { stateDelta: { 'user:step': step } } } });
      expect(await third.getSession({ ...KEY, sessionId })).toMatchObject({ version: 1 });
      expect(await first.getUserState(KEY)).toEqual({ step });
    }
  });

  it('keeps what writers at all nodes wrote, whole and once', async () => {
    const nodes = services();
    for (const { id: sessionId, ...user } of SESSIONS) await nodes[0].createSession({ ...user, sessionId });
    const writing = nodes.flatMap((sessions, index) =>
      ['a', 'b'].map((half) => writeToAll(sessions, `w${index}${half}`, rounds(560))),
    );
    const acknowledged = (await Promise.all(writing)).flat();
    for (const session of SESSIONS) {
      const stored = (await wholeLog(nodes[0], session)).map(({ id, seq }) => ({ id, seq }));
      expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
      const own = acknowledged.filter((event) => event.session === session).map(({ id, seq }) => ({ id, seq }));
      expect(stored).toEqual(own.toSorted((one, other) => one.seq - other.seq));
    }
    await store.checkIntegrity();
    await expectHealthy(store);
  });

  // The last test, because it destroys the cluster.
  it('says that a node lost the majority, and works again when that has one', async () => {
    const [description] = descriptions();
    const sessions = serviceAt(description);
    await sessions.createSession(KEY);
    const [survivor, ...others] = cluster.nodes;
    expect(survivor.address).toContain(new URL(description.url).host);
    await query(`SET GLOBAL wsrep_provider_options='${QUICK_LOSS}'`);
    const acknowledged: string[] = [];
    const inDoubt: string[] = [];
    let number = 0;
    const append = async (): Promise<unknown> => {
      const id = `event-${(number += 1)}`;
      try {
        await sessions.append({ session: SESSION, event: { id, author: 'user' } });
        acknowledged.push(id);
        return undefined;
      } catch (error) {
        if (!isKnownAsUnwritten(error)) inDoubt.push(id);
        return error;
      }
    };
    await append();
    await Promise.all(others.map((node) => node.kill()));

    let error: unknown;
    await until(async () => String((error = await append())).includes('lost the majority'));
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ outcomeUnknown: false });
    const opening: unknown = await serviceAt(description)
      .getSession(KEY)
      .catch((thrown: unknown) => thrown);
    expect(opening).toBeInstanceOf(StoreUnavailableError);
    expect(String(opening)).toContain('is a Galera node that lost the majority of its cluster');

    await query("SET GLOBAL wsrep_provider_options='pc.bootstrap=1'");
    await until(async () => (await append()) === undefined);
    const ids = (await wholeLog(sessions, SESSION)).map(({ id }) => id);
    expect(ids.filter((id) => !inDoubt.includes(id))).toEqual(acknowledged);
  });
}

interface Acknowledged {
  readonly session: SessionReference;
  readonly id: string;
  readonly seq: number;
}

/** Appends events to the sessions in turn, each with state, and again until it is acknowledged. */
async function writeToAll(sessions: SessionService, name: string, count: number): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  for (let number = 1; number <= count; number++) {
    const id = `${name}-${number}`;
    const stateDelta = { [id]: number, [`user:${name}`]: number, ...(number % 5 === 0 && { [`app:${name}`]: number }) };
    for (const session of SESSIONS.filter((_, index) => (name.length + number + index) % SESSIONS.length === 0)) {
      const { event } = await retryUntilSuccess(() =>
        sessions.append({ session, event: { id, author: 'user', actions: { stateDelta } } }),
      );
      acknowledged.push({ session, id, seq: event.seq });
    }
  }
  return acknowledged;
}

function isKnownAsUnwritten(error: unknown): boolean {
  return error instanceof StoreUnavailableError && !error.outcomeUnknown;
}
