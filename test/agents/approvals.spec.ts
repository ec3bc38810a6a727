import type { OpenStorage } from '../../src/testing/open-storage.js';
import { z } from 'zod';
import {
  type AgentContext,
  AgentSessions,
  type ApprovalRequest,
  type PendingApproval,
  type RunHandler,
  type ToolContext,
} from '../../src/agents/index.js';
import { type EventInput, SessionService } from '../../src/index.js';
import { firstStore } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, echo, eventsOf, failureBy, inShort, text } from './support/handlers.js';

const AMOUNT: ApprovalRequest<{ amount: number }>['schema'] = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      const amount = (value as { amount?: unknown } | undefined)?.amount;
      if (typeof amount === 'number') return { value: { amount } };
      return { issues: [{ message: 'must be a number', path: ['amount'] }] };
    },
  },
};

/** What the agent reads each time it is called. */
const histories: string[][] = [];

/** The refunds that were made. */
const refunds: number[] = [];

const CALL: EventInput = {
  content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'refund', args: { order: 7 } } }] },
};

/** An agent with a tool that asks before it refunds. */
const support: RunHandler = async function* (context: AgentContext) {
  histories.push(inShort(context.history));
  if (!context.isResumed) yield CALL;
  yield await context.callTools({
    async refund(args, tool) {
      const { confirmed, payload } = await tool.requestApproval({ hint: `Refund order 7?`, schema: AMOUNT });
      if (!confirmed) return { error: 'refused' };
      refunds.push(payload?.amount ?? 0);
      tool.state.refunded = payload?.amount;
      return { refunded: args.order };
    },
  });
  yield text(`done ${context.messages.length}`);
};

const answer = (payload: unknown, confirmed = true) => ({
  ...KEY,
  approvalId: 'c1@i-1',
  answer: { confirmed, payload },
  schema: AMOUNT as never,
});

const ask = (name: string) => ({ functionCall: { id: name, name: 'ask', args: { name } } });

/** An agent that asks for several things. */
const asking: RunHandler = async function* (context) {
  const parts = [ask('a'), ask('b'), { functionCall: { id: 'f', name: 'free', args: {} } }];
  if (!context.isResumed) yield { content: { role: 'model', parts } };
  if (context.openCalls.length > 0) {
    yield await context.callTools({
      free: () => 'free',
      ask: async (_args, tool) => (await tool.requestApproval()).confirmed,
    });
  }
  const { confirmed } = await context.requestApproval({ id: 'last' });
  yield text(String(confirmed));
};

const failing: RunHandler = async function* (context) {
  if (context.isResumed) throw new Error('broken');
  yield* asking(context) as AsyncGenerator<EventInput, void, void>;
};

/** An agent that asks for `a` and `b`, and ends when it has one answer. */
function leaving(end: string): RunHandler {
  return async function* (context) {
    if (!context.isResumed) yield { content: { role: 'model', parts: [ask('a'), ask('b')] } };
    const asked = { ask: async (_args: unknown, tool: ToolContext) => (await tool.requestApproval()).confirmed };
    if (!context.isResumed) yield await context.callTools(asked);
    if (end === 'return') return { ...text('done'), actions: { metadataDelta: { title: 'left' } } };
    if (end === 'yield') yield text('done');
    return undefined;
  };
}

const asksMuch: RunHandler = async function* (context) {
  yield text('One moment');
  await context.requestApproval({ payload: 'p'.repeat(700) });
};

/** A tool that catches everything. */
async function askedBy(isStrict: boolean, tool: ToolContext): Promise<unknown> {
  try {
    return await tool.requestApproval(isStrict ? { schema: AMOUNT } : {});
  } catch {
    return { error: 'caught' };
  }
}

const catching: RunHandler = async function* (context) {
  if (!context.isResumed) yield { content: { role: 'model', parts: [ask('a'), ask('b')] } };
  const asked = { ask: (args: { name?: unknown }, tool: ToolContext) => askedBy(args.name === 'a', tool) };
  yield await context.callTools(asked);
  yield text('done');
};

