import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';
import { adkSessions, type ForeignDatabase, importRecords, trpcAgentSessions } from '../../src/transfer/index.js';
import { sqliteOf } from './sqlite-of.js';

const TABLES = `
  CREATE TABLE sessions (app_name VARCHAR(128), user_id VARCHAR(128), id VARCHAR(128), state TEXT, create_time DATETIME,
    update_time DATETIME, PRIMARY KEY (app_name, user_id, id));
  CREATE TABLE app_states (app_name VARCHAR(128) PRIMARY KEY, state TEXT, update_time DATETIME);
  CREATE TABLE user_states (app_name VARCHAR(128), user_id VARCHAR(128), state TEXT, update_time DATETIME,
    PRIMARY KEY (app_name, user_id));
  INSERT INTO app_states VALUES ('shop', '{"currency":"EUR"}', '2026-11-01 10:00:00.000000');
  INSERT INTO user_states VALUES ('shop', 'ann', '{"theme":"dark"}', '2026-11-01 10:00:00.000000');`;

const EVENTS_OF_JSON = `
  CREATE TABLE events (id VARCHAR(128), app_name VARCHAR(128), user_id VARCHAR(128), session_id VARCHAR(128),
    invocation_id VARCHAR(256), timestamp DATETIME, event_data TEXT, PRIMARY KEY (id, app_name, user_id, session_id));`;

/** A table with a column for each field, and actions that Python has pickled. The systems have some fields of their own. */
const eventsOfColumns = (own: string): string => `
  CREATE TABLE events (id VARCHAR(128), app_name VARCHAR(128), user_id VARCHAR(128), session_id VARCHAR(128),
    invocation_id VARCHAR(256), author VARCHAR(256), actions BLOB, long_running_tool_ids_json TEXT, branch VARCHAR(256),
    timestamp DATETIME, content TEXT, grounding_metadata TEXT, custom_metadata TEXT, usage_metadata TEXT, partial BOOLEAN,
    turn_complete BOOLEAN, error_code VARCHAR(256), error_message VARCHAR(1024), interrupted BOOLEAN, ${own},
    PRIMARY KEY (id, app_name, user_id, session_id));`;
const OF_ADK = 'citation_metadata TEXT, input_transcription TEXT, output_transcription TEXT';
const OF_TRPC_AGENT = `request_id VARCHAR(256), parent_invocation_id VARCHAR(256), tag VARCHAR(256), filter_key VARCHAR(256),
  requires_completion BOOLEAN DEFAULT 0, version INTEGER DEFAULT 0, visible BOOLEAN DEFAULT 1, object VARCHAR(256) NOT NULL DEFAULT '',
  model_flags INTEGER DEFAULT 1, response_id VARCHAR(256)`;

const PICKLE = `X'80049541000000'`;
const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

const insertion = (id: string, invocation: string, seconds: number, data: object): string =>
  `INSERT INTO events VALUES ('${id}', 'shop', 'ann', 's-1', '${invocation}', '2026-11-01 10:00:${String(seconds).padStart(2, '0')}',
    '${JSON.stringify({ invocation_id: invocation, timestamp: Date.UTC(2026, 10, 1, 10, 0, seconds, 250) / 1_000, id, ...data })}');`;

