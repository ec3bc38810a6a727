import { type ToMessagesOptions, toMessages } from '../../src/agents/index.js';
import { type EventInput, InMemorySessionService, type Part } from '../../src/index.js';

const says = (author: string, text: string, more: EventInput = {}): EventInput => ({
  author,
  content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] },
  ...more,
});
const calls = (author: string, ...ids: (string | undefined)[]): EventInput => ({
  author,
  content: {
    role: 'model',
    parts: ids.map((id) => ({ functionCall: { ...(id && { id }), name: 'look', args: { id } } })),
  },
});
const answers = (author: string, ...ids: (string | undefined)[]): EventInput => ({
  author,
  content: { role: 'user', parts: ids.map((id) => answer(id, `of ${id}`)) },
});
const answer = (id: string | undefined, response: unknown): Part => ({
  functionResponse: { ...(id && { id }), name: 'look', response },
});

/** Messages as one line each: who says what. */
function linesOf(events: EventInput[], options: Partial<ToMessagesOptions<'google'>> = {}): string[] {
  return toMessages(events, { format: 'google', ...options }).map(({ role, parts }) => {
    const words = parts.map(({ text, functionCall, functionResponse }) => {
      if (functionCall) return `call ${functionCall.id ?? '?'}`;
      return functionResponse ? `result ${JSON.stringify(functionResponse.response)}` : text;
    });
    return `${role}: ${words.join(' | ')}`;
  });
}

const NONE = 'result {"error":"No result: the call was not answered."}';

describe('Tool calls', () => {
  it.each<[string, EventInput[], string[]]>([
    [
      'get their results in the order of the calls',
      [says('user', 'go'), calls('ann', 'a', 'b'), answers('ann', 'b', 'a')],
      ['user: go', 'model: call a | call b', 'user: result {"result":"of a"} | result {"result":"of b"}'],
    ],
    [
      'of the user are left out, because vendors refuse them',
      [
        { ...calls('user', 'a'), content: { role: 'user', parts: calls('user', 'a').content?.parts ?? [] } },
        says('user', 'go'),
      ],
      ['user: go'],
    ],
    [
      'get results of several events',
      [says('user', 'go'), calls('ann', 'a', 'b'), answers('ann', 'b'), answers('ann', 'a'), says('ann', 'done')],
      [
        'user: go',
        'model: call a | call b',
        'user: result {"result":"of a"} | result {"result":"of b"}',
        'model: done',
      ],
    ],
    [
      'get results that came after the next message',
      [says('user', 'go'), calls('ann', 'a'), says('user', 'hurry'), answers('ann', 'a')],
      ['user: go', 'model: call a', 'user: result {"result":"of a"} | hurry'],
    ],
    [
      'that nobody answered get a result that says so',
      [says('user', 'go'), calls('ann', 'a', 'b'), answers('ann', 'b'), says('user', 'well?')],
      ['user: go', 'model: call a | call b', `user: ${NONE} | result {"result":"of b"} | well?`],
    ],
    [
      'at the end get a result too',
      [says('user', 'go'), calls('ann', 'a')],
      ['user: go', 'model: call a', `user: ${NONE}`],
    ],
    [
      'of long-running tools keep the last response',
      [
        says('user', 'go'),
        calls('ann', 'a'),
        answers('ann', 'a'),
        says('ann', 'wait'),
        {
          author: 'user',
          content: { role: 'user', parts: [answer('a', { done: true })] },
        },
      ],
      ['user: go', 'model: call a', 'user: result {"done":true}', 'model: wait'],
    ],
    [
      'without id are paired by the name of the tool, in order',
      [says('user', 'go'), calls('ann', undefined, undefined), answers('ann', undefined), answers('ann', undefined)],
      [
        'user: go',
        'model: call ? | call ?',
        'user: result {"result":"of undefined"} | result {"result":"of undefined"}',
      ],
    ],
    [
      'without id do not take answers of later calls',
      [
        says('user', 'go'),
        calls('ann', undefined),
        says('user', 'again'),
        calls('ann', undefined),
        answers('ann', undefined),
      ],
      ['user: go', 'model: call ?', `user: ${NONE} | again`, 'model: call ?', 'user: result {"result":"of undefined"}'],
    ],
    [
      'keep the text that follows an answer in the same event behind it',
      [
        says('user', 'go'),
        calls('ann', 'a'),
        {
          author: 'user',
          content: { role: 'user', parts: [{ text: 'first' }, answer('a', { ok: 1 }), { text: 'last' }] },
        },
      ],
      ['user: go', 'model: call a', 'user: result {"ok":1} | first | last'],
    ],
    [
      'leave out answers without call',
      [says('user', 'go'), answers('ann', 'a'), says('ann', 'done')],
      ['user: go', 'model: done'],
    ],
    [
      'of ADK that ask users are left out, with their answers',
      [
        says('user', 'go'),
        {
          author: 'ann',
          content: { role: 'model', parts: [{ functionCall: { id: 'x', name: 'adk_request_confirmation' } }] },
        },
        {
          author: 'user',
          content: { role: 'user', parts: [{ functionResponse: { id: 'x', name: 'adk_request_confirmation' } }] },
        },
      ],
      ['user: go'],
    ],
    [
      'of ADK that ask users are left out, and what is said beside them stays',
      [
        says('user', 'go'),
        calls('ann', 'a'),
        {
          author: 'user',
          content: {
            role: 'user',
            parts: [
              { functionResponse: { id: 'x', name: 'adk_request_confirmation' } },
              ...(answers('ann', 'a').content?.parts ?? []),
            ],
          },
        },
      ],
      ['user: go', 'model: call a', 'user: result {"result":"of a"}'],
    ],
    [
      'lose ids that ADK made up',
      [says('user', 'go'), calls('ann', 'adk-1')],
      ['user: go', 'model: call ?', `user: ${NONE}`],
    ],
  ])('%s', (_title, events, expected) => {
    expect(linesOf(events)).toEqual(expected);
  });

  it('get ids that Anthropic takes, each one of its own', () => {
    const events = [says('user', 'go'), calls('ann', 'look.a:0', 'look_a:0', 'look_a_0'), answers('ann', 'look_a:0')];
    const [, made, answered] = toMessages(events, { format: 'anthropic' });
    const blocks = [...(made?.content ?? []), ...(answered?.content ?? [])];
    const ids = blocks.map((block) =>
      block.type === 'tool_use' ? block.id : 'tool_use_id' in block && block.tool_use_id,
    );
    expect(ids).toEqual(['look_a_0-2', 'look_a_0-3', 'look_a_0', 'look_a_0-2', 'look_a_0-3', 'look_a_0']);
    expect(blocks.map((block) => (block.type === 'tool_result' ? block.content : ''))).toEqual([
      '',
      '',
      '',
      '{"error":"No result: the call was not answered."}',
      'of look_a:0',
      '{"error":"No result: the call was not answered."}',
    ]);
  });

  it('get ids of their own if a model repeats them', () => {
    const turn = [says('user', 'go'), calls('ann', 'c'), answers('ann', 'c')];
    const messages = toMessages([...turn, ...turn], { format: 'openai' });
    const ids = messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []));
    expect(ids).toEqual(['c', 'c-2']);
  });
});

