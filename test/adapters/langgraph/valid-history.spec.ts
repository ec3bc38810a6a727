import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  isBaseMessage,
} from '@langchain/core/messages';
import fc from 'fast-check';
import { SessionChatHistory } from '../../../src/adapters/langgraph/index.js';
import { AgentSessions, type RunHandler, toMessages } from '../../../src/agents/index.js';
import { type EventInput, InMemorySessionStorage, type Part, SessionService } from '../../../src/index.js';
import { KEY, USER, openSaver } from './support/threads.js';

const SESSION = { ...USER, id: KEY.sessionId };
const NOT_ANSWERED = 'No result: the call was not answered.';

const call = (id: string | undefined, name = 'refund'): Part => ({
  functionCall: { ...(id && { id }), name, args: {} },
});
const answer = (id: string | undefined, response: unknown, name = 'refund'): Part => ({
  functionResponse: { ...(id && { id }), name, response },
});
const request = (id: string, of: string): Part => ({
  functionCall: { id, name: 'adk_request_confirmation', args: { originalFunctionCall: { id: of, name: 'refund' } } },
});

/** What the APIs of models refuse in a history. */
function assertValid(messages: readonly BaseMessage[]): void {
  const used = new Set<string>();
  const open: string[] = [];
  for (const message of messages) {
    if (ToolMessage.isInstance(message)) {
      expect(open.shift()).toBe(message.tool_call_id);
      continue;
    }
    expect(open).toEqual([]);
    if (!AIMessage.isInstance(message)) continue;
    expect(message.invalid_tool_calls ?? []).toEqual([]);
    expect(message.additional_kwargs).not.toHaveProperty('tool_calls');
    for (const { id = '', name } of message.tool_calls ?? []) {
      expect(id).not.toBe('');
      expect(used).not.toContain(id);
      expect(name).not.toMatch(/^adk_request_/);
      used.add(id);
      open.push(id);
    }
    const blocks = Array.isArray(message.content) ? message.content : [];
    const inContent = blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
    expect(message.tool_calls?.map(({ id }) => id)).toEqual(expect.arrayContaining(inContent));
  }
  expect(open).toEqual([]);
}

/** The messages in short. */
function inShort(messages: readonly BaseMessage[]): string[] {
  return messages.map((message) => {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []).map(({ id }) => `?${id}`) : [];
    const of = ToolMessage.isInstance(message) ? [`!${message.tool_call_id}`, message.status ?? ''] : [];
    return [message.getType(), ...of, message.text, ...calls].filter((each) => each !== '').join(' ');
  });
}

async function historyOf(...events: EventInput[]): Promise<BaseMessage[]> {
  const { sessions } = openSaver();
  await sessions.createSession(KEY);
  for (const event of events) await sessions.appendEvent({ session: SESSION, event });
  return new SessionChatHistory({ sessions, ...KEY }).getMessages();
}

const says = (author: string, ...parts: Part[]): EventInput => ({
  author,
  content: { role: author === 'user' ? 'user' : 'model', parts },
});

const failed = () => [
  new HumanMessage('Refund it'),
  new AIMessage({ content: '', tool_calls: [{ id: 'c1', name: 'refund', args: {} }] }),
  new ToolMessage({ tool_call_id: 'c1', name: 'refund', content: 'BOOM', status: 'error' }),
];

const refund: RunHandler = async function* (context) {
  if (!context.isResumed) yield { content: { role: 'model', parts: [call('c1')] } };
  yield await context.callTools({
    refund: async (_args, tool) =>
      (await tool.requestApproval({ hint: 'Refund?' })).confirmed ? 'refunded' : 'refused',
  });
  yield { content: { role: 'model', parts: [{ text: 'Done.' }] } };
};

