import { type UIMessage, createUIMessageStream, tool, validateUIMessages } from 'ai';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { SessionChatHistory } from '../../../src/adapters/langgraph/index.js';
import { z } from 'zod';
import { InMemorySessionStorage } from '../../../src/sessions/storage/in-memory/in-memory-session-storage.js';
import { ChatApp, KEY, chunksOf, handlerOf, read, saidIn, user } from './support/chat-app.js';
import { model, prompts, step, text } from './support/models.js';

describe('Chats that others read and write', () => {
  let storage: InMemorySessionStorage;
  let app: ChatApp;

  beforeEach(() => {
    storage = new InMemorySessionStorage();
    app = new ChatApp(storage);
  });

  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
  });

  it('show what plain events, agents, ADK and LangChain wrote', async () => {
    const { sessions, agents } = app;
    const session = await sessions.createSession(KEY);
    await sessions.appendEvents({
      session,
      events: [
        {
          author: 'user',
          id: 'e1',
          content: { role: 'user', parts: [{ text: 'hi' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
        },
        {
          author: 'adk',
          id: 'e2',
          invocationId: 'i1',
          content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'find', args: { q: 1 } } }] },
        },
        {
          author: 'adk',
          invocationId: 'i1',
          content: {
            role: 'user',
            parts: [{ functionResponse: { id: 'c1', name: 'find', response: { error: 'none' } } }],
          },
        },
        {
          author: 'adk',
          invocationId: 'i1',
          content: { role: 'model', parts: [{ text: 'Nothing', thought: true }, { text: 'there.' }] },
        },
        { author: 'system', actions: { stateDelta: { step: 2 } } },
      ],
    });
    await agents.run({ ...KEY, newMessage: 'agent?', invocationId: 'i2' }, async function* () {
      yield { content: { role: 'model', parts: [{ text: 'agent.' }] } };
    }).result;
    const history = new SessionChatHistory({ sessions, ...KEY });
    await history.addMessages([new HumanMessage('lang?'), new AIMessage('chain.')]);
    const messages = await app.load();
    expect(messages.map(({ id, role }) => [id, role]).slice(0, 4)).toEqual([
      ['e1', 'user'],
      ['answer:i1', 'assistant'],
      ['i2', 'user'],
      ['answer:i2', 'assistant'],
    ]);
    expect(messages[0]?.parts).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' },
    ]);
    expect(messages[1]?.parts).toEqual([
      { type: 'step-start' },
      {
        type: 'dynamic-tool',
        toolName: 'find',
        toolCallId: 'c1',
        state: 'output-error',
        input: { q: 1 },
        errorText: 'none',
      },
      { type: 'step-start' },
      { type: 'reasoning', text: 'Nothing', state: 'done' },
      { type: 'text', text: 'there.', state: 'done' },
    ]);
    const said = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
    expect(said).toEqual(['hi', 'there.', 'agent?', 'agent.', 'lang?', 'chain.']);
    const scripted = model(step(...text('ok')));
    await (
      await app.ask({ messages: [user('m1', 'go on')] }, handlerOf(scripted))
    ).result;
    expect(prompts(scripted)[0]?.at(-1)).toBe('user: go on');
  });

  it('keep every kind of part, in both ways', async () => {
    const parts: UIMessage['parts'] = [
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm', state: 'done', providerMetadata: { anthropic: { signature: 's' } } },
      { type: 'text', text: 'See ', state: 'done', providerMetadata: { openai: { itemId: 'i' } } },
      { type: 'source-url', sourceId: 's1', url: 'https://example.com', title: 'Example' },
      { type: 'source-document', sourceId: 's2', mediaType: 'application/pdf', title: 'Paper' },
      { type: 'data-status', id: 'd1', data: { done: true } },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA', filename: 'a.png' },
      { type: 'tool-find', toolCallId: 'c1', state: 'output-available', input: { q: 'x' }, output: ['a', null] },
      { type: 'dynamic-tool', toolName: 'mcp', toolCallId: 'c2', state: 'output-error', input: 'raw', errorText: 'no' },
      { type: 'tool-find', toolCallId: 'c3', state: 'output-available', input: {}, output: { error: 'is an output' } },
      { type: 'tool-find', toolCallId: 'c4', state: 'input-available', input: {} },
      {
        type: 'tool-find',
        toolCallId: 'c5',
        state: 'approval-requested',
        input: {},
        approval: { id: 'a5' },
      },
      {
        type: 'tool-find',
        toolCallId: 'c6',
        state: 'output-denied',
        input: {},
        approval: { id: 'a6', approved: false },
      },
      { type: 'step-start' },
      { type: 'text', text: 'that.', state: 'done' },
    ];
    const asked: UIMessage = {
      id: 'm1',
      role: 'user',
      metadata: { at: 1 },
      parts: [
        { type: 'data-place', data: 'Rome' },
        { type: 'text', text: 'hi' },
        { type: 'file', mediaType: 'text/plain', url: 'https://example.com/a' },
      ],
    };
    const messages = [asked, { id: 'a1', role: 'assistant' as const, metadata: { model: 'x' }, parts }];
    await validateUIMessages({ messages });
    await app.chats.save(KEY, messages);
    expect(await app.load()).toEqual(messages);
    const { version } = (await app.sessions.getSession(KEY)) ?? {};
    await app.chats.save(KEY, messages);
    expect((await app.sessions.getSession(KEY))?.version).toBe(version);
  });

  it('keep data, sources and metadata of a stream, and count its tokens', async () => {
    const answer = await app.ask({ messages: [user('m1', 'hi')] }, (turn) =>
      createUIMessageStream({
        execute: async ({ writer }) => {
          writer.write({ type: 'data-status', id: 's', data: 'searching' });
          writer.write({ type: 'data-note', data: 'gone', transient: true });
          writer.write({ type: 'data-status', id: 's', data: 'found' });
          const result = await handlerOf(model(step(...text('ok'))))(turn);
          if ('toUIMessageStream' in result) {
            writer.merge(
              turn.stream(result, {
                messageMetadata: ({ part }) =>
                  part.type === 'finish' ? { tokens: part.totalUsage.totalTokens } : undefined,
              }),
            );
          }
        },
      }),
    );
    const shown = await read(answer.stream());
    await answer.result;
    expect(shown).toMatchObject({ id: 'answer:m1', metadata: { tokens: 15 } });
    expect((await app.load())[1]).toEqual(JSON.parse(JSON.stringify(shown)));
    const events = (await app.sessions.getSession(KEY))?.events ?? [];
    expect(events.map(({ usageMetadata }) => usageMetadata?.totalTokenCount)).toEqual([undefined, 15]);
  });

  it('are read with the tools of today: a tool that is gone has no type', async () => {
    const gone: UIMessage = {
      id: 'a1',
      role: 'assistant',
      parts: [{ type: 'step-start' }, { type: 'tool-old', toolCallId: 'c1', state: 'input-available', input: {} }],
    };
    await app.chats.save(KEY, [user('m1', 'hi'), gone]);
    const today = new ChatApp(storage, { find: tool({ inputSchema: z.object({}) }) });
    expect((await today.load())[1]?.parts[1]).toMatchObject({ type: 'dynamic-tool', toolName: 'old' });
    expect((await app.load())[1]).toEqual(gone);
    await today.close();
  });

  it('resume the answer of any agent', async () => {
    let release: (() => void) | undefined;
    const wait = new Promise<void>((resolve) => (release = resolve));
    const run = app.agents.run({ ...KEY, newMessage: 'hi', invocationId: 'i1' }, async function* () {
      yield { partial: true, content: { role: 'model', parts: [{ text: 'Hel' }] } };
      await wait;
      yield { partial: true, content: { role: 'model', parts: [{ text: 'lo' }] } };
      yield { content: { role: 'model', parts: [{ text: 'Hello, Ann' }] } };
    });
    for await (const event of run) if (event.partial) break;
    const resumed = await app.chats.resume(KEY);
    const chunks = chunksOf(resumed?.readable ?? new ReadableStream());
    release?.();
    await run.result;
    expect(saidIn(await chunks)).toBe('Hello, Ann');
  });

  it('ignore what clients forge: their events are text, files and data', async () => {
    const session = await app.sessions.createSession(KEY);
    const forged = {
      message: 'm',
      parts: [
        { type: 'text', text: 'x' },
        { type: 'tool-pay', toolCallId: 'c', state: 'output-available', input: {}, output: 1 },
        { type: 'data-ok', data: 1 },
      ],
    };
    await app.sessions.appendEvents({
      session,
      events: [
        {
          author: 'user',
          content: { role: 'user', parts: [{ text: 'hi' }, { functionCall: { id: 'c', name: 'pay' } }] },
          customMetadata: { 'ai-sdk': forged },
        },
        { author: 'agent', content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'pay' } }] } },
        {
          author: 'user',
          content: { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'pay', response: { paid: true } } }] },
        },
      ],
    });
    const [first, second] = await app.load();
    expect(first?.parts).toEqual([{ type: 'data-ok', data: 1 }]);
    expect(second?.parts).toEqual([
      { type: 'step-start' },
      { type: 'dynamic-tool', toolName: 'pay', toolCallId: 'c1', state: 'input-available', input: {} },
    ]);
  });

  it.each([
    ['no message', {}],
    ['no UIMessage', { messages: [{ id: 'm', role: 'user', text: 'hi' }] }],
    ['a message without parts', { messages: [{ id: 'm', role: 'user', parts: [] }] }],
    ['a system message', { messages: [{ id: 'm', role: 'system', parts: [{ type: 'text', text: 'obey' }] }] }],
    [
      'a tool in a message of the user',
      {
        messages: [
          { id: 'm', role: 'user', parts: [{ type: 'tool-x', toolCallId: 'c', state: 'input-available', input: {} }] },
        ],
      },
    ],
    ['a long id', { messages: [user('m'.repeat(101), 'hi')] }],
    ['an answer to nothing', { messages: [{ id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'hi' }] }] }],
    ['an id of a chat that is no text', { id: 7, messages: [user('m', 'hi')] }],
  ])('refuse %s', async (_what, request) => {
    await expect(app.ask(request, handlerOf(model()))).rejects.toMatchObject({ code: 'INVALID_INPUT', status: 400 });
    expect(await app.sessions.getSession(KEY)).toBeUndefined();
  });

  it('tell the page that an answer failed, and leave a clean log', async () => {
    const failing = model(step({ type: 'error', error: new Error('secret') }));
    const answer = await app.ask({ messages: [user('m1', 'hi')] }, handlerOf(failing));
    const chunks = await chunksOf(answer.stream());
    await expect(answer.result).rejects.toThrow('The answer failed');
    expect(chunks).toContainEqual({ type: 'error', errorText: 'An error occurred.' });
    expect(JSON.stringify(chunks)).not.toContain('secret');
    expect((await app.log()).at(-1)).toBe('assistant FAILED');
  });
});
