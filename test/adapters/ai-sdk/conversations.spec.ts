import { type UIMessage, createUIMessageStream, tool, validateUIMessages } from 'ai';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { ChatSessions } from '../../../src/adapters/ai-sdk/index.js';
import { SessionChatHistory } from '../../../src/adapters/langgraph/index.js';
import { z } from 'zod';
import { InMemorySessionStorage } from '../../../src/sessions/storage/in-memory/in-memory-session-storage.js';
import { ChatApp, KEY, chunksOf, handlerOf, read, saidIn, user } from './support/chat-app.js';
import { SpokenModel, call, model, prompts, step, text } from './support/models.js';

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
      {
        type: 'file',
        mediaType: 'image/png',
        url: 'https://example.com/a',
        providerMetadata: { openai: { imageDetail: 'low' } },
      },
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

  it('are saved, and answered again, also where the view leaves them out', async () => {
    const answered: UIMessage = {
      id: 'answer:m1',
      role: 'assistant',
      parts: [{ type: 'step-start' }, { type: 'text', text: 'hello', state: 'done' }],
    };
    const messages = [user('m1', 'hi'), answered];
    await app.chats.save(KEY, messages);
    const session = { ...KEY, id: KEY.sessionId };
    const content = { role: 'user', parts: [{ text: 'A greeting.' }] };
    const actions = { compaction: { fromSeq: 1, toSeq: 2 } };
    await app.sessions.appendEvent({ session, event: { author: 'system', content, actions } });
    await app.chats.save(KEY, [...messages, user('m2', 'more')]);
    expect((await app.load()).map(({ id }) => id)).toEqual(['m1', 'answer:m1', 'm2']);
    const again = { messages: [user('m1', 'hi')], trigger: 'regenerate-message' };
    await expect(
      app.ask({ ...again, messages: [user('x', 'hi')], messageId: 'y' }, handlerOf(model())),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    const { id } = await app.chats.fork({ ...KEY, beforeMessage: 'answer:m1', newSessionId: 'chat-2' });
    expect((await app.chats.load({ ...KEY, sessionId: id })).map((message) => message.id)).toEqual(['m1']);
    const answer = await app.ask({ ...again, messageId: 'answer:m1' }, handlerOf(model(step(...text('once more')))));
    await answer.result;
    expect((await app.load()).map(({ parts }) => saidOf(parts))).toEqual(['hi', 'once more']);
  });

  it('answer an edit that is sent again while it is answered once', async () => {
    await (
      await app.ask({ messages: [user('m1', 'hi')] }, handlerOf(model(step(...text('hello')))))
    ).result;
    const spoken = new SpokenModel();
    const edit = { messages: [user('m1', 'bye')], messageId: 'm1' };
    const first = await app.ask(edit, handlerOf(spoken.model));
    await spoken.started;
    const second = await app.ask(edit, handlerOf(model()));
    spoken.say('see you');
    spoken.end();
    const [one, two] = await Promise.all([first.result, second.result]);
    expect(two.invocationId).toBe(one.invocationId);
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

  it.each([null, undefined, 5, 'text'])('refuse a request that is no body: %j', async (request) => {
    const asked = { ...KEY, request: request as never };
    for (const key of [asked, { ...asked, sessionId: undefined }]) {
      await expect(app.chats.answer(key, handlerOf(model()))).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        path: 'request',
      });
    }
  });

  it('leave out a message that does not fit a schema of today, and tell its id only', async () => {
    const { sessions, agents } = app;
    const old = { ...user('m1', 'my card is 4111'), metadata: { old: true } };
    await app.chats.save(KEY, [old, { ...user('m2', 'hi'), metadata: { at: 1 } }]);
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const today = new ChatSessions({ sessions, agents, onError, metadataSchema: z.object({ at: z.number() }) });

    expect((await today.load(KEY)).map(({ id }) => id)).toEqual(['m2']);
    expect(errors.map(String)).toEqual([expect.stringMatching(/^InvalidInputError: messages\[m1\]: .* left out$/)]);
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
    for (const parts of ['none', [null, 7, { type: 7 }, { at: 0 }]]) {
      const event = { author: 'user', content: { parts: [{ text: 'odd' }] }, customMetadata: { 'ai-sdk': { parts } } };
      await app.sessions.appendEvent({ session, event });
    }
    const fields = { message: 5, continues: {}, again: [1] };
    const named = { author: 'user', content: { parts: [{ text: 'odd' }] }, customMetadata: { 'ai-sdk': fields } };
    await app.sessions.appendEvent({ session, event: named });
    const [first, second, ...odd] = await app.load();
    expect(odd.map(({ parts }) => parts)).toEqual(Array.from({ length: 3 }, () => [{ type: 'text', text: 'odd' }]));
    // The call waits for the agent, not for the page.
    const paid = { type: 'dynamic-tool', toolName: 'pay', toolCallId: 'c1', state: 'output-available', input: {} };
    const claim = { messages: [{ ...second, parts: [{ ...paid, output: { paid: true } }] }] };
    await expect(app.ask(claim, handlerOf(model()))).rejects.toMatchObject({ code: 'INVALID_INPUT' });
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
    ['a message without text', { messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: ' ' }] }] }],
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

  it('edits a message again and again, also after its answer was given again', async () => {
    const said = ['a1', 'a2', 'b', 'c', 'd', 'e', 'f'].map((each) => step(...text(each)));
    const scripted = model(...said);
    const handler = handlerOf(scripted);
    for (const id of ['m1', 'm2']) await (await app.ask({ messages: [user(id, id)] }, handler)).result;
    const textsOf = async (): Promise<string[]> =>
      (await app.load()).map(({ id, parts }) => `${id.replace(/~.*/, '~')} ${saidOf(parts)}`);
    const edit = async (id: string, words: string) =>
      (await app.ask({ messages: [user(id, words)], messageId: id, trigger: 'submit-message' }, handler)).result;
    const again = async (messageId?: string) =>
      (await app.ask({ messages: [user('m2', '?')], messageId, trigger: 'regenerate-message' }, handler)).result;
    await edit('m2', 'zwei');
    expect(await textsOf()).toEqual(['m1 m1', 'answer:m1 a1', 'm2 zwei', 'answer:m2~ b']);
    await again();
    expect(await textsOf()).toEqual(['m1 m1', 'answer:m1 a1', 'm2 zwei', 'answer:m2~ c']);
    await edit('m2', 'due');
    expect(await textsOf()).toEqual(['m1 m1', 'answer:m1 a1', 'm2 due', 'answer:m2~ d']);
    const { id } = await app.chats.fork({ ...KEY, beforeMessage: 'm2', newSessionId: 'chat-2' });
    expect((await app.chats.load({ ...KEY, sessionId: id })).map((message) => message.id)).toEqual(['m1', 'answer:m1']);
    await edit('m1', 'eins');
    expect(await textsOf()).toEqual(['m1 eins', 'answer:m1~ e']);
    await edit('m1', 'uno');
    expect(await textsOf()).toEqual(['m1 uno', 'answer:m1~ f']);
    expect(prompts(scripted).at(-1)).toEqual(['user: uno']);
    // A page that has not noticed edits what is gone.
    await expect(edit('m2', 'm2')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('finds old messages, however much follows', async () => {
    const scripted = model(...['first', 'second', 'third'].map((each) => step(...text(each))));
    const asked = [user('m0', 'hello'), user('m1', 'hi')];
    await app.chats.save(KEY, [user('m0', 'hello')]);
    await (
      await app.ask({ messages: asked }, handlerOf(scripted))
    ).result;
    const session = { ...KEY, id: KEY.sessionId };
    const note = { author: 'system', actions: { stateDelta: { step: 1 } } };
    for (let batch = 0; batch < 11; batch++) {
      await app.sessions.appendEvents({ session, events: Array.from({ length: 100 }, () => note) });
    }
    const fork = { ...KEY, beforeMessage: 'answer:m1', newSessionId: 'chat-2' };
    const { id } = await app.chats.fork(fork);
    expect((await app.chats.load({ ...KEY, sessionId: id })).map((message) => message.id)).toEqual(['m0', 'm1']);
    const again = { messages: asked, messageId: 'answer:m1', trigger: 'regenerate-message' };
    await expect(
      app.ask({ ...again, messages: [user('x', 'hi')], messageId: 'y' }, handlerOf(scripted)),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await (
      await app.ask(again, handlerOf(scripted))
    ).result;
    const loaded = await app.chats.load({ ...KEY, limit: 2_000 });
    expect(loaded.map(({ parts }) => saidOf(parts))).toEqual(['hello', 'hi', 'second']);
    await app.sessions.appendEvents({ session, events: Array.from({ length: 100 }, () => note) });
    await (
      await app.ask({ messages: [user('m0', 'bye')], messageId: 'm0' }, handlerOf(scripted))
    ).result;
    expect((await app.load()).map(({ parts }) => saidOf(parts))).toEqual(['bye', 'third']);
    expect(prompts(scripted).at(-1)).toEqual(['user: bye']);
  });

  it('answers a repeated request for another answer once', async () => {
    const scripted = model(...['first', 'second', 'third'].map((each) => step(...text(each))));
    await (
      await app.ask({ messages: [user('m1', 'hi')] }, handlerOf(scripted))
    ).result;
    const again = { messages: [user('m1', 'hi')], messageId: 'answer:m1', trigger: 'regenerate-message' };
    const shown = [];
    for (let times = 0; times < 2; times++) {
      const answer = await app.ask(again, handlerOf(scripted));
      shown.push(await read(answer.stream()));
      await answer.result;
    }
    expect(shown[0]).toMatchObject({ parts: [{ type: 'step-start' }, { text: 'second' }] });
    expect(shown[1]).toMatchObject({ id: shown[0]?.id, parts: [{ type: 'step-start' }, { text: 'second' }] });
    await (
      await app.ask({ ...again, messageId: shown[0]?.id }, handlerOf(scripted))
    ).result;
    expect(scripted.doStreamCalls).toHaveLength(3);
  });

  describe('another answer', () => {
    const again = { messages: [user('m1', 'hi')], messageId: 'answer:m1', trigger: 'regenerate-message' };
    let spoken: SpokenModel;

    beforeEach(async () => {
      spoken = new SpokenModel();
      await (
        await app.ask({ messages: [user('m1', 'hi')] }, handlerOf(model(step(...text('first')))))
      ).result;
    });

    it.each<[string, () => Promise<unknown>]>([
      [
        'failed',
        async () => {
          const failing = model(step({ type: 'error', error: new Error('secret') }));
          const { result } = await app.ask(again, handlerOf(failing));
          await expect(result).rejects.toMatchObject({ code: 'AGENT_FAILED', cause: { name: 'AnswerFailedError' } });
        },
      ],
      [
        'was stopped',
        async () => {
          const { result } = await app.ask(again, handlerOf(spoken.model));
          await spoken.started;
          spoken.say('half');
          await app.chats.stop(KEY);
          expect(await result).toMatchObject({ status: 'stopped' });
        },
      ],
      [
        'was taken back',
        async () => {
          await (
            await app.ask(again, handlerOf(model(step(...text('second')))))
          ).result;
          const [, message] = (await app.sessions.listEvents({ ...KEY, limit: 2, order: 'desc' })).events;
          await app.sessions.rewindSession({ ...KEY, toSeq: message?.seq });
        },
      ],
    ])('that %s is given if the request is sent again, once', async (_how, work) => {
      await work();
      const scripted = model(step(...text('third')));
      for (let times = 0; times < 2; times++) {
        const answer = await app.ask(again, handlerOf(scripted));
        expect(await read(answer.stream())).toMatchObject({ parts: [{ type: 'step-start' }, { text: 'third' }] });
        await answer.result;
      }
      expect(prompts(scripted)).toEqual([['user: hi']]);
      expect((await app.load()).map(({ id, parts }) => [id.replace(/~.*/, '~'), saidOf(parts)])).toEqual([
        ['m1', 'hi'],
        ['answer:m1~', 'third'],
      ]);
    });

    it('is the same for a request that is sent again while it is given', async () => {
      const first = await app.ask(again, handlerOf(spoken.model));
      await spoken.started;
      const second = await app.ask(again, handlerOf(model()));
      spoken.say('second');
      spoken.end();
      expect(await read(second.stream())).toMatchObject({ parts: [{ type: 'step-start' }, { text: 'second' }] });
      expect(second.messageId).toBe(first.messageId);
      await first.result;
    });

    it('is the same for a request that is sent again while it waits for the page', async () => {
      const tools = { locate: tool({ inputSchema: z.object({}) }) };
      const scripted = model(step(call('c1', 'locate', {})));
      for (let times = 0; times < 2; times++) {
        const answer = await app.ask(again, handlerOf(scripted, tools));
        const parts = [{ type: 'step-start' }, { toolCallId: 'c1', state: 'input-available' }];
        expect(await read(answer.stream())).toMatchObject({ parts });
        await answer.result;
      }
      expect(scripted.doStreamCalls).toHaveLength(1);
    });
  });

  it('tell the page that an answer failed, and leave a clean log', async () => {
    const error = Object.assign(new Error('secret'), { statusCode: 429 });
    const failing = model(step({ type: 'error', error }));
    const answer = await app.ask({ messages: [user('m1', 'hi')] }, handlerOf(failing));
    const chunks = await chunksOf(answer.stream());
    await expect(answer.result).rejects.toMatchObject({ reason: 'RATE_LIMITED', cause: { cause: error } });
    expect(chunks).toContainEqual({ type: 'error', errorText: 'An error occurred.' });
    expect(JSON.stringify(chunks)).not.toContain('secret');
    expect((await app.log()).at(-1)).toBe('assistant FAILED');
  });
});

function saidOf(parts: UIMessage['parts']): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('');
}