describe.each(firstStore)('approvals on $name', ({ open }) => {
  let opened: OpenStorage;
  let one: AgentApp;
  let two: AgentApp;
  /** How often the second app tried to begin a turn. */
  let tries: number;

  beforeEach(async () => {
    opened = await open({});
    one = new AgentApp(opened.storage);
    tries = 0;
    two = new AgentApp(opened.storage);
    const { withTurn } = two.sessions;
    two.sessions.withTurn = async (...args) => {
      tries += 1;
      return withTurn.apply(two.sessions, args) as never;
    };
    refunds.length = 0;
    histories.length = 0;
  });

  afterEach(async () => {
    await one.close();
    await two.close();
    expect([...one.errors, ...two.errors]).toEqual([]);
    await opened.destroy();
  });

  const ASKED = ['user hi', 'agent ?c1', 'agent ?c1@i-1'];
  const request = { ...KEY, newMessage: 'hi', invocationId: 'i-1', agentName: 'agent' };
  const pending = async () => (await two.agents.pendingApprovals({ appName: 'shop', userId: 'ann' })).approvals;
  it('end the turn, are listed, and are answered once from another instance', async () => {
    const waiting = await one.agents.run(request, support).result;
    expect(waiting.status).toBe('waiting');
    expect(await one.logInShort()).toEqual(ASKED);
    expect((await one.log()).at(-1)).toMatchObject({
      longRunningToolIds: ['c1@i-1'],
      content: {
        parts: [
          {
            functionCall: {
              name: 'adk_request_confirmation',
              args: {
                originalFunctionCall: { id: 'c1', name: 'refund', args: { order: 7 } },
                toolConfirmation: { hint: 'Refund order 7?', confirmed: false },
              },
            },
          },
        ],
      },
    });
    expect(await one.sessions.getTurn(KEY)).toBeUndefined();
    const mark = { approvalId: 'c1@i-1', invocationId: 'i-1', agentName: 'agent', tool: 'refund', messageSeq: 1 };
    const call = { id: 'c1', name: 'refund', args: { order: 7 } };
    expect(await pending()).toEqual([{ ...KEY, ...mark, hint: 'Refund order 7?', call }]);
    expect((await two.agents.pendingApprovals({ appName: 'shop' })).approvals).toHaveLength(1);
    expect((await two.agents.pendingApprovals({ appName: 'shop', userId: 'bob' })).approvals).toEqual([]);

    const run = two.agents.answerApproval(answer({ amount: 5 }), support);
    expect(inShort(await eventsOf(run))).toEqual(['agent !c1', 'agent done 1']);
    const { status, invocationId, events, session } = await run.result;
    expect({ status, invocationId }).toEqual({ status: 'completed', invocationId: 'i-1' });
    expect(session.state.refunded).toBe(5);
    expect(refunds).toEqual([5]);
    expect(histories).toEqual([['user hi'], ['user hi', 'agent ?c1']]);
    expect(await one.logInShort()).toEqual([...ASKED, 'user !c1@i-1', 'agent !c1', 'agent done 1']);
    expect(await pending()).toEqual([]);
    expect((await one.sessions.getSession(KEY))?.metadata).toEqual({ fields: {}, labels: {}, tags: [] });

    const again = one.agents.answerApproval(answer({ amount: 5 }), support);
    expect(await eventsOf(again)).toEqual(events);
    expect(await again.result).toMatchObject({ status: 'completed' });
    const other = one.agents.answerApproval(answer({ amount: 6 }), support);
    await expect(other.result).rejects.toMatchObject({ code: 'APPROVAL_ANSWERED', seq: 4 });
    const unknown = one.agents.answerApproval({ ...answer({ amount: 5 }), approvalId: 'c2@i-1' }, support);
    await expect(unknown.result).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    expect(refunds).toEqual([5]);
    expect(await one.agents.run(request, support).result).toMatchObject({ status: 'completed' });
    expect(await one.log()).toHaveLength(6);
  });

  it('go on once if two instances answer at the same time', async () => {
    await one.agents.run(request, support).result;
    const answers = [1, 2].map((amount, index) =>
      (index ? one : two).agents.answerApproval(answer({ amount }), support).result.then(
        ({ status }) => status,
        (error: { code: string }) => error.code,
      ),
    );
    expect((await Promise.all(answers)).toSorted()).toEqual(['APPROVAL_ANSWERED', 'completed']);
    expect(refunds).toHaveLength(1);
  });

  it('refuse an answer that does not fit, and nothing is stored', async () => {
    await one.agents.run(request, support).result;
    const wrong = one.agents.answerApproval(answer({ amount: 'much' }), support);
    await expect(wrong.result).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'answer.payload.amount' });
    expect(await one.logInShort()).toEqual(ASKED);
    expect(await one.agents.answerApproval(answer(undefined, false), support).result).toMatchObject({
      status: 'completed',
    });
    expect(refunds).toEqual([]);
    expect(JSON.stringify((await one.log()).at(-2)?.content)).toContain('refused');
  });

  it('stay pending if only the tool knows the schema, and refuses the answer', async () => {
    const said: RunHandler = async function* (context) {
      if (context.isResumed) yield text('One moment');
      yield* support(context) as AsyncGenerator<EventInput, void, void>;
    };
    await one.agents.run(request, support).result;
    const before = await pending();
    for (const handler of [support, said]) {
      const wrong = two.agents.answerApproval({ ...answer({ amount: 'much' }), schema: undefined }, handler);
      await expect(wrong.result).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'answer.payload.amount' });
      expect(await pending()).toEqual(before);
      expect(await one.sessions.getTurn(KEY)).toBeUndefined();
    }
    expect(await one.logInShort()).toEqual([...ASKED, 'agent One moment', 'agent end']);
    expect(await one.agents.run(request, support).result).toMatchObject({ status: 'waiting' });
    const right = { ...answer({ amount: 5 }), schema: undefined };
    const { status, events } = await two.agents.answerApproval(right, support).result;
    expect([status, ...inShort(events)]).toEqual(['completed', 'agent !c1', 'agent done 1']);
    expect((await one.agents.answerApproval(right, support).result).events).toEqual(events);
    expect([refunds, await pending()]).toEqual([[5], []]);
    expect(two.errors.splice(0)).toMatchObject([{ name: 'EarlyAnswerWarning' }]);
  });

  it('stay pending if a tool catches what the refusal throws, and keep what the other tools have done', async () => {
    await one.agents.run(request, catching).result;
    const given = (id: string, payload: unknown) =>
      two.agents.answerApproval({ ...KEY, approvalId: `${id}@i-1`, answer: { confirmed: true, payload } }, catching);
    await expect(given('a', 1).result).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'answer.payload.amount' });
    expect((await pending()).map(({ approvalId }) => approvalId)).toEqual(['a@i-1', 'b@i-1']);
    expect(inShort((await given('b', 1).result).events)).toEqual(['agent !b', 'agent end']);
    expect(inShort((await given('a', { amount: 1 }).result).events)).toEqual(['agent !a', 'agent done']);
  });

  it('have ids that fit, however long those of the invocation and of the call are', async () => {
    const id = `call_${'😀'.repeat(40)}`;
    const long = { ...request, invocationId: 'i'.repeat(150) };
    const handler: RunHandler = async function* (context) {
      if (!context.isResumed) yield { content: { role: 'model', parts: [ask(id), ask(`${id}2`)] } };
      yield await context.callTools({ ask: async (_args, tool) => tool.requestApproval() });
    };
    expect(await one.agents.run(long, handler).result).toMatchObject({ status: 'waiting' });
    const ids = (await pending()).map(({ approvalId }) => approvalId);
    expect([ids.length, new Set(ids).size]).toEqual([2, 2]);
    for (const approvalId of ids) {
      expect(Buffer.byteLength(approvalId)).toBeLessThanOrEqual(170);
      const run = two.agents.answerApproval({ ...KEY, approvalId, answer: { confirmed: true } }, handler);
      expect((await run.result).events.length).toBeGreaterThan(0);
    }
    expect(await pending()).toEqual([]);
  });

  it('stay pending while other messages are answered', async () => {
    await one.agents.run(request, support).result;
    expect(await one.agents.run(request, support).result).toMatchObject({ status: 'waiting' });
    await two.agents.run({ ...KEY, newMessage: 'meanwhile' }, echo).result;
    expect(await one.logInShort()).toEqual([...ASKED, 'user meanwhile', 'agent echo: meanwhile']);
    const { events } = await one.agents.answerApproval(answer({ amount: 5 }), support).result;
    expect(inShort(events)).toEqual(['agent !c1', 'agent done 1']);
  });

  it('are not in a fork', async () => {
    await one.agents.run(request, support).result;
    const fork = await one.sessions.forkSession({ ...KEY, newSessionId: 's-2' });
    expect((await pending()).map(({ sessionId }) => sessionId)).toEqual(['s-1']);
    const ofFork = { ...answer({ amount: 5 }), sessionId: fork.id };
    await expect(one.agents.answerApproval(ofFork, support).result).rejects.toMatchObject({
      code: 'APPROVAL_NOT_FOUND',
    });
  });

  it('may be several, of tools and of the handler, answered one after the other', async () => {
    const { status, events } = await one.agents.run(request, asking).result;
    expect([status, ...inShort(events)]).toEqual(['waiting', 'agent ?a ?b ?f', 'agent !f', 'agent ?a@i-1 ?b@i-1']);
    const answers = [];
    for (const id of ['b', 'a', 'last']) {
      const given = { ...KEY, approvalId: `${id}@i-1`, answer: { confirmed: id !== 'b' } };
      const result = await two.agents.answerApproval(given, asking).result;
      answers.push([result.status, ...inShort(result.events)]);
    }
    expect(answers).toEqual([
      ['waiting', 'agent !b', 'agent end'],
      ['waiting', 'agent !a', 'agent ?last@i-1'],
      ['completed', 'agent true'],
    ]);
    expect(await pending()).toEqual([]);
  });

  it('count for one call, even if a later call has the same id', async () => {
    let steps = 0;
    const counting: RunHandler = async function* (context) {
      for (;;) {
        if (context.openCalls.length > 0) {
          yield await context.callTools({ ask: async (_args, tool) => (await tool.requestApproval()).confirmed });
        }
        if (++steps > 4) return;
        yield { content: { role: 'model', parts: [ask('c1')] } };
      }
    };
    await one.agents.run(request, counting).result;
    const first = { ...KEY, approvalId: 'c1@i-1', answer: { confirmed: true } };
    const { status, events } = await two.agents.answerApproval(first, counting).result;
    expect([status, ...inShort(events)]).toEqual(['waiting', 'agent !c1', 'agent ?c1', 'agent ?c1;2@i-1']);
    const second = { ...KEY, approvalId: 'c1;2@i-1', answer: { confirmed: false } };
    expect(inShort((await one.agents.answerApproval(second, counting).result).events)[0]).toBe('agent !c1');
  });

  it('count for one call, also of calls without id', async () => {
    const calls = ['a', 'b', 'a'].map((order) => ({ functionCall: { name: 'refund', args: { order } } }));
    const refunded: unknown[] = [];
    const handler: RunHandler = async function* (context) {
      if (!context.isResumed) yield { content: { role: 'model', parts: calls } };
      yield await context.callTools({
        async refund({ order }, tool) {
          const { confirmed } = await tool.requestApproval();
          if (confirmed) refunded.push(order);
          return { confirmed };
        },
      });
      yield text('done');
    };
    await one.agents.run(request, handler).result;
    for (const [order, confirmed] of [
      ['a', true],
      ['b', false],
      ['a', false],
    ] as const) {
      const approvalId = (await pending()).find(({ call }) => call?.args?.order === order)?.approvalId ?? '';
      await two.agents.answerApproval({ ...KEY, approvalId, answer: { confirmed } }, handler).result;
    }
    expect(refunded).toEqual(['a']);
    expect([await pending(), (await one.logInShort()).at(-1)]).toEqual([[], 'agent done']);
  });

  it('cannot be answered after their request was rewound', async () => {
    await one.agents.run(request, support).result;
    await one.sessions.rewindSession({ ...KEY, invocationId: 'i-1' });
    const late = two.agents.answerApproval(answer({ amount: 5 }), support);
    await expect(late.result).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    expect([refunds, await pending()]).toEqual([[], []]);
  });

  it('are no longer listed when their invocation failed', async () => {
    await one.agents.run(request, failing).result;
    expect((await pending()).map(({ approvalId }) => approvalId)).toEqual(['a@i-1', 'b@i-1']);
    const given = { ...KEY, approvalId: 'a@i-1', answer: { confirmed: true } };
    await expect(one.agents.answerApproval(given, failing).result).rejects.toMatchObject(
      failureBy({ message: 'broken' }),
    );
    expect(await pending()).toEqual([]);
  });

  it('are asked for again when their invocation failed and is tried again', async () => {
    let times = 0;
    const handler: RunHandler = async function* (context) {
      const asked = ['a', 'b'].map(async (id) => context.requestApproval({ id }));
      const answers = await Promise.allSettled(asked);
      if (++times === 2) throw new Error('broken');
      await Promise.all(asked);
      yield text(`${answers.length} answers`);
    };
    const given = { ...KEY, approvalId: 'a@i-1', answer: { confirmed: true } };
    await one.agents.run(request, handler).result;
    await expect(one.agents.answerApproval(given, handler).result).rejects.toMatchObject({ reason: 'FAULT' });
    expect(await two.agents.run({ ...request, retry: true }, handler).result).toMatchObject({ status: 'waiting' });
    expect((await pending()).map(({ approvalId }) => approvalId)).toEqual(['b@i-1']);
    expect(await one.agents.answerApproval({ ...given, approvalId: 'b@i-1' }, handler).result).toMatchObject({
      status: 'completed',
    });
    expect(await pending()).toEqual([]);
  });

  it('are no longer listed when their invocation ended without their answer', async () => {
    for (const [index, end] of ['yield', 'return', 'nothing'].entries()) {
      const invocationId = `i-${index}`;
      await one.agents.run({ ...request, invocationId }, leaving(end)).result;
      expect(await pending()).toHaveLength(2);
      const given = { ...KEY, approvalId: `a@${invocationId}`, answer: { confirmed: true } };
      expect(await two.agents.answerApproval(given, leaving(end)).result).toMatchObject({ status: 'completed' });
      expect(await pending()).toEqual([]);
      const late = two.agents.answerApproval({ ...given, approvalId: `b@${invocationId}` }, leaving(end));
      await expect(late.result).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    }
    expect(two.errors.splice(0)).toMatchObject([{ name: 'EarlyAnswerWarning' }, { name: 'EarlyAnswerWarning' }]);
    const titled = await two.sessions.getSession(KEY);
    expect(titled?.metadata).toMatchObject({ title: 'left', fields: {}, labels: {} });
  });

  it('stay pending when the request that answers them is stopped while it waits', async () => {
    await one.agents.run(request, support).result;
    const held = new HeldHandler();
    const run = one.agents.run({ ...KEY, newMessage: 'meanwhile' }, held.handler);
    await held.started;
    const stopping = new AbortController();
    const waiting = two.agents.answerApproval({ ...answer({ amount: 5 }), signal: stopping.signal }, support);
    await until(() => Promise.resolve(tries > 1));
    stopping.abort();
    const stopped = { status: 'stopped', invocationId: 'i-1', events: [] };
    expect(await waiting.result).toMatchObject(stopped);
    const aborted = two.agents.answerApproval({ ...answer({ amount: 5 }), signal: stopping.signal }, support);
    expect(await aborted.result).toMatchObject(stopped);
    held.release();
    await run.result;
    expect([refunds, (await pending()).length]).toEqual([[], 1]);
  });

  it('give the same result for the same answer, however long the log has become', async () => {
    await one.agents.run(request, support).result;
    const { events } = await one.agents.answerApproval(answer({ amount: 5 }), support).result;
    const later = Array.from({ length: 100 }, () => ({ author: 'system' }));
    const session = { id: KEY.sessionId, appName: KEY.appName, userId: KEY.userId };
    for (let batch = 0; batch < 11; batch++) await one.sessions.appendEvents({ session, events: later });
    expect((await two.agents.answerApproval(answer({ amount: 5 }), support).result).events).toEqual(events);
  });

  it('show all that they ask, however long it is, also after other messages', async () => {
    const hint = `${'h'.repeat(499)}😀`;
    const payload = { lines: Array.from({ length: 100 }, (_, line) => `line ${line}`.repeat(20)) };
    const schema = z.object({ amount: z.number() });
    const hinting: RunHandler = async function* (context) {
      if (!context.isResumed) yield { content: { role: 'model', parts: [ask('a')] } };
      await context.callTools({ ask: async (_args, tool) => tool.requestApproval({ hint, payload, schema }) });
    };
    expect((await one.agents.run(request, hinting).result).status).toBe('waiting');
    for (let times = 0; times < 30; times++) await two.agents.run({ ...KEY, newMessage: 'meanwhile' }, echo).result;
    expect(await pending()).toMatchObject([
      {
        hint,
        payload,
        schema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
        call: { id: 'a', name: 'ask', args: { name: 'a' } },
      },
    ]);
  });

  it('are listed page by page if they are large, and without a call if the handler asks', async () => {
    const small = new SessionService({ storage: opened.storage, limits: { maxPageBytes: 1_000 } });
    const agents = new AgentSessions({ sessions: small });
    for (const sessionId of ['s-1', 's-2', 's-3']) await agents.run({ ...request, sessionId }, asksMuch).result;
    const seen: (readonly PendingApproval[])[] = [];
    let cursor: string | undefined;
    do {
      const page = await agents.pendingApprovals({ appName: 'shop', userId: 'ann', cursor });
      seen.push(page.approvals);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen.map(({ length }) => length)).toEqual([1, 1, 1]);
    expect(new Set(seen.flat().map(({ sessionId }) => sessionId)).size).toBe(3);
    expect(seen.flat().every(({ payload, call }) => payload === 'p'.repeat(700) && call === undefined)).toBe(true);
    await agents.close();
    await small.finish();
  });
});
