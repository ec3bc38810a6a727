import { type AgentSessionsOptions, type RunHandler, RunLimitError } from '../../src/agents/index.js';
import type { LeaseStore, SessionStorage } from '../../src/storage.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { firstStore, storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, type Instances, forEachTestOn } from './support/agent-app.js';
import { echo, text } from './support/handlers.js';
import { mortalStorage } from './support/mortal-storage.js';

const ANN = { appName: 'shop', userId: 'ann', newMessage: 'hi' };
const BOB = { ...ANN, userId: 'bob' };

/** Runs that wait until the test lets them go on. */
class HeldRuns {
  begun = 0;
  release: () => void = () => undefined;
  readonly #released = new Promise<void>((resolve) => (this.release = resolve));

  readonly handler: RunHandler = (context) => this.#run(context);

  async *#run(_context: Parameters<RunHandler>[0]) {
    this.begun += 1;
    await this.#released;
    yield text('done');
  }
}

/** The same store with other leases. */
function withLeases(storage: SessionStorage, leases: LeaseStore): SessionStorage {
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'leases') return leases;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const countOf = async (runs: readonly Promise<unknown>[]): Promise<{ done: number; refused: unknown[] }> => {
  const ends = await Promise.allSettled(runs);
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  return { done: ends.length - refused.length, refused };
};

describe.each(storeOfEachKind)('limits of runs that instances share, on $name', ({ open }) => {
  let instances: Instances;
  forEachTestOn(open, (given) => (instances = given));

  const appWith = (maxRuns: AgentSessionsOptions['maxRuns']): AgentApp => instances.start({ maxRuns });

  it('let a user have so many runs at once, and no other user has less', async () => {
    const [one, two] = [appWith({ perUser: 3 }), appWith({ perUser: 3 })];
    const held = new HeldRuns();
    const runs = Array.from(
      { length: 20 },
      (_, number) => (number % 2 === 0 ? one : two).agents.run(ANN, held.handler).result,
    );
    let refusals = 0;
    for (const run of runs) void run.catch(() => (refusals += 1));
    await until(() => held.begun === 3 && refusals === 17);
    expect(await one.agents.run(BOB, echo).result).toMatchObject({ status: 'completed' });
    held.release();
    const { done, refused } = await countOf(runs);
    expect(done).toBe(3);
    const runLimit = { scope: 'user', unit: 'runs', limit: 3 };
    for (const error of refused) expect(error).toMatchObject({ code: 'RUN_LIMIT_REACHED', status: 429, runLimit });
    expect(refused[0]).toBeInstanceOf(RunLimitError);
    expect(await two.agents.run(ANN, echo).result).toMatchObject({ status: 'completed' });
  });

  it('let an app have so many runs at once, of all users', async () => {
    const [one, two] = [appWith({ perApp: 1 }), appWith({ perApp: 1, perUser: 5 })];
    const held = new HeldRuns();
    const first = one.agents.run(ANN, held.handler).result;
    await until(() => held.begun === 1);
    const runLimit = { scope: 'app', unit: 'runs', limit: 1 };
    await expect(two.agents.run(BOB, echo).result).rejects.toMatchObject({ runLimit });
    expect(await two.agents.run({ ...BOB, appName: 'bank' }, echo).result).toMatchObject({ status: 'completed' });
    held.release();
    await first;
    expect(await two.agents.run(BOB, echo).result).toMatchObject({ status: 'completed' });
  });

  it('let a client that asks again follow its run, or read its answer, but not answer anew', async () => {
    const [one, two] = [appWith({ perUser: 1, perApp: 1 }), appWith({ perUser: 1, perApp: 1 })];
    const held = new HeldRuns();
    const again = { ...ANN, sessionId: 's-1', invocationId: 'i-1' };
    const first = one.agents.run(again, held.handler).result;
    await until(() => held.begun === 1);
    const followed = two.agents.run(again, echo).result;
    await expect(two.agents.run({ ...again, invocationId: 'i-2' }, echo).result).rejects.toBeInstanceOf(RunLimitError);
    held.release();
    expect((await followed).events).toEqual((await first).events);
    const other = new HeldRuns();
    const busy = one.agents.run(ANN, other.handler).result;
    await until(() => other.begun === 1);
    expect((await two.agents.run(again, echo).result).events).toEqual((await first).events);
    await expect(two.agents.run({ ...again, retry: true }, echo).result).rejects.toBeInstanceOf(RunLimitError);
    other.release();
    await busy;
  });

  it('are given back when a process has died', async () => {
    const mortal = mortalStorage(instances.storage);
    const dying = new AgentApp(mortal.storage, { maxRuns: { perUser: 1 }, clock: instances.clock });
    const held = new HeldRuns();
    void dying.agents.run(ANN, held.handler);
    await until(() => held.begun === 1);
    mortal.kill();
    const app = appWith({ perUser: 1 });
    await expect(app.agents.run(ANN, echo).result).rejects.toMatchObject({ code: 'RUN_LIMIT_REACHED' });
    instances.clock.advance(30_000);
    expect(await app.agents.run(ANN, echo).result).toMatchObject({ status: 'completed' });
  });
});