describe('sessions of other systems with tables of ADK', () => {
  const storage = new InMemorySessionStorage();
  const sessions = new SessionService({ storage });
  let database: ForeignDatabase & { close(): void };

  afterEach(async () => {
    database.close();
    await sessions.eraseUser({ appName: 'shop', userId: 'ann' });
  });

  async function events(sessionId = 's-1'): Promise<EventInput[]> {
    return (await sessions.listEvents({ ...KEY, sessionId })).events.map(({ seq: _seq, ...event }) => event);
  }

  it('ADK for Python, schema 1: events, state, rewinds; a repeated import changes nothing', async () => {
    const call = { function_call: { id: 'c-1', name: 'look_up', args: { order_id: 7 } } };
    const delta = {
      state_delta: { step: 1, 'user:theme': 'dark', my_key: { inner_key: null } },
      artifact_delta: { 'a_b.txt': 1 },
    };
    database = sqliteOf(`${TABLES}${EVENTS_OF_JSON}
      INSERT INTO sessions VALUES ('shop', 'ann', 's-1', '{"initial":true,"my_key":{"inner_key":null}}', '2026-11-01 09:59:59.500000', '2026-11-01 10:00:09');
      INSERT INTO sessions VALUES ('shop', 'ann', 's-2', '{}', '2026-11-01 09:00:00', '2026-11-01 09:00:00');
      ${insertion('e-1', 'i-1', 1, { author: 'user', content: { role: 'user', parts: [{ text: 'hello' }] } })}
      ${insertion('z', 'i-1', 2, { author: 'root', content: { role: 'model', parts: [call] }, actions: delta, long_running_tool_ids: ['c-1'] })}
      ${insertion('a', 'i-2', 2, { author: 'root', partial: true, content: { role: 'model', parts: [{ text: 'ha' }] } })}
      ${insertion('b', 'i-2', 3, { author: 'root', usage_metadata: { total_token_count: 9 }, actions: { state_delta: { step: 2 } } })}
      ${insertion('r', 'i-3', 4, { author: 'user', actions: { rewind_before_invocation_id: 'i-2', state_delta: { step: 1 } } })}
      ${insertion('c', 'i-4', 5, { author: 'root', actions: { compaction: { start_timestamp: 1, end_timestamp: 2 }, state_delta: { step: null } } })}`);
    expect(await importRecords(storage, adkSessions(database))).toMatchObject({
      sessions: { created: 2 },
      events: 6,
      states: 2,
    });
    const stored = await events();
    expect(stored.map(({ id, timestamp }) => [id, timestamp])).toEqual([
      ['e-1', Date.UTC(2026, 10, 1, 10, 0, 1, 250)],
      ['z', Date.UTC(2026, 10, 1, 10, 0, 2, 250)],
      ['b', Date.UTC(2026, 10, 1, 10, 0, 3, 250)],
      ['r', Date.UTC(2026, 10, 1, 10, 0, 4, 250)],
      ['c', Date.UTC(2026, 10, 1, 10, 0, 5, 250)],
      ['import:state', Date.UTC(2026, 10, 1, 9, 59, 59, 500)],
    ]);
    expect(stored[1]).toMatchObject({
      invocationId: 'i-1',
      content: { parts: [{ functionCall: { id: 'c-1', name: 'look_up', args: { order_id: 7 } } }] },
      actions: { stateDelta: { my_key: { inner_key: null } }, artifactDelta: { 'a_b.txt': 1 } },
      longRunningToolIds: ['c-1'],
    });
    const session = await sessions.getSession(KEY);
    // What ADK shows: rewound events are gone, and the state is that of its table.
    expect(session?.events.map(({ id }) => id)).toEqual(['e-1', 'z', 'c', 'import:state']);
    expect(session?.state.toRecord()).toEqual({
      initial: true,
      my_key: { inner_key: null },
      'user:theme': 'dark',
      'app:currency': 'EUR',
    });
    expect(session).toMatchObject({
      createTime: Date.UTC(2026, 10, 1, 9, 59, 59, 500),
      lastUpdateTime: Date.UTC(2026, 10, 1, 10, 0, 9),
    });
    expect((await sessions.getUsage(KEY)).total.totalTokens).toBe(9);
    expect((await sessions.stateAt({ ...KEY, seq: 2 })).state).toMatchObject({ initial: true, step: 1 });
    expect(await importRecords(storage, adkSessions(database))).toMatchObject({
      sessions: { created: 0, unchanged: 2 },
      events: 0,
    });
  });

  it('ADK for TypeScript: times are numbers, and states fit the events', async () => {
    const data = {
      id: 'e-1',
      author: 'user',
      timestamp: 1_763_700_000_123,
      actions: { state_delta: { k: 1 } },
      long_running_tool_ids: [],
    };
    database = sqliteOf(`${TABLES}${EVENTS_OF_JSON}
      CREATE TABLE adk_internal_metadata ("key" TEXT PRIMARY KEY, value TEXT);
      INSERT INTO adk_internal_metadata VALUES ('schema_version', '1');
      INSERT INTO sessions VALUES ('shop', 'ann', 's-1', '{"k":1,"initial":2}', 1763699999000, 1763700000123);
      INSERT INTO events VALUES ('e-1', 'shop', 'ann', 's-1', 'i-1', 1763700000123, '${JSON.stringify(data)}');`);
    await importRecords(storage, adkSessions(database));
    expect(await events()).toMatchObject([
      { id: 'e-1', invocationId: 'i-1', timestamp: 1_763_700_000_123, longRunningToolIds: [] },
    ]);
    const session = await sessions.getSession(KEY);
    expect(session).toMatchObject({ createTime: 1_763_699_999_000, lastUpdateTime: 1_763_700_000_123 });
    expect((await sessions.stateAt({ ...KEY, seq: 0 })).state).toEqual({ initial: 2 });
  });

  const COLUMNS = `id, app_name, user_id, session_id, invocation_id, author, actions, long_running_tool_ids_json, branch, timestamp,
    content, grounding_metadata, custom_metadata, usage_metadata, partial, turn_complete, interrupted`;
  const pickled = `
    INSERT INTO events (${COLUMNS}) VALUES ('e-1', 'shop', 'ann', 's-1', 'i-1', 'user', ${PICKLE}, NULL, NULL,
      '2026-11-01 10:00:01.000001', '{"role":"user","parts":[{"text":"hi"}]}', NULL, NULL, NULL, NULL, NULL, NULL);
    INSERT INTO events (${COLUMNS}) VALUES ('e-2', 'shop', 'ann', 's-1', 'i-1', 'root', ${PICKLE}, '["c-1"]', 'root.sub',
      '2026-11-01 10:00:02', '{"role":"model","parts":[{"function_call":{"id":"c-1","name":"wait","args":{"for_it":1}}}]}',
      '{"web_search_queries":["x"]}', '{"a_b":1}', '{"total_token_count":5}', 0, 1, 0);`;
  const readable = [
    { id: 'e-1', author: 'user', content: { role: 'user', parts: [{ text: 'hi' }] }, actions: { stateDelta: {} } },
    {
      id: 'e-2',
      author: 'root',
      branch: 'root.sub',
      turnComplete: true,
      interrupted: false,
      longRunningToolIds: ['c-1'],
      groundingMetadata: { webSearchQueries: ['x'] },
      customMetadata: { a_b: 1 },
      usageMetadata: { totalTokenCount: 5 },
      content: { parts: [{ functionCall: { args: { for_it: 1 } } }] },
    },
  ];

  it('ADK for Python, schema 0: all but the pickled actions', async () => {
    database = sqliteOf(`${TABLES}${eventsOfColumns(OF_ADK)}
      INSERT INTO sessions VALUES ('shop', 'ann', 's-1', '{"step":2}', '2026-11-01 10:00:00', '2026-11-01 10:00:02');${pickled}`);
    await importRecords(storage, adkSessions(database));
    expect(await events()).toMatchObject(readable);
    expect((await events())[0]?.actions).toEqual({ stateDelta: {} });
    expect((await sessions.getSession(KEY))?.state.toRecord()).toMatchObject({ step: 2, 'user:theme': 'dark' });
    // The state is there from the beginning, since no event says when it changed.
    expect((await sessions.stateAt({ ...KEY, seq: 0 })).state).toEqual({ step: 2 });
  });

  it('tRPC-Agent in SQL: historical events first, then the active ones', async () => {
    const history = [
      {
        id: 'h-1',
        author: 'user',
        invocation_id: 'i-0',
        timestamp: 1_793_527_100.5,
        content: { role: 'user', parts: [{ text: 'old' }] },
        actions: { state_delta: {}, artifact_delta: {} },
        requires_completion: false,
        version: 0,
        visible: true,
        model_flags: 1,
      },
    ];
    database = sqliteOf(`${TABLES}${eventsOfColumns(OF_TRPC_AGENT)}
      ALTER TABLE sessions ADD COLUMN conversation_count INTEGER;
      ALTER TABLE sessions ADD COLUMN historical_events TEXT;
      INSERT INTO sessions VALUES ('shop', 'ann', 's-1', '{"step":2}', '2026-11-01 09:00:00', '2026-11-01 10:00:02', 2, '${JSON.stringify(history)}');${pickled}`);
    await importRecords(storage, trpcAgentSessions(database));
    const stored = await events();
    expect(stored).toMatchObject([{ id: 'h-1', invocationId: 'i-0', timestamp: 1_793_527_100_500 }, ...readable]);
    expect(stored[1]).toMatchObject({ visible: true, requiresCompletion: false, modelFlags: 1 });
    expect(await sessions.getSession(KEY)).toMatchObject({ conversationCount: 2 });
    expect(await sessions.getAppState({ appName: 'shop' })).toEqual({ currency: 'EUR' });
  });

  it('refuses a database of something else', async () => {
    database = sqliteOf('CREATE TABLE sessions (id TEXT)');
    await expect(importRecords(storage, adkSessions(database))).rejects.toMatchObject({
      code: 'TRANSFER_FILE_INVALID',
    });
    await expect(importRecords(storage, trpcAgentSessions(database))).rejects.toMatchObject({
      code: 'TRANSFER_FILE_INVALID',
    });
  });
});
