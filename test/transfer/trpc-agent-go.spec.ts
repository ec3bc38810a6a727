import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { importRecords, trpcAgentGoSessions } from '../../src/transfer/index.js';
import { sqliteOf } from './sqlite-of.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const OWNER = 'app_name TEXT, user_id TEXT, session_id TEXT';
const TIMES = 'created_at INTEGER, updated_at INTEGER, expires_at INTEGER, deleted_at INTEGER';
const START = Date.UTC(2026, 10, 1, 10);

const hex = (value: unknown): string => `X'${Buffer.from(JSON.stringify(value)).toString('hex')}'`;
const bytes = (text: string): string => Buffer.from(text).toString('base64');
const nanos = (second: number): string => `${START + second * 1_000}000000`;
const zoned = (second: number): string =>
  new Date(START + second * 1_000).toISOString().replace('.000Z', '.000123456Z');

/** The tables that its store for SQLite makes; those for MySQL and PostgreSQL have the same columns. */
const tables = (prefix: string): string => `
  CREATE TABLE ${prefix}session_states (id INTEGER PRIMARY KEY AUTOINCREMENT, ${OWNER}, state BLOB, ${TIMES});
  CREATE TABLE ${prefix}session_events (id INTEGER PRIMARY KEY AUTOINCREMENT, ${OWNER}, event BLOB, ${TIMES});
  CREATE TABLE ${prefix}session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, ${OWNER}, filter_key TEXT, summary BLOB,
    updated_at INTEGER, expires_at INTEGER, deleted_at INTEGER);
  CREATE TABLE ${prefix}app_states (id INTEGER PRIMARY KEY AUTOINCREMENT, app_name TEXT, key TEXT, value BLOB, ${TIMES});
  CREATE TABLE ${prefix}user_states (id INTEGER PRIMARY KEY AUTOINCREMENT, app_name TEXT, user_id TEXT, key TEXT, value BLOB, ${TIMES});`;

const sessionRow = (prefix: string, state: object, created: number, deleted = 'NULL'): string =>
  `INSERT INTO ${prefix}session_states (app_name, user_id, session_id, state, created_at, updated_at, deleted_at) VALUES ('shop', 'ann', 's-1',
    ${hex({ id: 's-1', state, createdAt: zoned(created), updatedAt: zoned(9) })}, ${nanos(created)}, ${nanos(9)}, ${deleted});`;

const eventRow = (
  prefix: string,
  second: number,
  id: string,
  message: object,
  more: object = {},
  deleted = 'NULL',
): string =>
  `INSERT INTO ${prefix}session_events (app_name, user_id, session_id, event, created_at, deleted_at) VALUES ('shop', 'ann', 's-1', ${hex(
    {
      id,
      object: 'chat.completion',
      created: 1,
      model: '',
      choices: [{ index: 0, message, delta: { role: '' } }],
      timestamp: zoned(second),
      done: true,
      is_partial: false,
      invocationId: 'i-1',
      author: (message as { role: string }).role === 'user' ? 'user' : 'helper',
      filterKey: 'shop/helper',
      version: 1,
      response: { id: 'r', timestamp: zoned(second) },
      ...more,
    },
  )}, ${nanos(second)}, ${deleted});`;

const summaryRow = (prefix: string, filterKey: string, text: string, boundary: object): string =>
  `INSERT INTO ${prefix}session_summaries (app_name, user_id, session_id, filter_key, summary) VALUES ('shop', 'ann', 's-1', '${filterKey}',
    ${hex({ summary: text, updated_at: zoned(8), boundary })});`;

const look = { type: 'function', id: 'c-1', function: { name: 'look_up', arguments: bytes('{"order":7}') } };
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, prompt_tokens_details: { cached_tokens: 1 } };
const image = { type: 'image', image: { url: 'https://x/y.png' } };

