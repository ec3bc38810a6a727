import type { SessionStorage } from '../../src/storage.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { firstStore } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, KEY, SESSION } from './support/agent-app.js';
import { mortalStorage } from './support/mortal-storage.js';
import { HeldHandler, call, echo, eventsOf, inShort, partial, text } from './support/handlers.js';

/** State that the store refuses, when the message is taken. */
const NO_KEY = { 'user:': 1 };

describe.each(firstStore)('a message that comes while a turn runs, on $name', ({ open }) => {
  let opened: OpenStorage;
  let storage: SessionStorage;
  let one: AgentApp;
  let two: AgentApp;

  beforeEach(async () => {
    opened = await open({});
    ({ storage } = opened);
    one = new AgentApp(storage);
    two = new AgentApp(storage);
  });

  afterEach(async () => {
    await one.close();
    await two.close();
    expect([...one.errors, ...two.errors]).toEqual([]);
    await opened.destroy();
  });

  /** Starts a run that is in the middle of its turn. */
  async function running(held = new HeldHandler([call('c1'), partial('It is')])) {
    const run = one.agents.run({ ...KEY, newMessage: 'first', invocationId: 'i-1' }, held.handler);
    await held.started;
    return { run, held };
  }

  const queued = (count: number) =>
    until(async () => (await one.logInShort()).filter((event) => event === 'system queued').length === count);

  const INTERRUPTED = ['user first', 'agent ?c1', 'system queued', 'agent !c1', 'agent It is - INTERRUPTED'];

  it('is refused by `reject`, and nothing of it is stored', async () => {
    const { run, held } = await running();
    const refused = two.agents.run({ ...KEY, newMessage: 'second' }, echo);
    await expect(refused.result).rejects.toMatchObject({ code: 'TURN_HELD', holder: expect.stringMatching(/\/i-1$/) });
    await expect(eventsOf(refused)).rejects.toMatchObject({ code: 'TURN_HELD' });
    held.release();
    await run.result;
    expect(await one.logInShort()).toEqual(['user first', 'agent ?c1', 'agent done', 'agent !c1', 'agent end']);
  });

  it('waits its turn with `enqueue`, first in first out', async () => {
    const { run, held } = await running(new HeldHandler());
    const waiting = [];
    for (const [index, app] of [two, one, two].entries()) {
      waiting.push(app.agents.run({ ...KEY, newMessage: `m${index}`, policy: 'enqueue' }, echo));
      await queued(index + 1);
    }
    held.release();
    await run.result;
    const results = await Promise.all(waiting.map(({ result }) => result));
    expect(results.map(({ status, events }) => [status, ...inShort(events)])).toEqual([
      ['completed', 'agent echo: m0'],
      ['completed', 'agent echo: m1'],
      ['completed', 'agent echo: m2'],
    ]);
    const said = (await one.logInShort()).filter((event) => event !== 'system queued');
    const turns = ['user m0', 'agent echo: m0', 'user m1', 'agent echo: m1', 'user m2', 'agent echo: m2'];
    expect(said).toEqual(['user first', 'agent done', ...turns]);
    expect((await one.sessions.getSession(KEY))?.metadata.fields).toEqual({});
  });

  it('stops the running turn with `interrupt`, also if the handler ignores it', async () => {
    const { run, held } = await running();
    const second = two.agents.run({ ...KEY, newMessage: 'second', policy: 'interrupt' }, echo);
    expect(await run.result).toMatchObject({ status: 'interrupted' });
    expect(await second.result).toMatchObject({ status: 'completed' });
    held.release();
    expect(await one.logInShort()).toEqual([...INTERRUPTED, 'user second', 'agent echo: second']);
  });

  it('goes before waiting messages with `interrupt`', async () => {
    const { run } = await running();
    const waiting = two.agents.run({ ...KEY, newMessage: 'second', policy: 'enqueue' }, echo);
    await queued(1);
    const third = one.agents.run({ ...KEY, newMessage: 'third', policy: 'interrupt' }, echo);
    await Promise.all([run.result, waiting.result, third.result]);
    const said = (await one.logInShort()).filter((event) => event.startsWith('user'));
    expect(said).toEqual(['user first', 'user third', 'user second']);
  });

  it('takes the running turn back with `rollback`', async () => {
    await one.agents.run({ ...KEY, newMessage: 'zero' }, echo).result;
    const { run } = await running(new HeldHandler([{ ...call('c1'), actions: { stateDelta: { step: 1 } } }]));
    const second = two.agents.run({ ...KEY, newMessage: 'second', policy: 'rollback' }, echo);
    expect(await run.result).toMatchObject({ status: 'interrupted' });
    const { session } = await second.result;
    const left = ['user zero', 'agent echo: zero', 'user second', 'agent echo: second'];
    expect(inShort(session.events)).toEqual(left);
    const loaded = await one.sessions.getSession(KEY);
    expect(inShort(loaded?.events ?? [])).toEqual(left);
    expect(loaded?.state.getAll()).toEqual({});
  });

  it('joins the running turn with `merge`, when its handler takes messages', async () => {
    const started = new HeldHandler();
    const run = one.agents.run({ ...KEY, newMessage: 'first' }, async function* (context) {
      yield text('let me see');
      yield* started.handler(context);
      await until(async () => (await context.takeMessages()).length > 0);
      yield text(`${context.messages.length} messages`);
    });
    await started.started;
    const second = two.agents.run({ ...KEY, newMessage: 'second', policy: 'merge' }, echo);
    await queued(1);
    started.release();
    const [first, merged] = await Promise.all([run.result, second.result]);
    expect(merged).toMatchObject({ status: 'completed', invocationId: first.invocationId });
    expect(inShort(merged.events)).toEqual(['agent 2 messages']);
    expect(await one.logInShort()).toEqual([
      'user first',
      'agent let me see',
      'system queued',
      'agent done',
      'user second',
      'agent 2 messages',
    ]);
  });

  it('runs afterwards with `merge` if the handler takes no messages', async () => {
    const { run, held } = await running(new HeldHandler());
    const second = two.agents.run({ ...KEY, newMessage: 'second', policy: 'merge' }, echo);
    await queued(1);
    held.release();
    await run.result;
    expect(inShort((await second.result).events)).toEqual(['agent echo: second']);
  });

  it('does not end the running turn if `merge` brings what the store refuses', async () => {
    const held = new HeldHandler();
    const run = one.agents.run({ ...KEY, newMessage: 'first' }, async function* (context) {
      yield* held.handler(context);
      await until(async () => (await one.log()).some(({ actions }) => actions['queued']));
      await context.takeMessages();
      yield text(`${context.messages.length} message`);
    });
    await held.started;
    const second = two.agents.run({ ...KEY, newMessage: 'bad', stateDelta: NO_KEY, policy: 'merge' }, echo);
    await queued(1);
    held.release();
    expect(inShort((await run.result).events).at(-1)).toBe('agent 1 message');
    await expect(second.result).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('is stored without `temp:` keys while it waits, and its handler gets them', async () => {
    const { run, held } = await running(new HeldHandler());
    const stateDelta = { 'temp:token': 'secret', step: 1 };
    const second = two.agents.run(
      { ...KEY, newMessage: 'b', policy: 'enqueue', stateDelta },
      async function* (context) {
        yield text(`${String(context.state['temp:token']).length} ${String(context.state.step)}`);
      },
    );
    await queued(1);
    held.release();
    await run.result;
    expect(inShort((await second.result).events)).toEqual(['agent 6 1']);
    expect(JSON.stringify(await one.log())).not.toContain('secret');
  });

  it('is answered together with other messages with `debounce`', async () => {
    const { run, held } = await running(new HeldHandler());
    const request = { ...KEY, policy: 'debounce', quietMs: 1 } as const;
    const waiting = [];
    for (const [index, app] of [one, two, one].entries()) {
      waiting.push(app.agents.run({ ...request, newMessage: `m${index}` }, echo));
      await queued(index + 1);
    }
    held.release();
    await run.result;
    const results = await Promise.all(waiting.map(({ result }) => result));
    expect(results.map(({ events }) => inShort(events))).toEqual(results.map(() => ['agent echo: m0, m1, m2']));
    const said = (await one.logInShort()).filter((event) => event !== 'system queued').slice(2);
    expect(said).toEqual(['user m0', 'user m1', 'user m2', 'agent echo: m0, m1, m2']);
  });

  it('is taken back by `stop` or its signal while it waits', async () => {
    const { run, held } = await running(new HeldHandler());
    const stopping = new AbortController();
    const { signal } = stopping;
    const second = two.agents.run({ ...KEY, newMessage: 'b', policy: 'enqueue', invocationId: 'i-2' }, echo);
    const third = two.agents.run({ ...KEY, newMessage: 'c', policy: 'enqueue', signal }, echo);
    await queued(2);
    expect(await one.agents.stop({ ...KEY, invocationId: 'i-2' })).toBe(true);
    stopping.abort();
    expect([await second.result, await third.result]).toMatchObject([{ status: 'stopped' }, { status: 'stopped' }]);
    held.release();
    await run.result;
    await one.agents.run({ ...KEY, newMessage: 'last' }, echo).result;
    const said = (await one.logInShort()).filter((event) => !event.startsWith('system'));
    expect(said).toEqual(['user first', 'agent done', 'user last', 'agent echo: last']);
  });

  it('is answered by another request if its process died while it waited', async () => {
    const { run, held } = await running(new HeldHandler());
    const mortal = mortalStorage(storage);
    const dying = new AgentApp(mortal.storage);
    const lost = dying.agents.run({ ...KEY, newMessage: 'lost', policy: 'enqueue', invocationId: 'i-2' }, echo);
    await queued(1);
    mortal.kill();
    held.release();
    await run.result;
    const next = await two.agents.run({ ...KEY, newMessage: 'next', policy: 'enqueue' }, echo).result;
    expect(inShort(next.events)).toEqual(['agent echo: next']);
    const said = (await one.logInShort()).filter((event) => !event.startsWith('system'));
    expect(said.slice(2)).toEqual(['user lost', 'agent echo: lost', 'user next', 'agent echo: next']);
    expect(await Promise.race([lost.result, Promise.resolve('never ends')])).toBe('never ends');
    const repeated = { ...KEY, newMessage: 'lost', policy: 'enqueue', invocationId: 'i-2' } as const;
    expect(inShort((await two.agents.run(repeated, echo).result).events)).toEqual(['agent echo: lost']);
    expect((await one.logInShort()).filter((event) => event === 'user lost')).toHaveLength(1);
  });

  it('begins one turn at a time when many come at once, and loses none', async () => {
    const runs = Array.from({ length: 12 }, (_, index) =>
      (index % 2 ? one : two).agents.run({ ...KEY, newMessage: `m${index}`, policy: 'enqueue' }, echo),
    );
    await Promise.all(runs.map(({ result }) => result));
    const said = (await one.logInShort()).filter((event) => !event.startsWith('system'));
    const pairs = said.filter((event) => event.startsWith('user')).map((event) => event.slice('user '.length));
    expect(said).toEqual(pairs.flatMap((message) => [`user ${message}`, `agent echo: ${message}`]));
    expect(pairs.toSorted()).toEqual(runs.map((_, index) => `m${index}`).toSorted());
    await one.sessions.appendEvent({ session: SESSION, event: { author: 'system' } });
  });
});