describe('Other agents', () => {
  const events: EventInput[] = [
    says('user', 'Write'),
    says('ann', 'I search'),
    {
      author: 'bob',
      content: {
        role: 'model',
        parts: [
          { text: 'secret', thought: true, thoughtSignature: 's' },
          { text: 'I think' },
          { functionCall: { id: 'b', name: 'look', args: { at: 1 } } },
        ],
      },
    },
    answers('bob', 'b'),
    says('ann', 'Done'),
  ];

  it('are told to an agent as messages of the user, without their thoughts', () => {
    expect(linesOf(events, { agent: 'ann' })).toEqual([
      'user: Write',
      'model: I search',
      'user: For context: | [bob] said: I think | [bob] called tool `look` with parameters: {"at":1} | For context: | [bob] tool `look` returned result: of b',
      'model: Done',
    ]);
  });

  it('are one without an agent', () => {
    expect(linesOf(events)).toEqual([
      'user: Write',
      'model: I search | secret | I think | call b',
      'user: result {"result":"of b"}',
      'model: Done',
    ]);
  });

  it('can answer the calls of an agent', () => {
    expect(linesOf([says('user', 'go'), calls('ann', 'a'), answers('bob', 'a')], { agent: 'ann' })).toEqual([
      'user: go',
      'model: call a',
      'user: result {"result":"of a"}',
    ]);
  });
});

describe('Branches', () => {
  const events = [
    says('user', 'all'),
    ...['root', 'root.a', 'root.ab', 'root.a.b', 'root.c'].map((branch) => says('ann', branch, { branch })),
  ];
  it.each<[Partial<ToMessagesOptions<'google'>>, string]>([
    [{}, 'all, root, root.a, root.ab, root.a.b, root.c'],
    [{ branch: 'root.a' }, 'all, root, root.a'],
    [{ branch: 'root.a.b' }, 'all, root, root.a, root.a.b'],
    [{ branch: 'root.a', branches: 'prefix' }, 'all, root, root.a'],
    [{ branch: 'root.a', branches: 'exact' }, '(Earlier messages are left out.), root.a'],
    [{ branch: 'root.a', branches: 'all' }, 'all, root, root.a, root.ab, root.a.b, root.c'],
    [{ branches: 'exact' }, 'all, root, root.a, root.ab, root.a.b, root.c'],
  ])('%j show %s', (options, expected) => {
    const contents = toMessages(events, { format: 'google', ...options });
    expect(contents.flatMap(({ parts }) => parts.map(({ text }) => text)).join(', ')).toBe(expected);
  });
});

