import { AsyncResource } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import type { AgentContext, AgentRun, RunHandler, RunRequest } from '../../src/agents/index.js';
import { AgentsClosingError, agentLoop } from '../../src/agents/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { ScriptedModel } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, call, echo, eventsOf, inShort, partial, response, text } from './support/handlers.js';

const FIRST = { ...KEY, newMessage: 'first', invocationId: 'i-1' } as const;
const SECOND = { ...KEY, newMessage: 'second', invocationId: 'i-2', policy: 'enqueue' } as const;
const HANDED_OVER = { code: 'AGENTS_CLOSING', status: 503, invocationId: 'i-1' };

/** Says whether it goes on with something. */
const goingOn: RunHandler = async function* (context) {
  await Promise.resolve();
  yield text(`${context.isResumed ? 'resumed' : 'begun'}: ${context.message.parts?.[0]?.text ?? ''}`);
};

const finding: RunHandler = async function* () {
  yield text('found');
};

/** Is held before it reads the answer, or not at all. */
const asking = (held?: HeldHandler): RunHandler =>
  async function* (context) {
    if (!context.isResumed) yield call('c1');
    if (context.isResumed) yield* held?.handler(context) ?? [];
    const { confirmed } = await context.requestApproval({ id: 'sure' });
    if (context.openCalls.length > 0) yield response('c1');
    yield text(`confirmed ${confirmed}`);
  };

/** Waits in a tool. */
async function released(held: HeldHandler): Promise<void> {
  const events = held.handler({} as AgentContext);
  await events[Symbol.asyncIterator]().next();
}