/** A session of an earlier time with this id, and a live one. */
const filled = (prefix: string): string => `${tables(prefix)}
  ${sessionRow(prefix, { old: bytes('1') }, -60, nanos(-30))}
  ${eventRow(prefix, -50, 'old', { role: 'user', content: 'before' })}
  ${sessionRow(prefix, { step: bytes('2'), text: bytes('plain'), none: null, initial: bytes('{"a":[1]}') }, 0)}
  ${eventRow(prefix, 1, 'e-1', { role: 'user', content: 'Where is 7?' })}
  ${eventRow(prefix, 2, 'e-2', { role: 'assistant', content: 'Let me see', tool_calls: [look] }, { model: 'gpt', usage, stateDelta: { step: bytes('1') } })}
  ${eventRow(prefix, 2, 'gone', { role: 'assistant', content: 'deleted' }, {}, nanos(3))}
  ${eventRow(prefix, 3, 'e-3', { role: 'tool', tool_id: 'c-1', tool_name: 'look_up', content: 'on its way' })}
  ${eventRow(prefix, 4, 'e-4', { role: 'user', content_parts: [{ type: 'text', text: 'See' }, image] })}
  ${eventRow(prefix, 5, 'e-5', { role: 'assistant', content: '' }, { error: { message: 'too long', type: 'api_error' }, stateDelta: { step: bytes('2') }, longRunningToolIDs: { 'c-1': {} } })}
  ${summaryRow(prefix, 'shop/helper', 'of a branch', {})}
  ${summaryRow(prefix, '', 'They asked for 7', { version: 1, cutoff_at: zoned(3), last_event_id: 'e-3' })}
  INSERT INTO ${prefix}app_states (app_name, key, value) VALUES ('shop', 'currency', ${hex('EUR')});
  INSERT INTO ${prefix}user_states (app_name, user_id, key, value) VALUES ('shop', 'ann', 'theme', 'dark'), ('shop', 'ann', 'level', '3');
  INSERT INTO ${prefix}user_states (app_name, user_id, key, value, deleted_at) VALUES ('shop', 'ann', 'gone', '1', ${nanos(1)});
  INSERT INTO ${prefix}user_states (app_name, user_id, key, value, expires_at) VALUES ('shop', 'ann', 'expired', '1', 1000000000000000000);`;

describe('tRPC-Agent for Go', () => {
  it.each(['', 'my_'])(
    'keeps events, state and the summary of the session, with the prefix %j',
    async (tablePrefix) => {
      const database = sqliteOf(filled(tablePrefix));
      const storage = new InMemorySessionStorage();
      const sessions = new SessionService({ storage });
      const read = () => trpcAgentGoSessions(database, { tablePrefix });
      expect(await importRecords(storage, read())).toMatchObject({ sessions: { created: 1 }, events: 6 });
      const { events } = await sessions.listEvents(KEY);
      expect(events).toMatchObject([
        {
          id: 'e-1',
          author: 'user',
          timestamp: START + 1_000,
          content: { role: 'user', parts: [{ text: 'Where is 7?' }] },
        },
        {
          id: 'e-2',
          author: 'helper',
          invocationId: 'i-1',
          modelVersion: 'gpt',
          filterKey: 'shop/helper',
          usageMetadata: {
            promptTokenCount: 3,
            candidatesTokenCount: 4,
            totalTokenCount: 7,
            cachedContentTokenCount: 1,
          },
          content: {
            role: 'model',
            parts: [{ text: 'Let me see' }, { functionCall: { id: 'c-1', name: 'look_up', args: { order: 7 } } }],
          },
          actions: { stateDelta: { step: 1 } },
        },
        {
          id: 'e-3',
          content: {
            parts: [{ functionResponse: { id: 'c-1', name: 'look_up', response: { output: 'on its way' } } }],
          },
        },
        { id: 'import:summary', author: 'system', content: { parts: [{ text: 'They asked for 7' }] } },
        {
          id: 'e-4',
          content: { parts: [{ text: 'See' }] },
          customMetadata: { trpcAgent: { choices: [{ message: { content_parts: [{}, image] } }] } },
        },
        { id: 'e-5', errorMessage: 'too long', errorCode: 'api_error', longRunningToolIds: ['c-1'] },
      ]);
      const session = await sessions.getSession(KEY);
      expect(session?.events.map(({ id }) => id)).toEqual(['import:summary', 'e-4', 'e-5']);
      expect(session).toMatchObject({ createTime: START, lastUpdateTime: START + 9_000 });
      expect(session?.state.toRecord()).toEqual({
        step: 2,
        text: 'plain',
        none: null,
        initial: { a: [1] },
        'user:theme': 'dark',
        'user:level': 3,
        'app:currency': 'EUR',
      });
      expect((await sessions.stateAt({ ...KEY, seq: 0 })).state).toEqual({
        text: 'plain',
        none: null,
        initial: { a: [1] },
      });
      expect(await importRecords(storage, read())).toMatchObject({ sessions: { unchanged: 1 }, events: 0, states: 0 });
      database.close();
    },
  );

  it('refuses other databases, and prefixes that are none', async () => {
    const database = sqliteOf(tables(''));
    const storage = new InMemorySessionStorage();
    const reading = (tablePrefix: string) => importRecords(storage, trpcAgentGoSessions(database, { tablePrefix }));
    await expect(reading('other_')).rejects.toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
    await expect(reading('x; DROP')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    database.close();
  });
});
