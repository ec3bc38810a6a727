import { AgentsSession } from '../../src/adapters/openai-agents/index.js';
import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';
import {
  type ForeignEvent,
  foreignRecords,
  importRecords,
  langGraphThreads,
  openAiItems,
  openAiSessions,
  recordsOrBad,
  stateRecord,
  TransferFileError,
  type TransferRecord,
} from '../../src/transfer/index.js';
import { sqliteOf } from './sqlite-of.js';

const OWNER = { appName: 'shop', userId: 'ann' };
const KEY = { ...OWNER, sessionId: 's-1' };

const message = (name: string, kwargs: object) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', name],
  kwargs: { additional_kwargs: {}, response_metadata: {}, ...kwargs },
});
const hex = (value: unknown): string => `X'${Buffer.from(JSON.stringify(value)).toString('hex')}'`;
const decode = (type: string, bytes: Uint8Array): unknown =>
  type === 'msgpack' ? JSON.parse(Buffer.from(bytes).toString()) : undefined;

const checkpoint = (id: string, ts: string, more: object, type = 'json'): string =>
  `INSERT INTO checkpoints VALUES ('s-1', '', '${id}', NULL, '${type}', ${hex({ v: 4, id, ts, ...more })}, NULL);`;

const said = (id: string, text: string): ForeignEvent => ({ id, author: 'user', content: { parts: [{ text }] } });
const unreadable = (): never => {
  throw new TransferFileError('its text is encrypted');
};