describe('A failed tool', () => {
  it.each([
    ['a text', 'BOOM', { error: 'BOOM' }],
    ['an object', '{"code":1}', { error: '{"code":1}' }],
    ['an object with an error', '{"error":"BOOM","code":1}', { error: 'BOOM', code: 1 }],
    ['nothing', '', { error: '' }],
  ])('has the response of a failure for every reader: %s', async (_what, content, response) => {
    const { sessions } = openSaver();
    const history = new SessionChatHistory({ sessions, ...KEY });
    const messages = [...failed().slice(0, 2), new ToolMessage({ tool_call_id: 'c1', content, status: 'error' })];
    await history.addMessages(messages);
    const view = (await sessions.getSession(KEY))?.events ?? [];
    expect(view.flatMap(({ content: said }) => said?.parts ?? []).at(-1)?.functionResponse?.response).toEqual(response);
    expect(toMessages(view, { format: 'anthropic' }).at(-1)?.content).toMatchObject([{ is_error: true }]);
    expect(toMessages(view, { format: 'ai-sdk' }).at(-1)).toMatchObject({
      content: [{ output: { type: 'error-json' } }],
    });
    const read = await history.getMessages();
    expect(read.slice(1).map((each) => each.toDict())).toEqual(messages.slice(1).map((each) => each.toDict()));
  });

  it('of another framework has the status of a failure', async () => {
    const messages = await historyOf(
      says('user', { text: 'Refund it' }),
      says('support', call('c1'), call('c2'), call('c3')),
      {
        author: 'support',
        content: {
          role: 'user',
          parts: [
            answer('c1', { error: 'BOOM' }),
            answer('c2', { error: { code: 1 }, at: 2 }),
            answer('c3', { data: 1, error: null }),
          ],
        },
      },
    );
    expect(inShort(messages)).toEqual([
      'human Refund it',
      'ai ?c1 ?c2 ?c3',
      'tool !c1 error BOOM',
      'tool !c2 error {"error":{"code":1},"at":2}',
      'tool !c3 {"data":1,"error":null}',
    ]);
  });
});

describe('A history with an approval', () => {
  it('shows neither the question nor its answer, and answers the call, while it is open and later', async () => {
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage });
    const agents = new AgentSessions({ sessions, onError: () => undefined });
    const history = new SessionChatHistory({ sessions, ...KEY });
    const run = { ...KEY, agentName: 'support', newMessage: 'Refund it' };
    await agents.run(run, refund).result;
    const open = await history.getMessages();
    assertValid(open);
    expect(inShort(open)).toEqual(['human Refund it', 'ai ?c1', `tool !c1 error ${NOT_ANSWERED}`]);

    const [asked] = (await agents.pendingApprovals(KEY)).approvals;
    const decision = { ...KEY, approvalId: asked?.approvalId ?? '', answer: { confirmed: true } };
    await agents.answerApproval(decision, refund).result;
    const answered = await history.getMessages();
    assertValid(answered);
    expect(inShort(answered).slice(0, 3)).toEqual(['human Refund it', 'ai ?c1', 'tool !c1 {"result":"refunded"}']);
    await agents.close();
    await sessions.finish();
  });

  it('asked with the call, in one event', async () => {
    const messages = await historyOf(
      says('user', { text: 'Refund it' }),
      { ...says('support', { text: 'One moment.' }, call('c1'), request('r1', 'c1')), longRunningToolIds: ['r1'] },
      says('user', answer('r1', { confirmed: true }, 'adk_request_confirmation')),
      { author: 'support', content: { role: 'user', parts: [answer('c1', { ok: true })] } },
    );
    assertValid(messages);
    expect(inShort(messages)).toEqual(['human Refund it', 'ai One moment. ?c1', 'tool !c1 {"ok":true}']);
  });
});

