import { EventEmitter, once } from 'node:events';
import { AgentSessions } from '../../src/agents/index.js';
import {
  BudgetExceededError,
  type EventInput,
  InMemorySessionStorage,
  SessionService,
  type SessionServiceOptions,
  usageOf,
} from '../../src/index.js';
import type { UsageBudget } from '../../src/config/usage-settings.js';
import { ManualClock } from '../../src/testing/index.js';
import { until } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's-1' };
const SESSION = { ...USER, id: 's-1' };
const PRICES = {
  large: { input: '1.25', cachedInput: '0.31', output: 10, thinking: '3.5' },
  small: { input: 0.1, output: 0.4 },
};

function answer(usageMetadata: EventInput['usageMetadata'], more: EventInput = {}): EventInput {
  const content = { role: 'model', parts: [{ text: 'Hello' }] };
  return { author: 'agent', modelVersion: 'large', content, usageMetadata, ...more };
}

function say(tokens: number) {
  return async function* () {
    yield answer({ totalTokenCount: tokens });
  };
}

async function* costly() {
  yield answer({ candidatesTokenCount: 200 });
  return answer({ candidatesTokenCount: 999_999 }, { modelVersion: 'free' });
}

function onlyForAnn({ userId }: { userId: string }): readonly UsageBudget[] {
  return userId === 'ann' ? [{ scope: 'user', maxCost: '0.002' }] : [];
}