describe('Thoughts', () => {
  const signed: EventInput = {
    author: 'ann',
    content: {
      role: 'model',
      parts: [
        { text: 'hm', thought: true, thoughtSignature: 's' },
        { text: 'Hi', thoughtSignature: 't' },
      ],
    },
  };

  it.each(['anthropic', 'google', 'ai-sdk'] as const)('keep their signature for %s, and can be left out', (format) => {
    expect(JSON.stringify(toMessages([signed], { format }))).toContain('"s"');
    const without = JSON.stringify(toMessages([signed], { format, thoughts: false }));
    expect(without).toContain('Hi');
    expect(without).not.toMatch(/hm|"s"|"t"/);
  });
});

describe('Messages of a session', () => {
  it('begin with its summary, in place of what it covers', async () => {
    const sessions = new InMemorySessionService();
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
    for (const event of [says('user', 'one'), says('ann', 'two')]) await sessions.appendEvent({ session, event });
    const summary = { ...says('system', 'They counted.'), actions: { compaction: { fromSeq: 1, toSeq: 2 } } };
    await sessions.appendEvent({ session, event: summary });
    await sessions.appendEvent({ session, event: says('user', 'three') });
    expect(toMessages(session, { format: 'openai' })).toEqual([
      { role: 'user', content: '[Previous Context Summary]:\nThey counted.' },
      { role: 'user', content: 'three' },
    ]);
  });

  it('leave the session as it was', async () => {
    const sessions = new InMemorySessionService();
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
    await sessions.appendEvent({ session, event: calls('ann', 'a') });
    const before = JSON.stringify(session.events);
    for (const format of ['openai', 'anthropic', 'google', 'ai-sdk'] as const) toMessages(session, { format });
    expect(JSON.stringify(session.events)).toBe(before);
  });

  it('are none without events', () => {
    for (const format of ['openai', 'anthropic', 'google', 'ai-sdk'] as const) {
      expect(toMessages([], { format, tokenBudget: 0 })).toEqual([]);
    }
  });

  it('refuse an unknown format and a budget that is no number', () => {
    expect(() => toMessages([], { format: 'toString' as 'openai' })).toThrow('options.format: must be one of openai');
    expect(() => toMessages([], { format: 'openai', tokenBudget: NaN })).toThrow('options.tokenBudget: must be');
  });
});

/** The messages that a budget leaves, if each part is a token. */
function kept(events: EventInput[], tokenBudget: number): string {
  const messages = toMessages(events, { format: 'google', tokenBudget, estimateTokens: ({ parts }) => parts.length });
  const words = messages.flatMap(({ parts }) =>
    parts.map(({ text, functionCall }) => text ?? (functionCall ? 'call' : 'result')),
  );
  return words.join(' ');
}

describe('A token budget', () => {
  const turn = (n: number): EventInput[] => [
    says('user', `u${n}`),
    calls('ann', `c${n}`),
    answers('ann', `c${n}`),
    says('ann', `m${n}`),
  ];
  const summary = { ...says('system', 'S'), actions: { compaction: { fromSeq: 1, toSeq: 2 } } };

  it.each([
    [8, 'u1 call result m1 u2 call result m2'],
    [7, 'u2 call result m2'],
    [4, 'u2 call result m2'],
    [3, 'u2 m2'],
    [0, 'u2 m2'],
  ])('of %i keeps %s', (budget, expected) => {
    expect(kept([...turn(1), ...turn(2)], budget)).toBe(expected);
  });

  it('keeps the summary', () => {
    expect(kept([summary, ...turn(1), ...turn(2)], 5)).toBe('[Previous Context Summary]:\nS u2 call result m2');
    expect(kept([summary, ...turn(1)], 0)).toBe('[Previous Context Summary]:\nS u1 m1');
  });

  it('keeps messages that begin the last turn together', () => {
    expect(kept([...turn(1), says('user', 'a'), says('user', 'b')], 0)).toBe('a b');
  });

  it('counts four characters for a token by default, and files without their data', () => {
    const file: EventInput = {
      author: 'user',
      content: { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'A'.repeat(100_000) } }] },
    };
    const events = [says('user', 'x'.repeat(400)), says('ann', 'y'), file];
    expect(toMessages(events, { format: 'ai-sdk', tokenBudget: 1_101 })).toHaveLength(3);
    expect(toMessages(events, { format: 'ai-sdk', tokenBudget: 1_100 })).toHaveLength(1);
  });
});