describe('sessions of other systems', () => {
  const storage = new InMemorySessionStorage();
  const sessions = new SessionService({ storage });

  afterEach(() => sessions.eraseUser(OWNER));

  async function events(sessionId = 's-1'): Promise<EventInput[]> {
    return (await sessions.listEvents({ ...KEY, sessionId })).events;
  }

  it("a system of the app's own, twice without a difference, and without what it cannot read", async () => {
    const log = [said('1', 'Hello'), { ...said('2', 'So far'), isSummary: true }, said('3', 'Bye')];
    const session = { ...KEY, createTime: Date.UTC(2026, 10, 1), state: { step: 3 }, events: () => log };
    async function* records(): AsyncGenerator<TransferRecord> {
      yield* recordsOrBad(KEY, () => foreignRecords(session));
      yield* recordsOrBad({ ...OWNER, sessionId: 's-2' }, unreadable);
      yield stateRecord(OWNER, { theme: 'dark' });
    }
    const counts = { events: 3, states: 1, problems: [{ sessionId: 's-2', problem: 'its text is encrypted' }] };
    expect(await importRecords(storage, records(), { onBad: 'skip' })).toMatchObject(counts);
    expect((await sessions.getSession(KEY))?.state).toEqual({ step: 3, 'user:theme': 'dark' });
    expect((await events()).at(1)?.actions).toMatchObject({ compaction: { fromSeq: 1, toSeq: 1 } });
    const again = await importRecords(storage, records(), { onBad: 'skip' });
    expect(again).toMatchObject({ events: 0, sessions: { unchanged: 1 } });
  });

  const ITEMS = [
    { role: 'user', content: 'Where is 7?' },
    { type: 'reasoning', id: 'rs_1', summary: [] },
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c-1',
      name: 'look_up',
      arguments: '{"order":7}',
      status: 'completed',
    },
    { type: 'function_call_output', call_id: 'c-1', output: 'on its way' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'On its way.', annotations: [] }],
    },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'See' },
        { type: 'input_image', image_url: 'https://x/y.png' },
      ],
    },
  ];
  const AS_EVENTS = [
    { author: 'user', content: { role: 'user', parts: [{ text: 'Where is 7?' }] } },
    { id: 'rs_1', author: 'agent', customMetadata: { openai: { type: 'reasoning' } } },
    {
      id: 'fc_1',
      author: 'agent',
      content: { role: 'model', parts: [{ functionCall: { id: 'c-1', name: 'look_up', args: { order: 7 } } }] },
    },
    { author: 'agent', content: { parts: [{ functionResponse: { id: 'c-1', response: { output: 'on its way' } } }] } },
    { id: 'msg_1', author: 'agent', content: { role: 'model', parts: [{ text: 'On its way.' }] } },
    {
      author: 'user',
      content: { parts: [{ text: 'See' }] },
      customMetadata: { openai: { content: [{}, { type: 'input_image' }] } },
    },
  ];

  it('items of the OpenAI Agents SDK, twice without a difference', async () => {
    const given = { ...KEY, items: ITEMS, createTime: Date.UTC(2026, 10, 1) };
    await importRecords(storage, openAiItems(given));
    const stored = await events();
    expect(stored).toMatchObject(AS_EVENTS);
    expect(stored).toHaveLength(ITEMS.length);
    expect(await importRecords(storage, openAiItems(given))).toMatchObject({ sessions: { unchanged: 1 } });
  });

  describe('items for Python of OpenAI', () => {
    const picture = {
      type: 'message',
      role: 'user',
      content: [null, { type: 'input_image', image_url: 'https://x/y' }],
    };
    it.each<object>([
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'orders' } },
      { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['orders'], results: null },
      { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: '1', container_id: 'c', outputs: null },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' },
      { type: 'mcp_call', id: 'mcp_1', name: 'look_up', server_label: 'shop', arguments: '{}', output: 'on its way' },
      { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'shop', tools: [] },
      { type: 'mcp_approval_request', id: 'mcpr_1', name: 'pay', server_label: 'shop', arguments: '{}' },
      { type: 'mcp_approval_response', id: 'mcpa_1', approval_request_id: 'mcpr_1', approve: true },
      { type: 'local_shell_call_output', id: 'lsh_2', output: '{}' },
      { type: 'item_reference', id: 'msg_1' },
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      { ...picture, id: 'msg_2' },
    ])('are kept as they are: %j', async (item) => {
      await importRecords(storage, openAiItems({ ...KEY, items: [item], createTime: 1 }));
      expect(await events()).toMatchObject([{ id: 'id' in item && item.id, customMetadata: { openai: item } }]);
    });
  });

  it('items for TypeScript of OpenAI, whatever their content has', async () => {
    const items = [
      { type: 'hosted_tool_call', id: 'ws_1', name: 'web_search_call', status: 'completed', providerData: { n: 1 } },
      { type: 'tool_search_call', id: 'ts_1', call_id: 'c-0', status: 'completed', arguments: {} },
      { type: 'shell_call', callId: 'c-1', action: { commands: ['ls'] } },
      { type: 'reasoning', content: [{ type: 'input_text', text: 'Hm.' }, 7] },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' },
      { role: 'user', content: [null] },
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [null, 'x', { type: 'output_text', text: 'y' }],
      },
      { type: 'function_call_result', callId: 'c-2', name: 'look_up', status: 'completed', output: [null] },
    ];
    await importRecords(storage, openAiItems({ ...KEY, items, createTime: 1 }));
    expect(await new AgentsSession({ sessions, ...KEY }).getItems()).toEqual(items);
  });

  it.each([[null], ['a text'], [[]], [7]])(
    'refuses %j, which is no item of OpenAI, with the session that has it',
    async (item) => {
      const given = { ...KEY, items: [item as object], createTime: 1 };
      await expect(importRecords(storage, openAiItems(given))).rejects.toMatchObject({
        code: 'TRANSFER_FILE_INVALID',
        message: expect.stringContaining('must be an item of the SDK') as string,
      });
      expect(await importRecords(storage, openAiItems(given), { onBad: 'skip' })).toMatchObject({ bad: 1 });
      expect(await sessions.getSession(KEY)).toBeUndefined();
    },
  );

  it.each(['', ' ann', 'a\u0000b', 'x'.repeat(192)])('refuses ids that are none here: %j', async (userId) => {
    const given = { ...KEY, userId, items: ITEMS, createTime: 1 };
    await expect(importRecords(storage, openAiItems(given))).rejects.toMatchObject({
      code: 'TRANSFER_FILE_INVALID',
      message: expect.stringContaining('`userId`') as string,
    });
    const state = async function* (): AsyncGenerator<TransferRecord> {
      yield { kind: 'state', appName: 'shop', userId, entries: [['a', '1']] };
    };
    await expect(importRecords(storage, state())).rejects.toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
  });

  it('the SQLite file of the OpenAI Agents SDK', async () => {
    const rows = ITEMS.map(
      (item, index) =>
        `INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('s-1', '${JSON.stringify(item)}', '2026-11-01 10:00:0${index}');`,
    );
    const database = sqliteOf(`
      CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP);
      CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
      INSERT INTO agent_sessions VALUES ('s-1', '2026-11-01 09:00:00', '2026-11-01 10:00:05');
      ${rows.join('\n')}`);
    await importRecords(
      storage,
      openAiSessions(database, { appName: 'shop', userId: (id) => (id === 's-1' ? 'ann' : 'bob') }),
    );
    const stored = await events();
    expect(stored).toMatchObject(AS_EVENTS);
    expect(stored[0]).toMatchObject({ id: 'item:1', timestamp: Date.UTC(2026, 10, 1, 10) });
    database.close();
  });

  describe('LangGraph', () => {
    const MESSAGES = [
      message('SystemMessage', { id: 'm-0', content: 'Be kind' }),
      message('HumanMessage', { id: 'm-1', content: [{ type: 'text', text: 'Where is 7?' }] }),
      message('AIMessage', {
        id: 'm-2',
        content: 'Let me see',
        tool_calls: [{ id: 'c-1', name: 'look_up', args: { order: 7 } }],
        usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      }),
      message('ToolMessage', { id: 'm-3', content: 'on its way', tool_call_id: 'c-1', name: 'look_up' }),
    ];
    const EXPECTED = [
      { id: 'm-0', author: 'system', content: { role: 'system', parts: [{ text: 'Be kind' }] } },
      { id: 'm-1', author: 'user', content: { role: 'user', parts: [{ text: 'Where is 7?' }] } },
      {
        id: 'm-2',
        author: 'agent',
        usageMetadata: { totalTokenCount: 7 },
        content: {
          role: 'model',
          parts: [{ text: 'Let me see' }, { functionCall: { id: 'c-1', name: 'look_up', args: { order: 7 } } }],
        },
      },
      {
        id: 'm-3',
        content: { parts: [{ functionResponse: { id: 'c-1', name: 'look_up', response: { result: 'on its way' } } }] },
      },
    ];
    const TABLE = `CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT, type TEXT,
      checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));`;
    const options = { ...OWNER };

    it('its saver for SQLite: the messages of the newest checkpoint', async () => {
      const database = sqliteOf(`${TABLE}
        ${checkpoint('1f-1', '2026-11-01T10:00:00.000Z', { channel_values: { messages: MESSAGES.slice(0, 2) } })}
        ${checkpoint('1f-2', '2026-11-01T10:05:00.000Z', { channel_values: { messages: MESSAGES } })}
        INSERT INTO checkpoints VALUES ('s-1', 'sub', '1f-3', NULL, 'json', ${hex({ channel_values: { messages: [] } })}, NULL);`);
      await importRecords(storage, langGraphThreads(database, options));
      expect(await events()).toMatchObject(EXPECTED);
      expect(await sessions.getSession(KEY)).toMatchObject({
        createTime: Date.UTC(2026, 10, 1, 10),
        lastUpdateTime: Date.UTC(2026, 10, 1, 10, 5),
        conversationCount: 1,
      });
      expect((await sessions.getUsage(KEY)).total.totalTokens).toBe(7);
      database.close();
    });

    it('values of channels in a table of their own, as its saver for PostgreSQL has them', async () => {
      const database = sqliteOf(`${TABLE}
        CREATE TABLE checkpoint_blobs (thread_id TEXT, checkpoint_ns TEXT, channel TEXT, version TEXT, type TEXT, blob BLOB);
        INSERT INTO checkpoint_blobs VALUES ('s-1', '', 'messages', '2', 'json', ${hex(MESSAGES)});
        INSERT INTO checkpoint_blobs VALUES ('s-1', '', 'messages', '1', 'json', ${hex([])});
        ${checkpoint('1f-1', '2026-11-01T10:00:00.000Z', { channel_versions: { messages: 2 } })}`);
      await importRecords(storage, langGraphThreads(database, options));
      expect(await events()).toMatchObject(EXPECTED);
      database.close();
    });

    it('other serializers need a decoder', async () => {
      const database = sqliteOf(
        `${TABLE}${checkpoint('1f-1', '2026-11-01T10:00:00.000Z', { channel_values: { messages: MESSAGES } }, 'msgpack')}`,
      );
      await expect(importRecords(storage, langGraphThreads(database, options))).rejects.toMatchObject({
        code: 'TRANSFER_FILE_INVALID',
      });
      await importRecords(storage, langGraphThreads(database, { ...options, decode }));
      expect(await events()).toMatchObject(EXPECTED);
      database.close();
    });
  });
});
