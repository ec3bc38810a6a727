import { z } from 'zod';
import {
  type AgentContext,
  type ApprovalRequest,
  type RunHandler,
  type ToolContext,
  type ToolDefinition,
  type ToolOptions,
  type Tools,
  defineTool,
  describeTools,
} from '../../src/agents/index.js';
import { type EventInput } from '../../src/index.js';
import { type AgentApp, KEY, forEachTest } from './support/agent-app.js';
import { failureBy, inShort, text } from './support/handlers.js';

const REQUEST = { ...KEY, newMessage: 'hi', invocationId: 'i-1' };

function callsOf(...names: string[]): EventInput {
  return { content: { role: 'model', parts: names.map((name) => ({ functionCall: { id: name, name, args: {} } })) } };
}

/** An agent that calls these tools, and says what it read. */
function calling<Args>(
  tools: Tools<Args>,
  options: ToolOptions = {},
  calls = callsOf(...Object.keys(tools)),
): RunHandler {
  return async function* (context: AgentContext) {
    if (!context.isResumed) yield calls;
    if (context.openCalls.length > 0) yield await context.callTools(tools, options);
    yield text('done');
  };
}

const ask = async (_args: unknown, tool: ToolContext) => tool.requestApproval({ hint: 'Refund?' });

/** A tool that fails some times. */
function failing(times: number, error: unknown = new Error('no')) {
  let calls = 0;
  return (_args: unknown, tool: ToolContext): unknown => {
    tool.state.calls = tool.state.get('calls', 0) + 1;
    calls += 1;
    if (calls <= times) throw error;
    return { calls };
  };
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  const resolvers: (() => void)[] = [];
  const promise = new Promise<void>((resolve) => void resolvers.push(resolve));
  return { promise, resolve: () => resolvers[0]?.() };
}

async function lateApproval(_args: unknown, { signal }: ToolContext): Promise<ApprovalRequest> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ hint: 'Late?' })));
}

function isTypeError(error: unknown): boolean {
  return error instanceof TypeError;
}