describe('usage', () => {
  const clock = new ManualClock(Date.UTC(2026, 10, 23, 12));
  const calls: string[] = [];
  let sessions: SessionService;

  /** A service over a storage that notes its calls. */
  function open(usage: SessionServiceOptions['usage'] = {}): SessionService {
    const storage = new Proxy(new InMemorySessionStorage({ clock }), {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          calls.push(String(name));
          return value.apply(target, args) as unknown;
        };
      },
    });
    calls.length = 0;
    sessions = new SessionService({ storage, clock, usage });
    agents = new AgentSessions({ sessions, pollMs: 20, graceMs: 200 });
    return sessions;
  }
  let agents: AgentSessions;

  afterEach(async () => {
    await agents.close();
    await sessions.close();
  });

  it('is read from the fields of Gemini, and from no partial event', async () => {
    await open().createSession(KEY);
    const all = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      toolUsePromptTokenCount: 5,
      totalTokenCount: 155,
    };
    await sessions.appendEvents({
      session: SESSION,
      events: [
        { author: 'user', content: { parts: [{ text: 'Hi' }] } },
        answer(all, { partial: true }),
        answer(all, { id: 'e-1' }),
        answer({ promptTokenCount: 1, candidatesTokenCount: 2, thoughtsTokenCount: 4 }, { modelVersion: 'small' }),
        answer({ totalTokenCount: -1, promptTokenCount: 1e12 }, { modelVersion: '' }),
      ],
    });
    const report = await sessions.getUsage(KEY);
    const large = {
      model: 'large',
      events: 1,
      promptTokens: 100,
      cachedTokens: 60,
      outputTokens: 20,
      thinkingTokens: 30,
      toolUseTokens: 5,
      totalTokens: 155,
    };
    expect(report).toMatchObject({ ...KEY, period: 'total', unpricedModels: ['large', 'small', 'unknown'] });
    expect(report.models).toMatchObject([
      large,
      { model: 'small', totalTokens: 7 },
      { model: 'unknown', totalTokens: 0 },
    ]);
    expect(report.total).toMatchObject({ events: 3, totalTokens: 162, promptTokens: 101 });
    expect(report).not.toHaveProperty('costMicros');
    const { events } = await sessions.listEvents(KEY);
    expect(usageOf([...events, answer(all, { partial: true })])).toEqual({
      models: report.models,
      total: report.total,
    });
    expect((await sessions.getUsage({ ...USER, period: 'day' })).period).toBe('2026-11-23');
    expect((await sessions.getUsage({ appName: 'shop', period: 'month' })).total).toEqual(report.total);
  });

  it('is not given back by a rewind, not copied by a fork, and counted for a summary', async () => {
    await open().createSession(KEY);
    await sessions.appendEvent({ session: SESSION, event: answer({ totalTokenCount: 10 }) });
    await sessions.rewindSession({ ...KEY, toSeq: 0 });
    const summary = {
      author: 'system',
      content: { role: 'user', parts: [{ text: 'Short' }] },
      usageMetadata: { totalTokenCount: 5 },
    };
    const actions = { compaction: { fromSeq: 1, toSeq: 1 } };
    await sessions.appendEvent({ session: SESSION, event: { ...summary, id: 'summary:1', actions } });
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect((await sessions.getUsage({ ...USER, sessionId: fork.id })).total.totalTokens).toBe(0);
    for (const owner of [KEY, USER, { appName: 'shop' }]) {
      expect((await sessions.getUsage(owner)).total.totalTokens).toBe(15);
    }
  });

  it('costs what the price table says, without errors of rounding', async () => {
    await open({ prices: PRICES }).createSession(KEY);
    const usage = { promptTokenCount: 1_000_001, cachedContentTokenCount: 1, toolUsePromptTokenCount: 2 };
    await sessions.appendEvent({
      session: SESSION,
      event: answer({ ...usage, candidatesTokenCount: 3, thoughtsTokenCount: 4 }),
    });
    const small = { promptTokenCount: 3, cachedContentTokenCount: 9, candidatesTokenCount: 1, thoughtsTokenCount: 1 };
    await sessions.appendEvent({ session: SESSION, event: answer(small, { modelVersion: 'small' }) });
    // 1,000,002 × 1.25 + 1 × 0.31 + 3 × 10 + 4 × 3.5 millionths, and 3 × 0.1 + 2 × 0.4.
    const [large, cheap] = (await sessions.getUsage(KEY)).models;
    expect([large?.costMicros, cheap?.costMicros]).toEqual([1_250_047, 1]);
    expect(await sessions.getUsage(USER)).toMatchObject({ costMicros: 1_250_048, unpricedModels: [] });
    await sessions.appendEvent({
      session: SESSION,
      event: answer({ totalTokenCount: 1 }, { modelVersion: 'toString' }),
    });
    const report = await sessions.getUsage(USER);
    expect(report.unpricedModels).toEqual(['toString']);
    expect(report).not.toHaveProperty('costMicros');
  });

  it('takes no call of the store of its own', async () => {
    await open().createSession(KEY);
    calls.length = 0;
    await sessions.appendEvent({ session: SESSION, event: answer({ totalTokenCount: 1 }) });
    await sessions.checkBudget(KEY);
    expect(calls).toEqual(['append']);
    await sessions.getUsage(KEY);
    expect(calls).toEqual(['append', 'readUsage']);
  });

  it('can be switched off', async () => {
    await open({ enabled: false }).createSession(KEY);
    await sessions.appendEvent({ session: SESSION, event: answer({ totalTokenCount: 1 }) });
    await expect(sessions.getUsage(KEY)).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'usage' });
    await sessions.checkBudget(KEY);
  });

  it('of a missing session or a wrong period is refused', async () => {
    open();
    await expect(sessions.getUsage(KEY)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    for (const period of ['week', '2026', '2026-13', '2026-11-32', 7, '']) {
      await expect(sessions.getUsage({ ...USER, period: period as string })).rejects.toMatchObject({ path: 'period' });
    }
    await expect(sessions.getUsage({ ...KEY, period: 'day' })).rejects.toMatchObject({ path: 'period' });
    const noUser = { appName: 'shop', sessionId: 's-1' };
    await expect(sessions.getUsage(noUser)).rejects.toMatchObject({ path: 'userId' });
  });

  it.each([
    { budgets: [{ scope: 'session', period: 'day', maxTokens: 1 }] },
    { budgets: [{ scope: 'user' }] },
    { budgets: [{ scope: 'team', maxTokens: 1 }] },
    { budgets: [{ scope: 'user', maxTokens: 1, maxTokns: 1 }] },
    { prices: { large: { input: '1.0000001', output: 1 } } },
    { prices: { large: { input: -1, output: 1 } } },
    { prices: { large: { input: 1 } } },
    { keepDays: 30 },
  ])('refuses wrong settings: %j', (usage) => {
    expect(() => new SessionService({ storage: new InMemorySessionStorage(), usage: usage as never })).toThrow(
      'must be',
    );
    open();
  });

  describe('budgets', () => {
    it.each([
      { scope: 'session', budget: { maxTokens: 10 }, resetsAt: undefined },
      { scope: 'user', budget: { period: 'day', maxTokens: 10 }, resetsAt: Date.UTC(2026, 10, 24) },
      { scope: 'app', budget: { period: 'month', maxTokens: 10 }, resetsAt: Date.UTC(2026, 11, 1) },
    ] as const)('of a $scope refuse a turn before anything is stored', async ({ scope, budget, resetsAt }) => {
      open({ budgets: [{ scope, ...budget }] });
      await agents.run({ ...KEY, newMessage: 'a' }, say(9)).result;
      await agents.run({ ...KEY, newMessage: 'b' }, say(5)).result;
      const { lastSeq } = await sessions.listEvents(KEY);
      calls.length = 0;
      const refused = await agents.run({ ...KEY, newMessage: 'c' }, say(1)).result.catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(BudgetExceededError);
      const { maxTokens: limit, ...period } = { period: 'total', ...budget };
      const resets = resetsAt !== undefined && { resetsAt };
      expect(refused).toMatchObject({
        status: 429,
        budget: { scope, ...period, unit: 'tokens', used: 14, limit, ...resets },
      });
      expect((refused as Error).message).toContain('14 of 10 tokens');
      expect(calls).toEqual(['readUsage']);
      expect((await sessions.listEvents(KEY)).lastSeq).toBe(lastSeq);
    });

    it('begin anew with their period', async () => {
      clock.advance(Date.UTC(2026, 10, 23, 12) - clock.now());
      open({ budgets: [{ scope: 'user', period: 'day', maxTokens: 10 }] });
      await agents.run({ ...KEY, newMessage: 'a' }, say(10)).result;
      await expect(agents.run({ ...KEY, newMessage: 'b' }, say(1)).result).rejects.toThrow(BudgetExceededError);
      clock.advanceSeconds(86_400);
      await agents.run({ ...KEY, newMessage: 'b' }, say(1)).result;
    });

    it('may be of cost, and different for each user', async () => {
      open({ prices: PRICES, budgets: onlyForAnn });
      await agents.run({ ...KEY, newMessage: 'a' }, costly).result;
      const refused = agents.run({ ...KEY, newMessage: 'b' }, costly).result;
      await expect(refused).rejects.toMatchObject({ budget: { unit: 'micros', used: 2_000, limit: 2_000 } });
      await agents.run({ ...KEY, userId: 'bob', newMessage: 'b' }, costly).result;
      await sessions.close();
      open({ budgets: () => [{ scope: 'user' }] as never });
      await expect(sessions.checkBudget(KEY)).rejects.toThrow('usage.budgets must return a list of');
    });

    it('create no session, and return what an earlier request with the same id stored', async () => {
      open({ budgets: [{ scope: 'user', maxTokens: 5 }] });
      const request = { ...KEY, newMessage: 'a', invocationId: 'i-1' };
      await agents.run(request, say(5)).result;
      const { events } = await agents.run(request, say(1)).result;
      expect(events).toMatchObject([{ usageMetadata: { totalTokenCount: 5 } }]);
      const another = { ...USER, sessionId: 'new', newMessage: 'b', invocationId: 'i-2' };
      await expect(agents.run(another, say(1)).result).rejects.toThrow(BudgetExceededError);
      expect(await sessions.getSession({ ...USER, sessionId: 'new' })).toBeUndefined();
    });

    it('take a message back that waited while another one used them up', async () => {
      open({ budgets: [{ scope: 'user', maxTokens: 5 }] });
      const held = new EventEmitter();
      const first = agents.run({ ...KEY, newMessage: 'a', policy: 'enqueue' }, async function* () {
        await once(held, 'release');
        yield answer({ totalTokenCount: 5 });
      });
      await until(async () => (await sessions.getSession(KEY))?.version === 1);
      const second = agents.run({ ...KEY, newMessage: 'b', policy: 'enqueue' }, say(1));
      await until(async () => (await sessions.getSession(KEY))?.version === 2);
      held.emit('release');
      await first.result;
      await expect(second.result).rejects.toThrow(BudgetExceededError);
      const { events } = await sessions.listEvents(KEY);
      expect(events.flatMap(({ content }) => content?.parts?.[0]?.text ?? [])).toEqual(['a', 'Hello']);
    });
  });
});