describe.each(firstStore)('limits of runs on $name', ({ open }) => {
  let opened: OpenStorage;
  let app: AgentApp | undefined;

  beforeEach(async () => {
    opened = await open({});
  });

  afterEach(async () => {
    await app?.close();
    await opened.destroy();
  });

  it('count those of the process that work and wait', async () => {
    app = new AgentApp(opened.storage, { maxRuns: { perProcess: 2 } });
    const held = new HeldRuns();
    const key = { ...ANN, sessionId: 's-1' };
    const first = app.agents.run(key, held.handler).result;
    await until(() => held.begun === 1);
    const waiting = app.agents.run({ ...key, policy: 'enqueue' }, echo).result;
    const runLimit = { scope: 'process', unit: 'runs', limit: 2 };
    await expect(app.agents.run(BOB, echo).result).rejects.toMatchObject({ status: 429, runLimit });
    expect((await app.sessions.listSessions({ appName: 'shop', userId: 'bob' })).sessions).toEqual([]);
    held.release();
    await Promise.all([first, waiting]);
    expect(await app.agents.run(BOB, echo).result).toMatchObject({ status: 'completed' });
  });

  it.each([
    [undefined, []],
    [{ perProcess: 5 }, []],
    [{ perUser: 5 }, ['acquireAny', 'release']],
    [{ perUser: 5, perApp: 5 }, ['acquireAny', 'acquireAny', 'release', 'release']],
  ])('%j costs a run these calls of leases: %j', async (maxRuns, expected) => {
    const calls: string[] = [];
    const leases = new Proxy(opened.storage.leases, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          calls.push(String(name));
          return value.apply(target, args) as unknown;
        };
      },
    });
    app = new AgentApp(withLeases(opened.storage, leases), { maxRuns });
    await app.agents.run(ANN, echo).result;
    expect(calls).toEqual(expected);
  });

  it('need no more of a store than plain leases', async () => {
    const { leases } = opened.storage;
    const plain: LeaseStore = {
      acquire: (request) => leases.acquire(request),
      renew: (lease, ttlMs) => leases.renew(lease, ttlMs),
      release: (lease) => leases.release(lease),
    };
    app = new AgentApp(withLeases(opened.storage, plain), { maxRuns: { perUser: 2 } });
    const held = new HeldRuns();
    const { agents } = app;
    const runs = Array.from({ length: 5 }, () => agents.run(ANN, held.handler).result);
    let refusals = 0;
    for (const run of runs) void run.catch(() => (refusals += 1));
    await until(() => held.begun === 2 && refusals === 3);
    held.release();
    expect((await countOf(runs)).done).toBe(2);
  });
});