describe.each(storeOfEachKind)('agents that close on $name', ({ open }) => {
  let opened: OpenStorage;
  let closing: AgentApp;
  let next: AgentApp;

  beforeEach(async () => {
    opened = await open({});
    closing = new AgentApp(opened.storage);
    next = new AgentApp(opened.storage, { graceMs: 100 });
  });

  afterEach(async () => {
    await closing.close();
    await next.close();
    expect([...closing.errors, ...next.errors]).toEqual([]);
    await opened.destroy();
  });

  const said = async () => (await next.logInShort()).filter((event) => event !== 'system withdrawn');
  const queued = async () =>
    Object.keys((await next.sessions.getSession(KEY))?.metadata.fields ?? {}).map((name) =>
      name.replace(/^agents:(queued|handedOver):/, ''),
    );

  /** A run at work, which the closing instance hands over. */
  async function handOver(held: HeldHandler, request: RunRequest = FIRST): Promise<void> {
    const run = closing.agents.run(request, held.handler);
    await held.started;
    await closing.agents.close();
    await expect(run.result).rejects.toMatchObject({ code: 'AGENTS_CLOSING' });
    await expect(eventsOf(run)).rejects.toBeInstanceOf(AgentsClosingError);
  }

  it('let runs finish, and begin no others', async () => {
    const held = new HeldHandler();
    const run = closing.agents.run(FIRST, held.handler);
    await held.started;
    const closed = closing.agents.close({ drainMs: 60_000 });
    const refused = closing.agents.run({ ...KEY, sessionId: 's-2', newMessage: 'new', invocationId: 'i-2' }, echo);
    await expect(refused.result).rejects.toMatchObject({ ...HANDED_OVER, invocationId: 'i-2' });
    expect(await next.sessions.getSession({ ...KEY, sessionId: 's-2' })).toBeUndefined();
    expect(held.context?.signal.aborted).toBe(false);
    held.release();
    await closed;
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(await said()).toEqual(['user first', 'agent done']);
  });

  it('hand over what is still at work', async () => {
    const held = new HeldHandler([call('c1'), response('c1'), call('c2')]);
    await handOver(held);
    expect(held.context?.signal.reason).toMatchObject({ name: 'AbortError', why: 'handed over' });
    const before = ['user first', 'agent ?c1', 'agent !c1', 'agent ?c2', 'system handed over'];
    expect(await next.logInShort()).toEqual(before);
    expect(await next.sessions.getTurn(KEY)).toBeUndefined();
    held.release();

    const again = next.agents.run(FIRST, goingOn);
    expect(inShort(await eventsOf(again))).toEqual([
      'agent ?c1',
      'agent !c1',
      'agent ?c2',
      'agent !c2',
      'agent resumed: first',
    ]);
    expect(await again.result).toMatchObject({ status: 'completed', invocationId: 'i-1' });
    expect(await said()).toEqual([...before, 'agent !c2', 'agent resumed: first']);
    expect(await queued()).toEqual([]);
    const { events } = await next.agents.run(FIRST, echo).result;
    expect(inShort(events).at(-1)).toBe('agent resumed: first');
  });

  it('keep what tools have done, and no state of what is done anew', async () => {
    let calls = 0;
    const held = new HeldHandler();
    const refund: RunHandler = async function* (context) {
      if (!context.isResumed) yield call('c1', 'refund');
      context.state.tries = context.state.get('tries', 0) + 1;
      if (context.openCalls.length > 0) {
        const done = await context.callTools({
          refund: (_args, tool) => {
            calls += 1;
            tool.state.refunds = tool.state.get('refunds', 0) + 1;
            return {};
          },
        });
        if (calls === 1) yield* held.handler(context);
        yield done;
      }
      yield text('Refunded');
    };
    const run = closing.agents.run(FIRST, refund);
    await held.started;
    await closing.agents.close();
    await expect(run.result).rejects.toMatchObject(HANDED_OVER);
    const { session } = await next.agents.run(FIRST, refund).result;
    expect([calls, session.state.toRecord()]).toEqual([1, { tries: 1, refunds: 1 }]);
    expect(await said()).toEqual(['user first', 'agent ?c1', 'agent !c1', 'system handed over', 'agent Refunded']);
  });

  it('show each character once, in every process', async () => {
    const page: string[] = [];
    await next.sessions.createSession(KEY);
    const leaving = new AbortController();
    const watching = (async () => {
      for await (const event of next.sessions.watch({ ...KEY, partials: true, signal: leaving.signal })) {
        if (event.partial) page.push(event.content?.parts?.[0]?.text ?? '');
        else if (event.actions.discarded) page.length = 0;
        else if (event.author === 'agent') page.splice(0, page.length, event.content?.parts?.[0]?.text ?? '');
      }
    })();
    const held = new HeldHandler([partial('It is ')]);
    const run = closing.agents.run(FIRST, held.handler);
    await held.started;
    await until(() => page.join('') === 'It is ');
    await closing.agents.close();
    await expect(run.result).rejects.toMatchObject(HANDED_OVER);
    await until(() => page.length === 0);
    const again = new HeldHandler([partial('It is '), partial('sunny')], [text('It is sunny')]);
    const resumed = next.agents.run(FIRST, again.handler);
    await until(() => page.join('') === 'It is sunny');
    again.release();
    await resumed.result;
    await until(() => page.length === 1);
    leaving.abort();
    await watching;
    expect(page).toEqual(['It is sunny']);
    expect(await said()).toEqual(['user first', 'agent discarded', 'system handed over', 'agent It is sunny']);
  });

  it.each(['agentLoop', 'handler'])('let runs that others begin finish, with %s', async (kind) => {
    const held = new HeldHandler([], []);
    const sub = { ...KEY, sessionId: 's-sub', newMessage: 'sub', policy: 'enqueue' } as const;
    const ask = async () => inShort((await closing.agents.run(sub, echo).result).events).join();
    const handler: RunHandler = async function* (context) {
      yield* held.handler(context);
      yield text(await ask());
    };
    const model = new ScriptedModel([{ calls: [{ id: 'c1', name: 'sub', args: {} }] }, 'done']);
    const tools = {
      sub: async () => {
        await released(held);
        return { said: await ask() };
      },
    };
    const loop = agentLoop({ model: ({ history }) => model.ask(history), tools });
    const run = closing.agents.run(FIRST, kind === 'handler' ? handler : loop);
    await held.started;
    const closed = closing.agents.close({ drainMs: 60_000 });
    held.release();
    expect(await run.result).toMatchObject({ status: 'completed' });
    await closed;
    expect(JSON.stringify(await next.log())).toContain('agent echo: sub');
  });

  it('wait for runs that others begin, without these', async () => {
    const [outer, inner] = [new HeldHandler([], []), new HeldHandler()];
    let begun: AgentRun | undefined;
    const run = closing.agents.run(FIRST, async function* (context) {
      yield* outer.handler(context);
      begun = closing.agents.run({ ...KEY, sessionId: 's-sub', newMessage: 'sub' }, inner.handler);
    });
    await outer.started;
    const closed = closing.agents.close({ drainMs: 60_000 });
    outer.release();
    await Promise.all([run.result, inner.started]);
    expect(await Promise.race([closed.then(() => 'closed'), setImmediate('open')])).toBe('open');
    inner.release();
    await closed;
    expect(await begun?.result).toMatchObject({ status: 'completed' });
  });

  it.each(['agentLoop', 'handler'])('hand over what meets an agent that closes, with %s', async (kind) => {
    const held = new HeldHandler([], []);
    // As a queue of the app begins runs.
    const begin = AsyncResource.bind(() => closing.agents.run({ ...KEY, sessionId: 's-sub', newMessage: 'sub' }, echo));
    const handler: RunHandler = async function* (context) {
      yield* held.handler(context);
      yield* (await begin().result).events;
    };
    const model = new ScriptedModel([{ calls: [{ id: 'c1', name: 'sub', args: {} }] }, 'Sorry.']);
    const tools = {
      sub: async () => {
        await released(held);
        return begin().result;
      },
    };
    const loop = agentLoop({ model: ({ history }) => model.ask(history), tools });
    const run = closing.agents.run(FIRST, kind === 'handler' ? handler : loop);
    await held.started;
    const closed = closing.agents.close({ drainMs: 60_000 });
    held.release();
    await expect(run.result).rejects.toMatchObject(HANDED_OVER);
    await closed;
    expect((await said()).at(-1)).toBe('system handed over');
    expect(closing.failures).toEqual([]);
    expect(await next.agents.run(FIRST, goingOn).result).toMatchObject({ status: 'completed' });
  });

  it('leave waiting messages in the queue, behind what is handed over', async () => {
    const held = new HeldHandler();
    const run = closing.agents.run(FIRST, held.handler);
    await held.started;
    const waiting = closing.agents.run(SECOND, echo);
    await until(async () => (await queued()).length === 1);
    const closed = closing.agents.close({ drainMs: 60_000 });
    // At once, so that its caller can go elsewhere.
    await expect(waiting.result).rejects.toMatchObject({ ...HANDED_OVER, invocationId: 'i-2' });
    await closing.agents.close();
    await closed;
    await expect(run.result).rejects.toMatchObject(HANDED_OVER);
    expect((await queued()).toSorted()).toEqual(['i-1', 'i-2']);

    // Nobody sends them again.
    await next.agents.run({ ...KEY, newMessage: 'third' }, goingOn).result;
    expect(await said()).toEqual([
      'user first',
      'system queued',
      'system handed over',
      'agent resumed: first',
      'user second',
      'agent begun: second',
      'user third',
      'agent begun: third',
    ]);
    expect(await queued()).toEqual([]);
  });

  it.each(['i-1', 'i-2'])('have every message answered once when %s is sent again first', async (first) => {
    const held = new HeldHandler();
    const run = closing.agents.run({ ...FIRST, policy: 'enqueue' }, held.handler);
    await held.started;
    const waiting = closing.agents.run(SECOND, echo);
    await until(async () => (await queued()).length === 1);
    await closing.agents.close();
    await Promise.allSettled([run.result, waiting.result]);
    const requests = [{ ...FIRST, policy: 'enqueue' } as const, SECOND];
    if (first === 'i-2') requests.reverse();
    const runs = requests.map((request) => next.agents.run(request, goingOn));
    for (const { result } of runs) expect(await result).toMatchObject({ status: 'completed' });
    const answers = (await said()).filter((event) => event.startsWith('agent'));
    expect(answers).toEqual(['agent resumed: first', 'agent begun: second']);
  });

  it('are followed by an instance where another message, or the same one, waits', async () => {
    const held = new HeldHandler();
    const run = closing.agents.run(FIRST, held.handler);
    await held.started;
    const waiting = next.agents.run(SECOND, goingOn);
    await until(async () => (await queued()).length === 1);
    await closing.agents.close();
    await expect(run.result).rejects.toMatchObject(HANDED_OVER);
    expect(await waiting.result).toMatchObject({ status: 'completed' });
    expect((await said()).slice(2)).toEqual([
      'system handed over',
      'agent resumed: first',
      'user second',
      'agent begun: second',
    ]);

    const other = new AgentApp(opened.storage);
    const again = new HeldHandler();
    const third = { ...KEY, newMessage: 'third', invocationId: 'i-3' };
    const running = next.agents.run(third, again.handler);
    await again.started;
    const following = other.agents.run(third, goingOn);
    await until(async () => (await next.agents.close(), true));
    await expect(running.result).rejects.toMatchObject({ code: 'AGENTS_CLOSING' });
    expect(await following.result).toMatchObject({ status: 'completed' });
    expect((await said()).slice(-2)).toEqual(['system handed over', 'agent resumed: third']);
    await other.close();
  });

  it('may hand the same run over again and again', async () => {
    await handOver(new HeldHandler([call('c1')]));
    const other = new AgentApp(opened.storage);
    const again = new HeldHandler([call('c2')]);
    const run = other.agents.run(FIRST, again.handler);
    await again.started;
    await other.close();
    await expect(run.result).rejects.toMatchObject(HANDED_OVER);
    await next.agents.run({ ...KEY, newMessage: 'third' }, goingOn).result;
    expect(await said()).toEqual([
      'user first',
      'agent ?c1',
      'system handed over',
      'agent !c1',
      'agent ?c2',
      'system handed over',
      'agent !c2',
      'agent resumed: first',
      'user third',
      'agent begun: third',
    ]);
  });

  it('leave stopped what a user stops', async () => {
    const held = new HeldHandler([call('c1')]);
    const run = closing.agents.run(FIRST, held.handler);
    await held.started;
    const leaving = new AbortController();
    const waiting = closing.agents.run({ ...SECOND, signal: leaving.signal }, echo);
    await until(async () => (await queued()).length === 1);
    leaving.abort();
    expect(await waiting.result).toMatchObject({ status: 'stopped' });
    const closed = closing.agents.close({ drainMs: 60_000 });
    expect(await next.agents.stop(KEY)).toBe(true);
    await closed;
    expect(await run.result).toMatchObject({ status: 'stopped' });
    expect((await said()).slice(-2)).toEqual(['agent !c1', 'agent - STOPPED']);
    for (const request of [FIRST, SECOND]) {
      expect(await next.agents.run(request, echo).result).toMatchObject({ status: 'stopped' });
    }
  });

  it.each([false, true])('leave stopped what a user stops in the same moment (retry: %s)', async (retry) => {
    const append: SessionStorage['append'] = async (commit) => {
      if (JSON.stringify(commit.events).includes('handedOver')) expect(await next.agents.stop(KEY)).toBe(true);
      return opened.storage.append(commit);
    };
    const other = new AgentApp(
      new Proxy(opened.storage, {
        get(target, name) {
          const value: unknown = name === 'append' ? append : Reflect.get(target, name, target);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      }),
    );
    const held = new HeldHandler([call('c1')]);
    const run = other.agents.run(FIRST, held.handler);
    await held.started;
    await other.close();
    await expect(run.result).rejects.toMatchObject(HANDED_OVER);
    expect(await next.agents.run({ ...FIRST, retry }, echo).result).toMatchObject({ status: 'stopped' });
    expect((await said()).slice(2)).toEqual(['system stop', 'system handed over', 'agent !c1', 'agent - STOPPED']);
  });

  it.each([{}, { invocationId: 'i-1' }])('have runs that a user may stop when they are handed over: %o', async (id) => {
    await handOver(new HeldHandler([call('c1')]));
    expect(await next.agents.stop({ ...KEY, ...id })).toBe(true);
    const log = ['user first', 'agent ?c1', 'system handed over', 'agent !c1', 'agent - STOPPED'];
    expect(await said()).toEqual(log);
    expect(await next.agents.run(FIRST, echo).result).toMatchObject({ status: 'stopped' });
    expect(await said()).toEqual(log);
    expect(await next.agents.stop({ ...KEY, ...id })).toBe(false);
  });

  it('have runs that a message may interrupt, or a rewind take back', async () => {
    await handOver(new HeldHandler([call('c1')]));
    await next.agents.run({ ...KEY, newMessage: 'now', policy: 'interrupt' }, echo).result;
    expect((await said()).slice(2)).toEqual([
      'system handed over',
      'agent !c1',
      'agent - INTERRUPTED',
      'user now',
      'agent echo: now',
    ]);
    expect(await next.agents.run(FIRST, echo).result).toMatchObject({ status: 'interrupted' });
    expect(await queued()).toEqual([]);

    const other = new AgentApp(opened.storage);
    const held = new HeldHandler();
    const third = { ...KEY, newMessage: 'third', invocationId: 'i-3' };
    const run = other.agents.run(third, held.handler);
    await held.started;
    const { version = 0 } = (await next.sessions.getSession(KEY)) ?? {};
    await other.close();
    await expect(run.result).rejects.toMatchObject({ code: 'AGENTS_CLOSING' });
    await next.sessions.rewindSession({ ...KEY, toSeq: version - 1 });
    await next.agents.run({ ...KEY, newMessage: 'fourth' }, goingOn).result;
    expect((await said()).slice(-2)).toEqual(['user fourth', 'agent begun: fourth']);
    expect(await queued()).toEqual([]);
  });

  it('do not hand over what has said everything, and returns', async () => {
    const held = new HeldHandler([text('whole')], []);
    const run = closing.agents.run(FIRST, held.handler);
    await held.started;
    const closed = closing.agents.close();
    held.release();
    await closed;
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(await next.agents.run(FIRST, echo).result).toMatchObject({ status: 'completed' });
    expect(await said()).toEqual(['user first', 'agent whole']);
  });

  it.each([undefined, 'researcher'])('hand over what is at work after a final response of %j', async (agentName) => {
    const held = new HeldHandler([], []);
    const handler: RunHandler = async function* (context) {
      if (!context.isResumed) yield* agentName ? context.runAs(agentName, finding) : finding(context);
      yield* held.handler(context);
      yield text('report');
    };
    const run = closing.agents.run(FIRST, handler);
    await held.started;
    await closing.agents.close();
    await expect(run.result).rejects.toMatchObject(HANDED_OVER);
    held.release();
    expect(await next.agents.run(FIRST, handler).result).toMatchObject({ status: 'completed' });
    expect(await said()).toEqual(['user first', `${agentName ?? 'agent'} found`, 'system handed over', 'agent report']);
    expect(await queued()).toEqual([]);
  });

  it('keep an answer to an approval that was read, and have others given again', async () => {
    expect(await next.agents.run(FIRST, asking()).result).toMatchObject({ status: 'waiting' });
    const answer = { ...KEY, approvalId: 'sure@i-1', answer: { confirmed: true } };
    const log = await said();
    const unread = new HeldHandler();
    const run = closing.agents.answerApproval(answer, asking(unread));
    await unread.started;
    await closing.agents.close();
    await expect(run.result).rejects.toMatchObject(HANDED_OVER);
    expect(await said()).toEqual(log);
    expect((await next.agents.pendingApprovals(KEY)).approvals).toHaveLength(1);

    const other = new AgentApp(opened.storage);
    const read = new HeldHandler([partial('Let me see')]);
    const reading = other.agents.answerApproval(answer, async function* (context) {
      await context.requestApproval({ id: 'sure' });
      yield* read.handler(context);
    });
    await read.started;
    await other.close();
    await expect(reading.result).rejects.toMatchObject(HANDED_OVER);
    expect(await next.agents.answerApproval(answer, asking()).result).toMatchObject({ status: 'completed' });
    expect((await said()).at(-1)).toBe('agent confirmed true');
    expect(await queued()).toEqual([]);
  });

  it('hand over one answer to several messages', async () => {
    const request = { ...KEY, policy: 'debounce', quietMs: 100 } as const;
    const held = new HeldHandler();
    // The first one must not be over its quiet time before the second one comes, however slow the machine is.
    const patient = { ...request, quietMs: 600_000 };
    await next.sessions.createSession(KEY);
    // It waits where what is handed over goes on, so that it may be the one that takes over.
    const joined = next.agents.run({ ...patient, newMessage: 'a', invocationId: 'i-a' }, goingOn);
    await until(async () => (await queued()).length === 1);
    const run = closing.agents.run({ ...request, newMessage: 'b', invocationId: 'i-b' }, held.handler);
    await held.started;
    await closing.agents.close();
    await expect(run.result).rejects.toMatchObject({ code: 'AGENTS_CLOSING' });
    const again = next.agents.run({ ...request, newMessage: 'b', invocationId: 'i-b' }, goingOn);
    expect(await again.result).toMatchObject({ status: 'completed', invocationId: 'i-b' });
    expect(await joined.result).toMatchObject({ invocationId: 'i-b' });
    expect((await said()).filter((event) => /^(user|agent)/.test(event))).toEqual([
      'user a',
      'user b',
      'agent resumed: b',
    ]);
  });
});
