import { once } from 'node:events';
import type { RunHandler } from '../../src/agents/index.js';
import { InMemorySessionStorage } from '../../src/index.js';
import type { UsageBudget } from '../../src/config/usage-settings.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, type Instances, forEachTestOn } from './support/agent-app.js';
import { text } from './support/handlers.js';
import { mortalStorage } from './support/mortal-storage.js';

const ANN = { appName: 'shop', userId: 'ann', newMessage: 'hi' };
const PER_ANSWER = 10;
const MAX_TOKENS = 50;
const RESERVED = { code: 'BUDGET_EXCEEDED', status: 429, budget: { scope: 'user', limit: MAX_TOKENS } };

const answering: RunHandler = async function* () {
  yield { ...text('done'), usageMetadata: { totalTokenCount: PER_ANSWER } };
};

async function usedIn({ sessions }: AgentApp): Promise<number> {
  return (await sessions.getUsage(ANN)).total.totalTokens;
}

/** Runs of a user that begin at once, at all instances. Returns how many were answered. */
async function attack(apps: readonly AgentApp[], each: number): Promise<number> {
  const runs = apps.flatMap(({ agents }) => Array.from({ length: each }, () => agents.run(ANN, answering).result));
  const ends = await Promise.allSettled(runs);
  for (const end of ends) if (end.status === 'rejected') expect(end.reason).toMatchObject(RESERVED);
  return ends.filter(({ status }) => status === 'fulfilled').length;
}

describe.each(storeOfEachKind)('a budget of a user that works at several instances, on $name', ({ open }) => {
  let instances: Instances;
  forEachTestOn(open, (given) => (instances = given));

  const appWith = (changes: Partial<UsageBudget>): AgentApp => {
    const budget: UsageBudget = { scope: 'user', maxTokens: MAX_TOKENS, ...changes };
    return instances.start({ usage: { budgets: [budget] } });
  };

  it('is not passed by 20 runs at once, and is used up by those that follow', async () => {
    const estimate = { tokens: PER_ANSWER };
    const [one, two] = [appWith({ estimate }), appWith({ estimate })];
    await attack([one, two], 10);
    expect(await usedIn(one)).toBeLessThanOrEqual(MAX_TOKENS);
    while ((await usedIn(one)) < MAX_TOKENS) await one.agents.run(ANN, answering).result;
    await expect(two.agents.run(ANN, answering).result).rejects.toMatchObject({ budget: { used: MAX_TOKENS } });
  });

  it('is used up to its end by runs one after the other', async () => {
    const app = appWith({ estimate: { tokens: PER_ANSWER } });
    for (let count = 0; count < 5; count++) await app.agents.run(ANN, answering).result;
    await expect(app.agents.run(ANN, answering).result).rejects.toMatchObject({ budget: { used: MAX_TOKENS } });
  });

  it('lets one run work at once if it may be used up by one', async () => {
    const app = appWith({});
    const gate = new AbortController();
    const released = once(gate.signal, 'abort');
    let begun = false;
    const first = app.agents.run(ANN, async function* (context) {
      begun = true;
      await released;
      yield* answering(context);
    });
    await until(() => begun);
    await expect(app.agents.run(ANN, answering).result).rejects.toMatchObject(RESERVED);
    gate.abort();
    await first.result;
    expect(await app.agents.run(ANN, answering).result).toMatchObject({ status: 'completed' });
  });

  it('lets messages of a session that wait have it one after the other', async () => {
    const usage = { budgets: [{ scope: 'user' as const, maxTokens: MAX_TOKENS }] };
    const app = instances.start({ usage, graceMs: 60_000 });
    const gate = new AbortController();
    const released = once(gate.signal, 'abort');
    const key = { ...ANN, sessionId: 's-1', policy: 'enqueue' } as const;
    const first = app.agents.run(key, async function* (context) {
      await released;
      yield* answering(context);
    });
    const version = async (): Promise<number> => (await app.sessions.getSession(key))?.version ?? 0;
    await until(async () => (await version()) === 1);
    const second = app.agents.run(key, answering);
    await until(async () => (await version()) === 2);
    gate.abort();
    await first.result;
    expect(await second.result).toMatchObject({ status: 'completed' });
    expect(await usedIn(app)).toBe(2 * PER_ANSWER);
  });

  it('gets back what a process has reserved that died', async () => {
    const mortal = mortalStorage(instances.storage);
    const usage = { budgets: [{ scope: 'user' as const, maxTokens: MAX_TOKENS }] };
    const dying = new AgentApp(mortal.storage, { clock: instances.clock, usage });
    let begun = false;
    void dying.agents.run(ANN, async function* () {
      begun = true;
      await new Promise<void>(() => undefined);
      yield text('never');
    });
    await until(() => begun);
    mortal.kill();
    const app = appWith({});
    await expect(app.agents.run(ANN, answering).result).rejects.toMatchObject(RESERVED);
    instances.clock.advance(30_000);
    expect(await app.agents.run(ANN, answering).result).toMatchObject({ status: 'completed' });
  });
});

it.each([{ estimate: { tokens: PER_ANSWER } }, { estimate: undefined }])(
  'a budget with %j is not passed by 200 runs that come at once to two instances',
  async ({ estimate }) => {
    const storage = new InMemorySessionStorage();
    const usage = { budgets: [{ scope: 'user' as const, maxTokens: MAX_TOKENS, estimate }] };
    const apps = [new AgentApp(storage, { usage }), new AgentApp(storage, { usage })];
    const done = await attack(apps, 100);
    expect(done).toBeGreaterThan(0);
    expect(done * PER_ANSWER).toBeLessThanOrEqual(MAX_TOKENS);
    for (const app of apps) await app.close();
    expect(apps.flatMap(({ errors }) => errors)).toEqual([]);
  },
);
