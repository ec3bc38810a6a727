import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { type AgentContext, type RunHandler, agentLoop, defineTool } from '../../src/agents/index.js';
import { type EventInput, InMemorySessionStorage } from '../../src/index.js';
import { ScriptedModel } from '../../src/testing/index.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { failureBy, inShort, partial, text } from './support/handlers.js';

const REQUEST = { ...KEY, newMessage: 'hi', invocationId: 'i-1', agentName: 'root' };
const REFUND = { calls: [{ id: 'c1', name: 'refund', args: { order: '7' } }] };

/** What was refunded. */
const refunded: string[] = [];

const refund = defineTool({
  input: z.object({ order: z.string() }),
  approval: ({ order }) => ({ hint: `Refund ${order}?` }),
  run: ({ order }) => {
    refunded.push(order);
    return { refunded: order };
  },
});
const wrong: RunHandler = async function* (context) {
  if (context.isResumed) yield partial('The refund ');
  yield context.isResumed
    ? text('The refund is done.')
    : { content: { role: 'model', parts: [call('c1'), call('c2')] } };
  while (context.openCalls.length > 0) yield await context.callTools({ refund });
};

function pay(): never {
  throw new Error('declined');
}

describe('the loop of an agent', () => {
  let app: AgentApp;
  beforeEach(() => {
    app = new AgentApp(new InMemorySessionStorage());
    refunded.length = 0;
  });

  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
  });

  const answer = async (handler: RunHandler) =>
    app.agents.answerApproval({ ...KEY, approvalId: 'c1@i-1', answer: { confirmed: true } }, handler).result;

  it('asks, runs tools, and asks again until nothing is called', async () => {
    const model = new ScriptedModel([
      { calls: [{ name: 'time' }, { name: 'time' }] },
      { calls: [{ name: 'time' }] },
      'It is late.',
    ]);
    const loop = agentLoop({ model: ({ history }) => model.ask(history), tools: { time: () => 12 } });
    await app.agents.run(REQUEST, loop).result;
    expect(await app.logInShort()).toEqual([
      'user hi',
      'root ?call-1 ?call-2',
      'root !call-1 !call-2',
      'root ?call-3',
      'root !call-3',
      'root It is late.',
    ]);
    expect(model.left).toBe(0);
  });

  it('runs the tool first after an approval, asks the model once, and says nothing before', async () => {
    const model = new ScriptedModel([REFUND, 'The refund is done.']);
    const loop = agentLoop({ model: ({ history }) => model.ask(history), tools: { refund } });
    expect((await app.agents.run(REQUEST, loop).result).status).toBe('waiting');
    expect(model.left).toBe(1);
    const { status, events } = await answer(loop);
    expect([status, ...inShort(events)]).toEqual(['completed', 'root !c1', 'root The refund is done.']);
    expect([refunded, model.left]).toEqual([['7'], 0]);
  });

  it('does not run a tool whose arguments were redacted while it waited, and tells the model', async () => {
    const model = new ScriptedModel([{ calls: [{ id: 'c1', name: 'pay', args: { amount: 7 } }] }, 'I ask again.']);
    const paid: unknown[] = [];
    const tools = {
      pay: defineTool({
        approval: () => ({ hint: 'Pay?' }),
        run: (args) => void paid.push(args),
      }),
    };
    const loop = agentLoop({ model: ({ history }) => model.ask(history), tools });
    await app.agents.run(REQUEST, loop).result;
    await app.sessions.redactEvent({ ...KEY, seq: 2, reason: 'a card number' });
    const { status, events } = await answer(loop);
    expect([status, ...inShort(events)]).toEqual(['completed', 'root !c1', 'root I ask again.', 'root end']);
    expect(JSON.stringify(events[0])).toContain('arguments of this call were redacted');
    expect(paid).toEqual([]);
    expect(app.errors.splice(0)).toMatchObject([{ name: 'ToolError', tool: 'pay' }]);
  });

  it.each([
    ['at once', new InMemorySessionStorage()],
    ['late', lateReads(new InMemorySessionStorage())],
  ])('takes a stream, and what came with merge in between, if the store answers %s', async (_when, storage) => {
    app = new AgentApp(storage);
    const model = new ScriptedModel([{ calls: [{ name: 'wait' }] }, 'Two words']);
    const { promise, resolve } = withResolver();
    const loop = agentLoop({
      model: ({ history, signal }) => model.stream(history, { signal }),
      tools: { wait: () => promise },
    });
    const run = app.agents.run(REQUEST, loop);
    const seen: string[] = [];
    for await (const event of run) {
      seen.push(...inShort([event]));
      if (seen.length > 1) continue;
      const joined = app.agents.run({ ...KEY, newMessage: 'more', invocationId: 'i-2', policy: 'merge' }, loop);
      await joinedIn(app);
      resolve();
      void joined.result;
    }
    expect(seen).toEqual(['root ?call-1', 'root !call-1', 'root Two ', 'root words', 'root Two words']);
    expect((await app.logInShort()).filter((line) => !line.includes('queued'))).toEqual([
      'user hi',
      'root ?call-1',
      'root !call-1',
      'user more',
      'root Two words',
    ]);
  });

  it('works for an agent in the run of another one', async () => {
    const model = new ScriptedModel([{ calls: [{ name: 'search' }] }, 'found it']);
    const researcher = agentLoop({ model: ({ history }) => model.ask(history), tools: { search: () => 'x' } });
    await app.agents.run(REQUEST, async function* (context: AgentContext) {
      yield* researcher(context.as('researcher', 'root.researcher'));
      yield text('done');
    }).result;
    expect(await app.logInShort()).toEqual([
      'user hi',
      'researcher ?call-1',
      'researcher !call-1',
      'researcher found it',
      'root done',
    ]);
    expect((await app.log()).map(({ branch }) => branch).slice(1, 4)).toEqual(Array(3).fill('root.researcher'));
  });

  it('ends where a tool says that nothing is to follow', async () => {
    const model = new ScriptedModel([{ calls: [{ name: 'show' }] }]);
    const show = defineTool({
      run(_args, { actions }) {
        actions.skipSummarization = true;
        return 'shown';
      },
    });
    await app.agents.run(REQUEST, agentLoop({ model: async () => model.ask([]), tools: { show } })).result;
    expect((await app.logInShort()).at(-1)).toBe('root !call-1');
  });

  it('has an end, also if the model always calls tools', async () => {
    let calls = 0;
    const model = (): EventInput => {
      calls += 1;
      return { content: { role: 'model', parts: [{ functionCall: { id: `c${calls}`, name: 'again' } }] } };
    };
    const run = app.agents.run(REQUEST, agentLoop({ model, tools: { again: () => 'again' }, maxSteps: 3 }));
    await expect(run.result).rejects.toMatchObject(failureBy({ message: expect.stringContaining('maxSteps') }));
    expect(calls).toBe(3);
  });

  it.each<[string, () => unknown, string]>([
    ['a text', () => 'The answer is 42.', 'model.return: is string, and no event'],
    ['a promise of a text', async () => 'The answer is 42.', 'model.return: is string, and no event'],
    ['a number', () => 42, 'model.return: is number, and no event'],
    ['an array', () => [text('42')], 'model.return: is an array, and no event'],
    ['nothing', () => undefined, 'model.return: is undefined, and no event'],
    ['null', () => null, 'model.return: is null, and no event'],
    ['a stream of texts', () => streamOf(['The ', 'answer']), 'model.yield: is string, and no event'],
    ['a promise of a stream', async () => streamOf([text('42')]), 'model.return: is an iterable, and no event'],
    ['what a function* makes', () => [text('42')].values(), 'model.return: is an iterable, and no event'],
  ])('fails if the model gives %s, and stores nothing of it', async (_, model, message) => {
    const run = app.agents.run(REQUEST, agentLoop({ model: model as () => EventInput }));
    await expect(run.result).rejects.toMatchObject(failureBy({ message: expect.stringContaining(message) }));
    expect(await app.logInShort()).toEqual(['user hi', 'root - FAILED']);
  });

  it.each<[object, string]>([
    [{ maxSteps: 0 }, 'maxSteps: must be a whole number from 1'],
    [{ maxSteps: -1 }, 'maxSteps: must be a whole number from 1'],
    [{ maxSteps: Number.NaN }, 'maxSteps: must be a whole number from 1'],
    [{ maxSteps: '5' }, 'maxSteps: must be a whole number from 1'],
    [{ maxStep: 5 }, 'did you mean maxSteps?'],
    [{ timeoutMs: 0 }, 'timeoutMs: must be an integer from 1'],
    [{ model: 'gpt' }, 'model: must be a function'],
  ])('refuses %j when it is made', (options, message) => {
    expect(() => agentLoop({ model: () => text('hi'), ...options })).toThrow(message);
  });

  it('passes on what happens when tools fail', async () => {
    const model = new ScriptedModel([{ calls: [{ name: 'pay' }] }]);
    const loop = agentLoop({ model: () => model.ask([]), tools: { pay }, onError: 'fail' });
    await expect(app.agents.run(REQUEST, loop).result).rejects.toMatchObject(
      failureBy({ message: expect.stringContaining('declined') }),
    );
  });

  it('is missed by a handler that asks its model first when it is called again: the log of the server says so once', async () => {
    await app.agents.run(REQUEST, wrong).result;
    await answer(wrong);
    await app.agents.answerApproval({ ...KEY, approvalId: 'c2@i-1', answer: { confirmed: false } }, wrong).result;
    const warnings = app.errors.splice(0);
    expect(warnings).toHaveLength(1);
    expect(warnings).toMatchObject([
      { name: 'EarlyAnswerWarning', message: expect.stringContaining('"refund"') as unknown },
    ]);
  });
});

function call(id: string) {
  return { functionCall: { id, name: 'refund', args: { order: id } } };
}

async function* streamOf(given: readonly unknown[]): AsyncGenerator {
  yield* given;
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  const resolvers: (() => void)[] = [];
  return { promise: new Promise<void>((done) => void resolvers.push(done)), resolve: () => resolvers[0]?.() };
}

/** The store, whose reads take a turn of the event loop. */
function lateReads(storage: InMemorySessionStorage): InMemorySessionStorage {
  const read = storage.read.bind(storage);
  storage.read = async (request) => {
    await setImmediate();
    return read(request);
  };
  return storage;
}

/** Waits until the message is in the log. */
async function joinedIn(app: AgentApp): Promise<void> {
  for await (const event of app.sessions.watch({ ...KEY, afterSeq: 0 })) if (event.actions.queued) return;
}