describe('A history that models would refuse', () => {
  it.each<[string, EventInput[], string[]]>([
    ['an answer of nobody', [says('user', { text: 'Hi' }), says('support', answer('c9', { ok: 1 }))], ['human Hi']],
    [
      'an answer that comes later',
      [says('support', call('c1')), says('user', { text: 'And?' }), says('support', answer('c1', { ok: 1 }))],
      ['ai ?c1', 'tool !c1 {"ok":1}', 'human And?'],
    ],
    [
      'an answer in several parts, of which the last counts',
      [says('support', call('c1')), says('support', answer('c1', { at: 1 })), says('support', answer('c1', { at: 2 }))],
      ['ai ?c1', 'tool !c1 {"at":2}'],
    ],
    [
      'calls with one id',
      [says('support', call('c1')), says('support', call('c1'))],
      ['ai ?c1', `tool !c1 error ${NOT_ANSWERED}`, 'ai ?c1-2', `tool !c1-2 error ${NOT_ANSWERED}`],
    ],
    [
      'a file beside an answer',
      [
        says('support', call('c1')),
        {
          author: 'support',
          content: {
            role: 'user',
            parts: [answer('c1', { ok: 1 }), { inlineData: { mimeType: 'image/png', data: 'AA==' } }],
          },
        },
      ],
      ['ai ?c1', 'tool !c1 {"ok":1}', 'human'],
    ],
    [
      'a summary',
      [
        says('user', { text: 'Hi' }),
        { ...says('system', { text: 'They talked.' }), actions: { compaction: { fromSeq: 1, toSeq: 1 } } },
      ],
      ['human [Previous Context Summary]:\nThey talked.'],
    ],
  ])('is put in order: %s', async (_what, events, expected) => {
    const messages = await historyOf(...events);
    assertValid(messages);
    expect(inShort(messages)).toEqual(expected);
  });

  it('is put in order: messages of LangChain', async () => {
    const { sessions } = openSaver();
    const history = new SessionChatHistory({ sessions, ...KEY });
    const broken = {
      id: 'c2',
      name: 'find',
      args: '{"a"',
      error: 'Malformed args.',
      type: 'invalid_tool_call' as const,
    };
    await history.addMessages([
      new SystemMessage('Be kind.'),
      new HumanMessage('Hi'),
      new AIMessage({
        content: 'Wait.',
        tool_calls: [
          { name: 'find', args: {} },
          { id: 'c1', name: 'find', args: {} },
        ],
      }),
      new ToolMessage({ tool_call_id: 'c1', content: 'found' }),
      new AIMessage({
        content: [{ type: 'tool_use', id: 'c2', name: 'find', input: '{"a"' }],
        invalid_tool_calls: [broken],
        additional_kwargs: {
          tool_calls: [{ id: 'c2', type: 'function', function: { name: 'find', arguments: '{"a"' } }],
        },
      }),
    ]);
    const messages = await history.getMessages();
    assertValid(messages);
    expect(inShort(messages)).toEqual([
      'system Be kind.',
      'human Hi',
      'ai Wait. ?call-1 ?c1',
      `tool !call-1 error ${NOT_ANSWERED}`,
      'tool !c1 found',
      'ai ?c2',
      `tool !c2 error ${NOT_ANSWERED}`,
    ]);
    expect((messages[5] as AIMessage).tool_calls).toEqual([expect.objectContaining({ args: { arguments: '{"a"' } })]);
    expect(messages[5]?.content).toEqual([{ type: 'tool_use', id: 'c2', name: 'find', input: { arguments: '{"a"' } }]);
  });

  const ids = fc.array(fc.constantFrom('a', 'b', 'c', undefined), { minLength: 1, maxLength: 3 });
  const step = fc.oneof(
    fc.constantFrom('user', 'ann', 'bob').map((author) => says(author, { text: author })),
    ids.map((given) => says('ann', { text: 'calls' }, ...given.map((id) => call(id)))),
    ids.map((given) => ({ author: 'ann', content: { role: 'user', parts: given.map((id) => answer(id, { ok: 1 })) } })),
    ids.map((given) => says('user', ...given.map((id) => answer(id, { ok: 1 })), { text: 'and' })),
    fc.constantFrom('a', 'b').map((id) => says('ann', call(id), request(`r-${id}`, id))),
    fc
      .constantFrom('a', 'b')
      .map((id) => says('user', answer(`r-${id}`, { confirmed: true }, 'adk_request_confirmation'))),
    ids.map(
      (given) =>
        new AIMessage({
          content: 'LangChain',
          tool_calls: given.map((id) => ({ ...(id && { id }), name: 'find', args: {} })),
        }),
    ),
    fc.constantFrom('a', 'b', 'c').map((id) => new ToolMessage({ tool_call_id: id, content: 'LangChain' })),
    fc.constant(new HumanMessage('LangChain')),
    fc.constant('rewind' as const),
  );

  it('never comes from a session, whatever is in its log', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const { sessions } = openSaver();
        const history = new SessionChatHistory({ sessions, ...KEY });
        await sessions.createSession(KEY);
        for (const each of steps) {
          if (each === 'rewind')
            await sessions.rewindSession({
              ...KEY,
              toSeq: Math.floor(((await sessions.getSession(KEY))?.version ?? 0) / 2),
            });
          else if (isBaseMessage(each)) await history.addMessages([each]);
          else await sessions.appendEvent({ session: SESSION, event: each });
        }
        assertValid(await history.getMessages());
      }),
      { numRuns: 150 },
    );
  });
});