describe('a tool that fails', () => {
  let app: AgentApp;
  forEachTest((given) => (app = given));

  /** What the tools answered, as the model reads it. */
  const responses = async () =>
    (await app.log()).flatMap(({ content }) =>
      (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse?.response ?? []),
    );
  const errors = () => app.errors.splice(0).map((error) => (error as Error).message);
  const run = async (handler: RunHandler) => app.agents.run(REQUEST, handler).result;

  it('tells the model, and the log of the server', async () => {
    const failure = new Error('The card was declined.');
    const { status } = await run(calling({ pay: failing(1, failure), fine: () => 'fine' }));
    expect([status, ...(await app.logInShort())]).toEqual([
      'completed',
      'user hi',
      'agent ?pay ?fine',
      'agent !pay !fine',
      'agent done',
    ]);
    expect(await responses()).toEqual([{ error: 'The card was declined.' }, { result: 'fine' }]);
    expect(app.errors).toMatchObject([{ name: 'ToolError', tool: 'pay', cause: failure }]);
    expect(errors()).toEqual(['The tool "pay" failed; the model is told: The card was declined.']);
    expect((await app.sessions.getSession(KEY))?.state.getAll()).toEqual({});
  });

  it('does not take the question of another tool with it', async () => {
    const handler = calling({
      pay: failing(1),
      ask: async (_args, tool) => ({ ...(await tool.requestApproval({ hint: 'Go on?' })) }),
    });
    expect((await run(handler)).status).toBe('waiting');
    const { approvals } = await app.agents.pendingApprovals({ appName: 'shop' });
    expect(approvals).toMatchObject([{ approvalId: 'ask@i-1', hint: 'Go on?' }]);
    const given = { ...KEY, approvalId: 'ask@i-1', answer: { confirmed: true } };
    expect((await app.agents.answerApproval(given, handler).result).status).toBe('completed');
    expect(await responses()).toEqual([{ error: 'no' }, { confirmed: true }, { confirmed: true }]);
    expect(errors()).toHaveLength(1);
  });

  it('to give what can be stored tells the model, once, and takes nothing with it', async () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const bad: Record<string, (tool: ToolContext) => unknown> = {
      nan: () => ({ score: Number.NaN }),
      function: () => () => 1,
      symbol: () => Symbol('no'),
      bigint: () => [1n],
      map: () => new Map(),
      cycle: () => cyclic,
      large: () => 'x'.repeat(2_000_000),
      getter: () => ({
        get broken() {
          throw new TypeError('no');
        },
      }),
      state: ({ state }) => void (state.price = Number.NaN),
      change: (tool) => tool.change('list', (list: string[] | undefined) => [...(list as string[]), 'no']),
    };
    for (const [name, wrong] of Object.entries(bad)) {
      const sessionId = `s-${name}`;
      let calls = 0;
      const handler = calling(
        {
          pay: (_args, { state }) => (state.paid = 5),
          ask: async (_args, tool) => (await tool.requestApproval()).confirmed,
          async wrong(_args, tool) {
            calls += 1;
            return wrong(tool);
          },
        },
        { retries: { times: 3, backoffMs: 0 } },
      );
      const { status } = await app.agents.run({ ...REQUEST, sessionId }, handler).result;
      const { events } = await app.sessions.listEvents({ ...KEY, sessionId });
      const given = new Map<string | undefined, unknown>(
        events.flatMap(({ content }) =>
          (content?.parts ?? []).map(({ functionResponse: each }) => [each?.id, each?.response] as const),
        ),
      );
      expect([name, status, calls, given.get('pay')]).toEqual([name, 'waiting', 1, { result: 5 }]);
      const problem = /^The tool "wrong" has run, but what it returned or changed cannot be stored: /;
      expect(given.get('wrong')).toEqual({ error: expect.stringMatching(problem) });
      expect(errors()).toHaveLength(1);
      const answer = { ...KEY, sessionId, approvalId: 'ask@i-1', answer: { confirmed: true } };
      const { status: end, session } = await app.agents.answerApproval(answer, handler).result;
      expect([name, end, session.state.getAll()]).toEqual([name, 'completed', { paid: 5 }]);
    }
  });

  it('to stay small tells the model, also if only all responses together are too large', async () => {
    const large = 'x'.repeat(600_000);
    const { status } = await run(calling({ one: () => large, two: () => large, pay: () => 'paid' }));
    const [first, second, third] = await responses();
    expect([status, first, third]).toEqual(['completed', { result: large }, { result: 'paid' }]);
    expect(second).toEqual({ error: expect.stringContaining('may have 1048576 bytes together') });
    expect(errors()).toHaveLength(1);
  });

  it('ends the run if its own message for the model cannot be stored, and others keep what they did', async () => {
    const failure = run(calling({ pay: () => 'paid', wrong: () => 1n }, { onError: () => Number.NaN }));
    await expect(failure).rejects.toMatchObject(failureBy({ name: 'ToolError', tool: 'wrong' }));
    expect((await responses())[0]).toEqual({ result: 'paid' });
    expect(errors()).toHaveLength(1);
  });

  it('with anything that can be thrown leaves a clean log', async () => {
    const unreadable = {
      get status() {
        throw new Error('no');
      },
    };
    for (const [index, thrown] of [Object.create(null), unreadable, Symbol('no'), undefined].entries()) {
      for (const onError of ['tell-model', 'fail'] as const) {
        const key = { ...KEY, sessionId: `s-${index}-${onError}` };
        const handler = calling({ pay: async () => Promise.reject(thrown as Error) }, { onError });
        await app.agents.run({ ...REQUEST, ...key }, handler).result.catch(() => undefined);
        const { events } = await app.sessions.listEvents(key);
        expect(inShort(events).slice(2)).toEqual(['agent !pay', onError === 'fail' ? 'agent - FAILED' : 'agent done']);
      }
    }
    expect(errors()).toHaveLength(4);
  });

  it('ends the run if it is to', async () => {
    await expect(run(calling({ pay: failing(1) }, { onError: 'fail' }))).rejects.toMatchObject(
      failureBy({ message: 'no' }),
    );
    expect((await app.logInShort()).at(-1)).toBe('agent - FAILED');
  });

  it('ends it with what the tools beside it have done, and without what they ask', async () => {
    const tools = { pay: failing(1), look: () => 'ok', ask };
    await expect(run(calling(tools, { onError: 'fail' }))).rejects.toMatchObject(failureBy({ message: 'no' }));
    expect((await responses())[0]).toEqual({ result: 'ok' });
    expect((await app.agents.pendingApprovals({ appName: KEY.appName })).approvals).toEqual([]);
  });

  it('may say itself what the model reads, and what changes', async () => {
    const pay = defineTool({
      onError(error, tool) {
        tool.state.failed = true;
        return { said: (error as Error).message };
      },
      run: failing(1),
    });
    const other = defineTool({
      onError: () => {
        throw new Error('enough');
      },
      run: failing(1),
    });
    await run(calling({ pay }, { onError: 'fail' }));
    expect(await responses()).toEqual([{ said: 'no' }]);
    expect((await app.sessions.getSession(KEY))?.state.getAll()).toEqual({ failed: true });
    expect(errors()).toHaveLength(1);
    const second = app.agents.run({ ...REQUEST, invocationId: 'i-2' }, calling({ other }));
    await expect(second.result).rejects.toMatchObject(failureBy({ message: 'enough' }));
    expect(errors()).toHaveLength(1);
  });

  it('is called again as often as it says, each time with the state that it began with', async () => {
    await run(calling({ pay: failing(2) }, { retries: { times: 2, backoffMs: 0 } }));
    expect(await responses()).toEqual([{ calls: 3 }]);
    expect((await app.sessions.getSession(KEY))?.state.getAll()).toEqual({ calls: 1 });
    expect(errors()).toEqual([
      'The tool "pay" failed, and is called again (1 of 2): no',
      'The tool "pay" failed, and is called again (2 of 2): no',
    ]);
  });

  it('is called again only after errors that may pass', async () => {
    await run(
      calling(
        { pay: failing(1), get: failing(1, new TypeError('later')) },
        { retries: { times: 1, backoffMs: 0, when: isTypeError } },
      ),
    );
    expect(await responses()).toEqual([{ error: 'no' }, { calls: 2 }]);
    expect(errors()).toHaveLength(2);
  });

  it('has so much time for each attempt, and no effect afterwards', async () => {
    const late: unknown[] = [];
    const { promise: ended, resolve: end } = withResolvers();
    const slow = async (_args: unknown, tool: ToolContext): Promise<void> => {
      await new Promise((resolve) => tool.signal.addEventListener('abort', resolve));
      tool.state.late = true;
      late.push(tool.signal.reason, await tool.requestApproval({ hint: 'Late?' }).catch((error: unknown) => error));
      end();
    };
    expect((await run(calling({ slow }, { timeoutMs: 1 }))).status).toBe('completed');
    await ended;
    expect(await responses()).toEqual([{ error: 'The tool did not answer within 1 ms.' }]);
    expect(late).toMatchObject([{ name: 'ToolTimeoutError' }, { name: 'ToolTimeoutError' }]);
    expect((await app.sessions.getSession(KEY))?.state.getAll()).toEqual({});
    expect((await app.agents.pendingApprovals({ appName: 'shop' })).approvals).toEqual([]);
    expect(errors()).toHaveLength(1);
  });

  it('has the same time for the check of its arguments, and to say what is to be approved', async () => {
    const checked = z.object({}).refine(async () => new Promise<boolean>(() => undefined));
    const ran = jest.fn();
    const tools = {
      check: defineTool({ input: checked, run: ran }),
      approve: defineTool({ approval: lateApproval, run: ran }),
    };
    expect((await run(calling(tools, { timeoutMs: 1 }))).status).toBe('completed');
    const late = { error: 'The tool did not answer within 1 ms.' };
    expect(await responses()).toEqual([late, late]);
    expect(ran).not.toHaveBeenCalled();
    expect((await app.agents.pendingApprovals({ appName: 'shop' })).approvals).toEqual([]);
    expect(errors()).toHaveLength(2);
  });

  it.each<ToolOptions>([{}, { retries: { times: 9, backoffMs: 10_000 } }, { timeoutMs: 10_000 }])(
    'does not keep a run that is stopped from its end: %j',
    async (options) => {
      let calls = 0;
      const pay = async (_args: unknown, { signal }: ToolContext): Promise<void> => {
        calls += 1;
        void app.agents.stop(KEY);
        if (!options.retries) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new Error('no');
      };
      expect((await run(calling({ pay }, options))).status).toBe('stopped');
      expect(calls).toBe(1);
      errors();
    },
  );

  it('still waits if it throws something else instead of the pending approval', async () => {
    const handler = calling(
      {
        async ask(_args, tool) {
          const { confirmed } = await tool.requestApproval({ hint: 'Go on?' }).catch((cause: unknown) => {
            throw new Error('wrapped', { cause });
          });
          return { confirmed };
        },
      },
      { retries: { times: 3 } },
    );
    expect((await run(handler)).status).toBe('waiting');
  });

  it('that is called with wrong arguments, or does not exist, tells the model, whatever happens otherwise', async () => {
    const order = defineTool({
      input: z.object({ order: z.string().min(2) }),
      run: ({ order: id }) => ({ found: id.toUpperCase() }),
    });
    const parts = [{ order: 'a7' }, { order: 7 }, undefined].map((args, index) => ({
      functionCall: { id: `c${index}`, name: 'order', ...(args && { args }) },
    }));
    const calls = { content: { role: 'model', parts: [...parts, { functionCall: { id: 'x', name: 'toString' } }] } };
    const options: ToolOptions = { onError: 'fail', retries: { times: 3 } };
    expect((await run(calling({ order }, options, calls))).status).toBe('completed');
    expect(await responses()).toEqual([
      { found: 'A7' },
      { error: expect.stringMatching(/^Wrong arguments: order: .*string/) as unknown },
      { error: expect.stringMatching(/^Wrong arguments: order: .*string/) as unknown },
      { error: 'There is no tool "toString".' },
    ]);
    expect(errors()).toHaveLength(3);
  });

  it('runs only after its approval, once for each question, and a refusal is the response', async () => {
    const refunded: string[] = [];
    const refund = defineTool({
      input: z.object({ order: z.string() }),
      approval: ({ order }) => (order === 'small' ? undefined : { hint: `Refund ${order}?` }),
      async run({ order }, tool) {
        const { confirmed, payload } = await tool.requestApproval({
          hint: 'How much?',
          schema: z.object({ amount: z.number() }),
        });
        if (confirmed) refunded.push(`${order} ${payload.amount.toFixed(1)}`);
        return { confirmed };
      },
    });
    const parts = ['a', 'b', 'small'].map((order) => ({
      functionCall: { id: order, name: 'refund', args: { order } },
    }));
    const handler = calling({ refund }, {}, { content: { role: 'model', parts } });
    await run(handler);
    const answer = async (id: string, confirmed: boolean) => {
      const given = { ...KEY, approvalId: `${id}@i-1`, answer: { confirmed, payload: { amount: 5 } } };
      return app.agents.answerApproval(given, handler).result;
    };
    await answer('a', false);
    await answer('b', true);
    await answer('b:2', true);
    expect((await answer('small', true)).status).toBe('completed');
    expect(refunded).toEqual(['b 5.0', 'small 5.0']);
    expect(await responses()).toContainEqual({ error: 'The user refused.' });
  });

  it('is described for models by its schema', () => {
    const tools = {
      refund: defineTool({ description: 'Refunds.', input: z.object({ order: z.string() }), run: () => undefined }),
      free: () => undefined,
    };
    expect(describeTools(tools)).toMatchObject([
      { name: 'refund', description: 'Refunds.', parameters: { type: 'object', required: ['order'] } },
      { name: 'free' },
    ]);
  });

  it.each<[ToolOptions, string]>([
    [{ timeoutMs: 0 }, 'tool.timeoutMs'],
    [{ retries: { times: 0.5 } }, 'tool.retries.times'],
    [{ retries: { times: 1, backoffMs: -1 } }, 'tool.retries.backoffMs'],
    [{ onError: 'ignore' as 'fail' }, 'tool.onError'],
  ])('cannot be told to %j', async (options, path) => {
    expect(() => defineTool({ ...options, run: () => undefined })).toThrow(expect.objectContaining({ path }) as Error);
    await expect(run(calling({ a: () => undefined }, options))).rejects.toMatchObject(failureBy({ path }));
    expect(() => defineTool({} as ToolDefinition)).toThrow('tool.run');
  });

  it('is no reason for warnings of Node, however many there are', async () => {
    const warnings: unknown[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const names = Array.from({ length: 12 }, (_, index) => `t${index}`);
    const tools = Object.fromEntries(names.map((name) => [name, failing(1)]));
    await run(calling(tools, { retries: { times: 1, backoffMs: 1 }, timeoutMs: 5_000 }));
    expect(await responses()).toHaveLength(12);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(errors()).toHaveLength(12);
  });

  it('leaves the log of a run as it is for the next one', async () => {
    const { events } = await run(calling({ pay: failing(9) }));
    expect(inShort(events)).toEqual(['agent ?pay', 'agent !pay', 'agent done']);
    const again = await run(calling({ pay: failing(9) }));
    expect(again.events).toEqual(events);
    expect(errors()).toHaveLength(1);
  });
});
