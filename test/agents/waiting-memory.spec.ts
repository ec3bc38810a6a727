import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RunHandler } from '../../src/agents/index.js';
import { firstStore, storeOfEachKind } from '../support/stores.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, echo, text } from './support/handlers.js';

const BOOTSTRAP = join(__dirname, '../support/processes/bootstrap.cjs');
const ATTACK = join(__dirname, 'support/waiting-attack.ts');
/** Less than the messages need that wait, with two copies of each. */
const HEAP_MIB = 110;

/** Too large to stay in memory while it waits. */
const large = (said: string): string => `${said} ${'x'.repeat(20_000)}`;

const shortened: RunHandler = async function* (context) {
  const said = context.messages.map(({ parts = [] }) => parts[0]?.text?.split(' ')[0]);
  yield text(`${said.join(' ')} ${String(context.state['temp:t'])} ${String(context.state.kept)}`);
};

describe.each(storeOfEachKind)('large messages that wait, on $name', ({ open }) => {
  let opened: OpenStorage;
  let one: AgentApp;
  let two: AgentApp;

  beforeEach(async () => {
    opened = await open({});
    one = new AgentApp(opened.storage);
    two = new AgentApp(opened.storage);
  });

  afterEach(async () => {
    await one.close();
    await two.close();
    expect([...one.errors, ...two.errors]).toEqual([]);
    await opened.destroy();
  });

  const queued = async (count: number): Promise<void> =>
    until(async () => (await one.logInShort()).filter((event) => event === 'system queued').length === count);

  it('come with their text and their state when their turn comes', async () => {
    const held = new HeldHandler();
    const first = one.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    const stateDelta = { kept: 1, 'temp:t': 2 };
    const second = two.agents.run({ ...KEY, newMessage: large('b'), policy: 'enqueue', stateDelta }, shortened);
    await queued(1);
    const third = two.agents.run({ ...KEY, newMessage: large('c'), policy: 'enqueue' }, shortened);
    await queued(2);
    held.release();
    await first.result;
    expect((await second.result).events).toMatchObject([text('b 2 1')]);
    expect((await third.result).events).toMatchObject([text('c undefined 1')]);
  });

  it('are taken with `merge` in batches that fit into a commit, in order', async () => {
    const taken: number[] = [];
    const gate = new AbortController();
    const released = once(gate.signal, 'abort');
    const first = one.agents.run({ ...KEY, newMessage: 'f' }, async function* (context) {
      await released;
      await until(async () => {
        const { length } = await context.takeMessages();
        if (length > 0) taken.push(length);
        return taken.length === 3;
      });
      yield text(context.messages.map(({ parts = [] }) => parts[0]?.text?.slice(0, 1)).join(''));
    });
    await until(async () => (await one.sessions.getSession(KEY))?.version === 1);
    const merged = [];
    for (const said of ['b', 'c', 'd']) {
      const newMessage = said + 'x'.repeat(600_000);
      merged.push(two.agents.run({ ...KEY, newMessage, policy: 'merge' }, echo));
      await queued(merged.length);
    }
    gate.abort();
    await first.result;
    for (const run of merged) expect((await run.result).events).toMatchObject([text('fbcd')]);
    expect(taken).toEqual([1, 1, 1]);
  });
});

describe.each(firstStore)('the memory of messages that wait, on $name', ({ open }) => {
  let opened: OpenStorage;
  let app: AgentApp;
  const held = new HeldHandler();

  beforeAll(async () => {
    opened = await open({});
    app = new AgentApp(opened.storage, { maxTempBytes: 100, maxWaitingBytes: 1_000 });
    const first = app.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    first.result.catch(() => undefined);
  });

  afterAll(async () => {
    held.release();
    await app.close();
    expect(app.errors).toEqual([]);
    await opened.destroy();
  });

  const run = (newMessage: string, stateDelta?: Record<string, unknown>) =>
    app.agents.run({ ...KEY, newMessage, policy: 'enqueue', stateDelta }, echo).result;

  it('refuses more `temp:` state than one may keep', async () => {
    const refused = { code: 'LIMIT_EXCEEDED', status: 413, path: 'stateDelta' };
    await expect(run('hi', { 'temp:t': 'x'.repeat(100) })).rejects.toMatchObject(refused);
    expect(await app.logInShort()).toHaveLength(1);
  });

  it('is refused beyond its limit, before anything is stored, and is given back', async () => {
    const waiting = run('x'.repeat(700));
    await until(async () => (await app.log()).length === 2);
    const runLimit = { scope: 'process', unit: 'bytes', limit: 1_000 };
    const refused = { code: 'RUN_LIMIT_REACHED', status: 429, runLimit };
    await expect(run('y'.repeat(700))).rejects.toMatchObject(refused);
    expect(await app.log()).toHaveLength(2);
    held.release();
    expect(await waiting).toMatchObject({ status: 'completed' });
    expect(await run('y'.repeat(700))).toMatchObject({ status: 'completed' });
  });
});

describe('a process with little memory', () => {
  it('answers all of 30 messages of 0.9 MB that wait behind a run', async () => {
    const args = [`--max-old-space-size=${HEAP_MIB}`, BOOTSTRAP, ATTACK];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toEqual({ enqueue: 30, merge: 30 });
  }, 600_000);
});
