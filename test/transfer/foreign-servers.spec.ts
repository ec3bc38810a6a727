import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { adkSessions, importRecords, langGraphThreads, trpcAgentSessions } from '../../src/transfer/index.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { type OpenDatabase, mariaDb, postgres } from './foreign-servers.js';

/** Types of columns that other systems choose. */
const SERVERS = [
  {
    ...mariaDb,
    json: 'LONGTEXT',
    time: 'DATETIME(6)',
    bytes: 'LONGBLOB',
  },
  { ...postgres, json: 'JSONB', time: 'TIMESTAMP', bytes: 'BYTEA' },
];

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const OWNER = [KEY.appName, KEY.userId, KEY.sessionId];
const START = Date.UTC(2026, 10, 1, 10);
const LONG = 1_203;
const at = (second: number): string =>
  new Date(START + second * 1_000 + 250).toISOString().replace('T', ' ').slice(0, 23);
const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ');

/** A message as LangChain writes it. */
const message = (kind: string, id: string, content: string) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', kind],
  kwargs: { id, content, additional_kwargs: {}, response_metadata: {} },
});

async function inTurn<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  for (const item of items) await work(item);
}

describeChosen('databases of other systems on $name', SERVERS, ({ open, json, time, bytes, name }) => {
  let opened: OpenDatabase;
  let storage: InMemorySessionStorage;
  let sessions: SessionService;
  let zone: string | undefined;

  beforeEach(async () => {
    // Drivers take times without a zone for local ones; the page on moving says how to import.
    zone = process.env.TZ;
    process.env.TZ = 'UTC';
    storage = new InMemorySessionStorage();
    sessions = new SessionService({ storage });
    opened = await open();
  });
  afterEach(async () => {
    await opened.destroy();
    await storage.close();
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });

  async function tablesOfAdk(stateTime = time, more = ''): Promise<void> {
    const ids = 'app_name VARCHAR(128), user_id VARCHAR(128)';
    await opened.run(
      `CREATE TABLE sessions (${ids}, id VARCHAR(128), state ${json}, create_time ${stateTime}, update_time ${stateTime}${more}, PRIMARY KEY (app_name, user_id, id))`,
    );
    await opened.run(
      `CREATE TABLE app_states (app_name VARCHAR(128) PRIMARY KEY, state ${json}, update_time ${stateTime})`,
    );
    await opened.run(
      `CREATE TABLE user_states (${ids}, state ${json}, update_time ${stateTime}, PRIMARY KEY (app_name, user_id))`,
    );
  }

  const states = async (moment: unknown): Promise<void> => {
    await opened.run('INSERT INTO app_states VALUES (?, ?, ?)', 'shop', '{"currency":"€"}', moment);
    await opened.run('INSERT INTO user_states VALUES (?, ?, ?, ?)', 'shop', 'ann', '{"theme":"dark"}', moment);
  };

  async function expectRepeatable(read: () => ReturnType<typeof adkSessions>): Promise<void> {
    expect(await importRecords(storage, read())).toMatchObject({
      sessions: { created: 0, unchanged: 1 },
      events: 0,
      bad: 0,
    });
  }

  it("Google's ADK for Python: events of JSON, a long log in pages, rewinds", async () => {
    await tablesOfAdk();
    await opened.run(
      `CREATE TABLE events (id VARCHAR(128), app_name VARCHAR(128), user_id VARCHAR(128), session_id VARCHAR(128),
        invocation_id VARCHAR(256), timestamp ${time}, event_data ${json}, PRIMARY KEY (id, app_name, user_id, session_id))`,
    );
    await opened.run(`INSERT INTO sessions VALUES (${marks(6)})`, ...OWNER, '{"step":2,"initial":[1]}', at(0), at(9));
    await states(at(0));
    const events = Array.from({ length: LONG }, (_, n) => ({
      author: n % 2 ? 'root' : 'user',
      content: { role: n % 2 ? 'model' : 'user', parts: [{ text: `Grüße ${n}` }] },
      ...(n === 1 && { actions: { state_delta: { step: 1, my_key: { inner_key: null } }, artifact_delta: {} } }),
      ...(n === 3 && { actions: { state_delta: { step: 2 }, rewind_before_invocation_id: 'i-2' } }),
    }));
    const rows = events.map((event, n) => {
      const timestamp = (START + 1_000 + n) / 1_000;
      return [
        `e-${n}`,
        ...OWNER,
        `i-${n}`,
        new Date(START + 1_000 + n).toISOString().replace('T', ' ').slice(0, 23),
        JSON.stringify({ ...event, timestamp }),
      ];
    });
    await inTurn(
      [...rows.keys()].filter((n) => n % 100 === 0),
      (from) => {
        const some = rows.slice(from, from + 100);
        return opened.run(`INSERT INTO events VALUES ${some.map(() => `(${marks(7)})`).join(', ')}`, ...some.flat());
      },
    );
    const read = () => adkSessions(opened.database);
    expect(await importRecords(storage, read())).toMatchObject({ sessions: { created: 1 }, states: 2, bad: 0 });
    const { events: stored } = await sessions.listEvents({ ...KEY, limit: 5 });
    expect(stored.map(({ id, timestamp, content }) => [id, timestamp, content?.parts?.[0]?.text])).toEqual(
      [0, 1, 2, 3, 4].map((n) => [`e-${n}`, START + 1_000 + n, `Grüße ${n}`]),
    );
    expect(stored[1]?.actions.stateDelta).toEqual({ step: 1, my_key: { inner_key: null } });
    expect(stored[3]?.actions.rewind).toEqual({ toSeq: 2 });
    const session = await sessions.getSession({ ...KEY, config: { numRecentEvents: 1 } });
    expect(session).toMatchObject({ createTime: START + 250, lastUpdateTime: START + 9_250 });
    expect(session?.state.toRecord()).toEqual({ step: 2, initial: [1], 'user:theme': 'dark', 'app:currency': '€' });
    expect((await storage.read({ key: KEY }))?.record.lastSeq).toBe(LONG + 1);
    await expectRepeatable(read);
  });

  it("Google's ADK for TypeScript: times are numbers", async () => {
    await tablesOfAdk('BIGINT');
    await opened.run(
      `CREATE TABLE events (id VARCHAR(128), app_name VARCHAR(128), user_id VARCHAR(128), session_id VARCHAR(128),
        invocation_id VARCHAR(256), timestamp BIGINT, event_data ${json}, PRIMARY KEY (id, app_name, user_id, session_id))`,
    );
    await opened.run(`INSERT INTO sessions VALUES (${marks(6)})`, ...OWNER, '{"k":1}', START, START + 9_000);
    await states(START);
    const data = { id: 'e-1', author: 'user', timestamp: START + 1, actions: { state_delta: { k: 1 } } };
    await opened.run(
      `INSERT INTO events VALUES (${marks(7)})`,
      'e-1',
      ...OWNER,
      'i-1',
      START + 1,
      JSON.stringify(data),
    );
    const read = () => adkSessions(opened.database);
    expect(await importRecords(storage, read())).toMatchObject({
      sessions: { created: 1 },
      events: 1,
      states: 2,
      bad: 0,
    });
    expect((await sessions.listEvents(KEY)).events).toMatchObject([
      { id: 'e-1', invocationId: 'i-1', timestamp: START + 1 },
    ]);
    expect(await sessions.getSession(KEY)).toMatchObject({ createTime: START, lastUpdateTime: START + 9_000 });
    await expectRepeatable(read);
  });

  it.each([
    ["Google's ADK for Python, its first schema", adkSessions, ''],
    ['tRPC-Agent for Python', trpcAgentSessions, `, conversation_count INTEGER, historical_events ${json}`],
  ])('%s: events of columns, and actions that Python has pickled', async (_title, from, more) => {
    await tablesOfAdk(time, more);
    await opened.run(
      `CREATE TABLE events (id VARCHAR(128), app_name VARCHAR(128), user_id VARCHAR(128), session_id VARCHAR(128), invocation_id VARCHAR(256),
        author VARCHAR(256), actions ${bytes}, timestamp ${time}, content ${json}, partial BOOLEAN, turn_complete BOOLEAN,
        error_code VARCHAR(256), PRIMARY KEY (id, app_name, user_id, session_id))`,
    );
    const history = JSON.stringify([
      {
        id: 'h-1',
        author: 'user',
        timestamp: (START - 1_000) / 1_000,
        content: { role: 'user', parts: [{ text: 'before' }] },
      },
    ]);
    const session = [...OWNER, '{"step":2}', at(0), at(9), ...(more === '' ? [] : [1, history])];
    await opened.run(`INSERT INTO sessions VALUES (${marks(session.length)})`, ...session);
    await states(at(0));
    const pickle = Buffer.from('80049541000000', 'hex');
    const content = JSON.stringify({ role: 'user', parts: [{ text: 'hallo' }] });
    await inTurn(
      [
        ['e-1', 'user', at(1), content, false],
        ['e-2', 'root', at(2), null, true],
        ['e-3', 'root', at(3), content, false],
      ],
      ([id, author, moment, said, partial]) =>
        opened.run(
          `INSERT INTO events VALUES (${marks(12)})`,
          id,
          ...OWNER,
          'i-1',
          author,
          pickle,
          moment,
          said,
          partial,
          true,
          null,
        ),
    );
    const read = () => from(opened.database);
    expect(await importRecords(storage, read())).toMatchObject({ sessions: { created: 1 }, states: 2, bad: 0 });
    const { events } = await sessions.listEvents(KEY);
    expect(events.map(({ id, timestamp }) => [id, timestamp])).toEqual([
      ...(more === '' ? [] : [['h-1', START - 1_000]]),
      ['e-1', START + 1_250],
      ['e-3', START + 3_250],
    ]);
    expect(events.at(-1)).toMatchObject({ turnComplete: true, content: { parts: [{ text: 'hallo' }] } });
    expect((await sessions.getSession(KEY))?.state.toRecord()).toMatchObject({ step: 2, 'user:theme': 'dark' });
    await expectRepeatable(read);
  });

  const onPostgres = name === 'postgres' ? it : undefined;
  onPostgres?.("LangGraph's saver for PostgreSQL: messages of the newest checkpoint", async () => {
    await opened.run(
      `CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT DEFAULT '', checkpoint_id TEXT, parent_checkpoint_id TEXT, type TEXT,
        checkpoint JSONB, metadata JSONB DEFAULT '{}', PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))`,
    );
    await opened.run(
      `CREATE TABLE checkpoint_blobs (thread_id TEXT, checkpoint_ns TEXT DEFAULT '', channel TEXT, version TEXT, type TEXT, blob BYTEA,
        PRIMARY KEY (thread_id, checkpoint_ns, channel, version))`,
    );
    const said = [message('HumanMessage', 'm-1', 'Hallo'), message('AIMessage', 'm-2', 'Grüß Gott')];
    for (const [version, second] of [
      ['1', 1],
      ['2', 2],
    ] as const) {
      const checkpoint = {
        v: 4,
        id: `c-${version}`,
        ts: new Date(START + second * 1_000).toISOString(),
        channel_versions: { messages: version },
      };
      await opened.run(
        'INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (?, ?, ?)',
        's-1',
        `c-${version}`,
        JSON.stringify(checkpoint),
      );
      const blob = Buffer.from(JSON.stringify(said.slice(0, second)));
      await opened.run(
        'INSERT INTO checkpoint_blobs (thread_id, channel, version, type, blob) VALUES (?, ?, ?, ?, ?)',
        's-1',
        'messages',
        version,
        'json',
        blob,
      );
    }
    const read = () => langGraphThreads(opened.database, { appName: 'shop', userId: 'ann' });
    expect(await importRecords(storage, read())).toMatchObject({ sessions: { created: 1 }, events: 2, bad: 0 });
    const { events } = await sessions.listEvents(KEY);
    expect(events.map(({ author, content }) => [author, content?.parts?.[0]?.text])).toEqual([
      ['user', 'Hallo'],
      [expect.any(String), 'Grüß Gott'],
    ]);
    expect(await sessions.getSession(KEY)).toMatchObject({
      createTime: START + 1_000,
      lastUpdateTime: START + 2_000,
    });
    await expectRepeatable(read);
  });
});
