import { z } from 'zod';
import { type AnswerRequest, type RunHandler, type ToolContext, agentLoop } from '../../src/agents/index.js';
import { ScriptedModel } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, partial, text } from './support/handlers.js';
import { mortalStorage } from './support/mortal-storage.js';

const FIRST = { ...KEY, newMessage: 'Pay A and B', invocationId: 'i-1' };
const SECOND = { ...KEY, newMessage: 'Are you there?', invocationId: 'i-2' };
const ASKS = { calls: ['A', 'B'].map((to) => ({ name: 'pay', args: { to } })) };
const EXPIRES_IN_MS = 100_000;
const SCHEMA = z.literal('today').optional();
const PAID = { result: 'paid' };
const INTERRUPTED = { error: 'The tool was interrupted.' };

describe.each(storeOfEachKind)('Parallel tools that ask for approvals, on $name,', (store) => {
  const clock = { time: Date.now(), now: () => clock.time };
  let opened: OpenStorage;
  let leaving: AgentApp;
  let next: AgentApp;
  let kill: () => void;
  let paid: string[];

  beforeEach(async () => {
    opened = await store.open({ clock });
    const mortal = mortalStorage(opened.storage);
    kill = mortal.kill;
    leaving = new AgentApp(mortal.storage, { clock });
    next = new AgentApp(opened.storage, { clock, graceMs: 100 });
    paid = [];
  });
  afterEach(async () => {
    await next.close();
    expect(next.errors).toEqual([]);
    await opened.destroy();
  });

  /** Pays what the user approves. */
  function payer(said: ConstructorParameters<typeof ScriptedModel>[0], work?: () => Promise<unknown>): RunHandler {
    const model = new ScriptedModel(said);
    const pay = async ({ to }: { to: string }, tool: ToolContext): Promise<string> => {
      const limits = to === 'B' ? { expiresInMs: EXPIRES_IN_MS, schema: SCHEMA } : {};
      const { confirmed } = await tool.requestApproval({ hint: to, ...limits });
      if (!confirmed) return 'refused';
      paid.push(to);
      await work?.();
      return 'paid';
    };
    return agentLoop({ model: ({ history }) => model.ask(history), tools: { pay } });
  }

  async function pending(): Promise<unknown[]> {
    return (await next.agents.pendingApprovals(KEY)).approvals.map(({ hint }) => hint);
  }

  /** The answers to what the first message asks. */
  async function asked(): Promise<{ a: AnswerRequest; b: AnswerRequest }> {
    await next.agents.run(FIRST, payer([ASKS])).result;
    const { approvals } = await next.agents.pendingApprovals(KEY);
    const answerTo = (to: string): AnswerRequest => {
      const { approvalId = '' } = approvals.find(({ hint }) => hint === to) ?? {};
      return { ...KEY, approvalId, answer: { confirmed: true } };
    };
    return { a: answerTo('A'), b: answerTo('B') };
  }

  /** A is approved and its tool at work when the process dies or closes. */
  async function leftAtWork(how: 'death' | 'hand-over'): Promise<{ a: AnswerRequest; b: AnswerRequest }> {
    const answers = await asked();
    const atWork = payer([], () => new Promise(() => undefined));
    leaving.agents.answerApproval(answers.a, atWork).result.catch(() => undefined);
    await until(() => paid.length > 0);
    await leave(how);
    return answers;
  }

  async function leave(how: 'death' | 'hand-over'): Promise<void> {
    if (how === 'hand-over') return leaving.close();
    kill();
    clock.time += 60_000;
  }

  async function responses(): Promise<unknown[]> {
    return (await next.log()).flatMap(({ content }) =>
      (content?.parts ?? []).flatMap(({ functionResponse }) =>
        functionResponse?.name === 'pay' ? [functionResponse.response] : [],
      ),
    );
  }

  async function paysB(answer: AnswerRequest): Promise<void> {
    expect(await pending()).toEqual(['B']);
    const run = next.agents.answerApproval(answer, payer(['B is paid.']));
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(paid).toEqual(['A', 'B']);
    expect(await responses()).toEqual([INTERRUPTED, PAID]);
    expect(await pending()).toEqual([]);
  }

  describe.each(['death', 'hand-over'] as const)('after a %s while one is at work,', (how) => {
    it('pay once when the other one is answered', async () => {
      const { b } = await leftAtWork(how);
      await paysB(b);
    });

    it('pay once when the other one expires', async () => {
      await leftAtWork(how);
      clock.time += EXPIRES_IN_MS;
      expect(await next.agents.expireApprovals({ appName: KEY.appName }, payer(['Nobody answered.']))).toBe(1);
      // A slow run goes on after its round.
      await until(async () => (await responses()).length === 2);
      expect(paid).toEqual(['A']);
      expect(await responses()).toMatchObject([INTERRUPTED, { result: 'refused' }]);
    });

    it('go on asking when the same answer is repeated', async () => {
      const { a, b } = await leftAtWork(how);
      expect(await next.agents.answerApproval(a, payer([])).result).toMatchObject({ status: 'waiting' });
      await paysB(b);
    });

    it('go on asking when the tool refuses the other answer', async () => {
      const { b } = await leftAtWork(how);
      const wrong = next.agents.answerApproval({ ...b, answer: { confirmed: true, payload: 'never' } }, payer([]));
      await expect(wrong.result).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await next.agents.run(SECOND, payer(['Yes.'])).result;
      await paysB(b);
    });

    it('go on asking when another message comes', async () => {
      const { b } = await leftAtWork(how);
      expect(await next.agents.run(SECOND, payer(['Yes.'])).result).toMatchObject({ status: 'completed' });
      await paysB(b);
    });
  });

  it.each(['death', 'hand-over'] as const)('go on asking after a %s before the answer was read', async (how) => {
    const { a } = await asked();
    const held = new HeldHandler([text('One moment'), partial('I am')]);
    leaving.agents.answerApproval(a, held.handler).result.catch(() => undefined);
    await held.started;
    await leave(how);
    await next.agents.run(SECOND, payer(['Yes.'])).result;
    expect(await pending()).toEqual(['A', 'B']);
    expect(await next.agents.answerApproval(a, payer([])).result).toMatchObject({ status: 'waiting' });
    expect(paid).toEqual(['A']);
  });
});
