import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { JsonPlusSerializer } from '@langchain/langgraph-checkpoint';
import { SessionChatHistory } from '../../src/adapters/langgraph/index.js';
import { type EventLike, InMemorySessionStorage, SessionService } from '../../src/index.js';
import { importRecords, langGraphThreads } from '../../src/transfer/index.js';
import { sqliteOf } from './sqlite-of.js';

const OWNER = { appName: 'shop', userId: 'ann' };
const USAGE = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
const tool = (content: ToolMessage['content'], more: object = { name: 'find' }): ToolMessage =>
  new ToolMessage({ tool_call_id: 'c-1', content, ...more });

/** Messages, and what their events say. */
const MESSAGES: [what: string, message: () => BaseMessage, event: object][] = [
  ['a text of the user', () => new HumanMessage('Hello'), { author: 'user', content: { role: 'user' } }],
  [
    'text and a file of a user with a name',
    () =>
      new HumanMessage({
        name: 'Ann',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image', mimeType: 'image/png', data: 'AA==' },
        ],
      }),
    { author: 'user', content: { parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] } },
  ],
  ['a system message', () => new SystemMessage('Be kind'), { author: 'system', content: { role: 'system' } }],
  ['an answer', () => new AIMessage('Seen.'), { author: 'agent', content: { role: 'model' } }],
  [
    'an answer with a name, a model and usage',
    () =>
      new AIMessage({
        name: ' support ',
        content: 'Seen.',
        response_metadata: { model_name: 'm-1', n: 1 },
        usage_metadata: { ...USAGE, input_token_details: { cache_read: 2 } },
      }),
    {
      author: 'support',
      modelVersion: 'm-1',
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 7, cachedContentTokenCount: 2 },
    },
  ],
  [
    'calls of tools, also one without an id',
    () =>
      new AIMessage({
        content: '',
        tool_calls: [
          { id: 'c-1', name: 'find', args: { order: 7, nested: { a: [null] } } },
          { name: 'list', args: {} },
        ],
      }),
    {
      content: {
        parts: [
          { functionCall: { id: 'c-1', name: 'find', args: { order: 7, nested: { a: [null] } } } },
          { functionCall: { name: 'list', args: {} } },
        ],
      },
    },
  ],
  [
    'blocks that are no text',
    () =>
      new AIMessage({
        content: [
          { type: 'reasoning', reasoning: 'why' },
          { type: 'text', text: 'Seen.' },
        ],
      }),
    { content: { parts: [{ text: 'why', thought: true }, { text: 'Seen.' }] } },
  ],
  [
    'an answer of content blocks',
    () =>
      new AIMessage({
        contentBlocks: [
          { type: 'text', text: 'Wait.' },
          { type: 'tool_call', id: 'c-1', name: 'find', args: { order: 7 } },
        ],
      }),
    { content: { parts: [{ text: 'Wait.' }, { functionCall: { id: 'c-1', args: { order: 7 } } }] } },
  ],
  ['a streamed answer', () => new AIMessageChunk({ content: 'Se', usage_metadata: USAGE }), { author: 'agent' }],
  [
    'a message of another role',
    () => new ChatMessage('psst', 'whisper'),
    { author: 'agent', content: { role: 'model' } },
  ],
  ['the text of a tool', () => tool('ok'), responded({ name: 'find', response: { result: 'ok' } })],
  ['an object of a tool', () => tool('{"status":"sent"}'), responded({ response: { status: 'sent' } })],
  ['a list of a tool', () => tool('[1]'), responded({ response: { result: '[1]' } })],
  ['nothing of a tool', () => tool(''), responded({ response: { result: '' } })],
  [
    'blocks of a tool',
    () =>
      tool([
        { type: 'text', text: '{"a"' },
        { type: 'text', text: ':1}' },
      ]),
    responded({ response: { a: 1 } }),
  ],
  ['a tool without a name', () => tool('ok', {}), responded({ id: 'c-1', response: { result: 'ok' } })],
];

describe('messages of LangGraph', () => {
  it.each(MESSAGES)('are the same events by the adapter and by an import: %s', async (_what, message, expected) => {
    const [written] = await eventsOfAdapter(message());
    const [imported] = await eventsOfImport(message());
    expect(imported).toEqual(written);
    expect(imported).toMatchObject(expected);
  });

  it('has a name of the tool only if the message has one', async () => {
    const [imported] = await eventsOfImport(tool('ok', {}));
    expect(imported?.content?.parts?.[0]?.functionResponse).not.toHaveProperty('name');
  });

  it('that a decoder made from those of Python are events by the same rules', async () => {
    const fields = { content: '{"status":"sent"}', type: 'tool', name: null, tool_call_id: 'c-1', artifact: null };
    const chunk = { content: 'Seen.', type: 'AIMessageChunk', name: 'support', response_metadata: { model_name: 'm' } };
    const image = {
      ...fields,
      content: [{ type: 'text', text: 'see' }, { type: 'image', url: 'https://x/y.png' }, { type: 'cachePoint' }],
    };
    const [answer, said, seen] = await eventsOfImport(fields, chunk, image);
    expect(answer?.content?.parts).toEqual([{ functionResponse: { id: 'c-1', response: { status: 'sent' } } }]);
    expect(said).toMatchObject({ author: 'support', modelVersion: 'm', content: { role: 'model' } });
    expect(seen).toMatchObject({
      content: {
        parts: [
          { functionResponse: { response: { result: 'see[a block of type cachePoint]' } } },
          { fileData: { fileUri: 'https://x/y.png', mimeType: 'image/png' } },
        ],
      },
      customMetadata: { langgraph: image.content },
    });
  });
});

function responded(functionResponse: object): object {
  return { author: 'agent', content: { role: 'user', parts: [{ functionResponse }] } };
}

async function eventsOfAdapter(message: BaseMessage): Promise<EventLike[]> {
  const sessions = new SessionService({ storage: new InMemorySessionStorage() });
  await new SessionChatHistory({ sessions, ...OWNER, sessionId: 's-1' }).addMessage(message);
  return saidIn(sessions);
}

async function eventsOfImport(...messages: unknown[]): Promise<EventLike[]> {
  const storage = new InMemorySessionStorage();
  const checkpoint = { ts: '2026-11-01T10:00:00.000Z', channel_values: { messages } };
  const [type, bytes] = await new JsonPlusSerializer().dumpsTyped(checkpoint);
  const database = sqliteOf(`
    CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, type TEXT, checkpoint BLOB);
    INSERT INTO checkpoints VALUES ('s-1', '', '1f-1', '${type}', X'${Buffer.from(bytes).toString('hex')}');`);
  await importRecords(storage, langGraphThreads(database, OWNER));
  database.close();
  return saidIn(new SessionService({ storage }));
}

/** The events without what depends on when they were written. */
async function saidIn(sessions: SessionService): Promise<EventLike[]> {
  const { events } = await sessions.listEvents({ ...OWNER, sessionId: 's-1' });
  return events.map(({ id: _id, invocationId: _invocation, timestamp: _time, ...event }) => event);
}
