import type { RunHandler } from '../../src/agents/index.js';
import { StoreUnavailableError } from '../../src/index.js';
import { type QueuedMessage, queueEvent } from '../../src/agents/turn/control-events.js';
import type { SessionStorage } from '../../src/storage.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { firstStore } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, KEY, SESSION } from './support/agent-app.js';
import { HeldHandler, call, echo, inShort, response, text } from './support/handlers.js';
import { mortalStorage } from './support/mortal-storage.js';

/** Waits for a message that is merged. */
const merging: RunHandler = async function* (context) {
  let taken = 0;
  await until(async () => (taken += (await context.takeMessages()).length) === 1);
  yield text(`took ${taken}`);
};

/** State that the store refuses, when the message is taken. */
const NO_KEY = { 'user:': 1 };

describe.each(firstStore)('queued messages on $name', ({ open }) => {
  let opened: OpenStorage;
  let one: AgentApp;
  let two: AgentApp;
  /** Happens before a turn of the first app begins. */
  let beforeTurn: () => Promise<void>;
  /** Happens before the first app stores the second message. */
  let beforeTaking: () => Promise<void>;

  beforeEach(async () => {
    opened = await open({});
    beforeTurn = () => Promise.resolve();
    beforeTaking = () => Promise.resolve();
    const hooks = { turn: /"begin"/, append: /"message:i-2"/ };
    one = new AgentApp(
      withHook(opened.storage, hooks, async (name) => (name === 'turn' ? beforeTurn() : beforeTaking())),
    );
    two = new AgentApp(opened.storage);
  });

  afterEach(async () => {
    await one.close();
    await two.close();
    expect([...one.errors, ...two.errors]).toEqual([]);
    await opened.destroy();
  });

  const queued = (count: number) =>
    until(async () => (await one.logInShort()).filter((event) => event === 'system queued').length === count);

  it('are not answered again when the request of a merged message is repeated', async () => {
    const run = one.agents.run({ ...KEY, newMessage: 'first', invocationId: 'i-1' }, merging);
    await until(async () => (await one.sessions.getSession(KEY))?.version === 1);
    const second = { ...KEY, newMessage: 'second', invocationId: 'i-2', policy: 'merge' } as const;
    await two.agents.run(second, echo).result;
    await run.result;
    const log = await one.logInShort();
    const again = await two.agents.run(second, echo).result;
    expect(again).toMatchObject({ invocationId: 'i-1', status: 'completed', events: [text('took 1')] });
    expect(await one.logInShort()).toEqual(log);
  });

  it('leave the queue when the store refuses them', async () => {
    const held = new HeldHandler();
    const run = one.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    const bad = two.agents.run({ ...KEY, newMessage: 'bad', stateDelta: NO_KEY, policy: 'enqueue' }, echo);
    await queued(1);
    held.release();
    await run.result;
    await expect(bad.result).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect((await two.sessions.getSession(KEY))?.metadata.fields).toEqual({});
    const good = await one.agents.run({ ...KEY, newMessage: 'good' }, echo).result;
    expect(good.events).toMatchObject([text('echo: good')]);
  });

  it('do not fail with another message of the same `debounce` that the store refuses', async () => {
    await one.sessions.createSession(KEY);
    const request = { ...KEY, policy: 'debounce', quietMs: 200 } as const;
    const bad = one.agents.run({ ...request, newMessage: 'bad', stateDelta: NO_KEY }, echo);
    await queued(1);
    const good = two.agents.run({ ...request, newMessage: 'good' }, echo);
    expect((await good.result).events).toMatchObject([text('echo: good')]);
    await expect(bad.result).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect((await two.sessions.getSession(KEY))?.metadata.fields).toEqual({});
  });

  it.each(['reject', 'enqueue'] as const)(
    'go on when the request with `%s` that answers them is stopped',
    async (policy) => {
      await one.sessions.createSession(KEY);
      const lost: QueuedMessage = { policy: 'enqueue', message: { role: 'user', parts: [{ text: 'lost' }] } };
      await one.sessions.appendEvents({ session: SESSION, events: [queueEvent('i-lost', KEY.sessionId, lost)] });
      const held = new HeldHandler();
      const leaving = new AbortController();
      const run = one.agents.run({ ...KEY, newMessage: 'mine', policy, signal: leaving.signal }, held.handler);
      await held.started;
      leaving.abort();
      expect(await run.result).toMatchObject({ status: 'stopped', events: [] });
      held.release();
      await until(async () => (await one.sessions.getTurn(KEY)) === undefined);
      const log = (await one.logInShort()).filter((event) => !event.startsWith('system'));
      expect(log).toEqual(['user lost', 'agent done']);
    },
  );

  it('are answered with `debounce` when the newest is taken back', async () => {
    await one.sessions.createSession(KEY);
    const request = { ...KEY, policy: 'debounce', quietMs: 200 } as const;
    const first = one.agents.run({ ...request, newMessage: 'a' }, echo);
    await queued(1);
    const second = two.agents.run({ ...request, newMessage: 'b', invocationId: 'i-b' }, echo);
    await queued(2);
    expect(await one.agents.stop({ ...KEY, invocationId: 'i-b' })).toBe(true);
    expect(await second.result).toMatchObject({ status: 'stopped' });
    expect((await first.result).events).toMatchObject([text('echo: a')]);
  });

  it('are not answered when they are taken back just before their turn', async () => {
    const held = new HeldHandler();
    const run = two.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    const stopped: boolean[] = [];
    let begins = 0;
    beforeTurn = async () => {
      begins += 1;
      // The first one makes it wait.
      if (begins === 1) return;
      await run.result;
      stopped.push(await two.agents.stop({ ...KEY, invocationId: 'i-2' }));
    };
    const waiting = one.agents.run({ ...KEY, newMessage: 'second', invocationId: 'i-2', policy: 'enqueue' }, echo);
    await queued(1);
    held.release();
    expect(await waiting.result).toMatchObject({ status: 'stopped', events: [] });
    expect([stopped, await one.logInShort()]).toEqual([[true], expect.not.arrayContaining(['user second'])]);
  });

  it('are not answered with `merge` when they are taken back while they are taken', async () => {
    let taken = 0;
    const stopped: boolean[] = [];
    const run = one.agents.run({ ...KEY, newMessage: 'first' }, async function* (context) {
      await until(async () => {
        taken += (await context.takeMessages()).length;
        return stopped.length > 0;
      });
      yield text(`took ${taken}`);
    });
    beforeTaking = async () => {
      if (stopped.length === 0) stopped.push(await two.agents.stop({ ...KEY, invocationId: 'i-2' }));
    };
    await until(async () => (await one.sessions.getSession(KEY))?.version === 1);
    const second = two.agents.run({ ...KEY, newMessage: 'second', invocationId: 'i-2', policy: 'merge' }, echo);
    expect(await second.result).toMatchObject({ status: 'stopped', events: [] });
    expect(inShort((await run.result).events)).toEqual(['agent took 0']);
    expect([stopped, await one.logInShort()]).toEqual([[true], expect.not.arrayContaining(['user second'])]);
  });

  it.each([undefined, { numRecentEvents: 1 }])(
    'stay taken back when they are requested again, with the view %p',
    async (config) => {
      const held = new HeldHandler();
      const run = two.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
      await held.started;
      const second = { ...KEY, newMessage: 'second', invocationId: 'i-2', policy: 'enqueue', config } as const;
      const waiting = one.agents.run(second, echo);
      await queued(1);
      await two.agents.stop({ ...KEY, invocationId: 'i-2' });
      await waiting.result;
      held.release();
      await run.result;
      const log = await one.logInShort();
      const again = await two.agents.run(second, echo).result;
      expect(again).toMatchObject({ status: 'stopped', invocationId: 'i-2', events: [] });
      expect(await one.logInShort()).toEqual(log);
    },
  );

  it('give way to one that interrupts, also if it comes just before their turn', async () => {
    const held = new HeldHandler();
    const run = two.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    let begins = 0;
    beforeTurn = async () => {
      begins += 1;
      // The first one makes it wait, the second one is its turn.
      if (begins !== 2) return;
      await run.result;
      const third: QueuedMessage = { policy: 'interrupt', message: { parts: [{ text: 'third' }] } };
      await two.sessions.appendEvents({ session: SESSION, events: [queueEvent('i-3', KEY.sessionId, third)] });
    };
    const second = one.agents.run({ ...KEY, newMessage: 'second', policy: 'enqueue' }, echo);
    await queued(1);
    held.release();
    await Promise.all([run.result, second.result]);
    const said = (await one.logInShort()).filter((event) => event.startsWith('user'));
    expect(said).toEqual(['user first', 'user third', 'user second']);
  });

  it('may be corrected under the same id when the store refused them', async () => {
    const held = new HeldHandler();
    const run = one.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    const request = { ...KEY, invocationId: 'i-2', policy: 'enqueue' } as const;
    const bad = two.agents.run({ ...request, newMessage: 'bad', stateDelta: NO_KEY }, echo);
    await queued(1);
    held.release();
    await run.result;
    await expect(bad.result).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    const good = await one.agents.run({ ...request, newMessage: 'good' }, echo).result;
    expect(good.events).toMatchObject([text('echo: good')]);
  });

  it('can be stopped when they were taken by a process that died, and another turn runs', async () => {
    const first = new HeldHandler();
    const run = two.agents.run({ ...KEY, newMessage: 'first' }, first.handler);
    await first.started;
    let begins = 0;
    let isOpen = false;
    beforeTurn = async () => {
      begins += 1;
      if (begins > 1) await until(() => isOpen);
    };
    const stopping = new AbortController();
    const { signal } = stopping;
    const waiting = one.agents.run({ ...KEY, newMessage: 'second', policy: 'enqueue', signal }, echo);
    await queued(1);
    const mortal = mortalStorage(opened.storage);
    const dying = new AgentApp(mortal.storage, { turnTtlMs: 300, graceMs: 0 });
    const taking = new HeldHandler();
    dying.agents.run({ ...KEY, newMessage: 'third', policy: 'enqueue' }, taking.handler);
    await queued(2);
    first.release();
    await run.result;
    await taking.started;
    mortal.kill();
    await until(async () => !(await two.sessions.getTurn(KEY)));
    await two.sessions.beginTurn({ ...KEY, holder: 'other' });
    isOpen = true;
    await until(() => begins > 4);
    stopping.abort();
    expect(await waiting.result).toMatchObject({ status: 'stopped', events: [] });
  });

  it('rewind the running turn with `rollback`, also with a narrow view', async () => {
    const held = new HeldHandler([call('c1')]);
    const run = one.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    const config = { numRecentEvents: 2 };
    await two.agents.run({ ...KEY, newMessage: 'second', policy: 'rollback', config }, echo).result;
    await run.result;
    expect(await one.logInShort()).toContain('system rewind');
  });

  it('find a clean log after a death, also with a narrow view', async () => {
    const mortal = mortalStorage(opened.storage);
    const dying = new AgentApp(mortal.storage, { turnTtlMs: 300 });
    const held = new HeldHandler([call('c1'), response('c1'), call('c2'), response('c2'), call('c3')]);
    dying.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    mortal.kill();
    const config = { numRecentEvents: 2 };
    await two.agents.run({ ...KEY, newMessage: 'second', policy: 'enqueue', config }, echo).result;
    const log = await two.logInShort();
    const end = ['agent !c3', 'agent - DIED', 'user second', 'agent echo: second'];
    expect(log.slice(-4)).toEqual(end);
  });

  it('do not repair what was rewound after a death, also with a narrow view', async () => {
    const mortal = mortalStorage(opened.storage);
    const dying = new AgentApp(mortal.storage, { turnTtlMs: 300 });
    const held = new HeldHandler([call('c1')]);
    dying.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    mortal.kill();
    await until(async () => !(await two.sessions.getTurn(KEY)));
    await two.sessions.rewindSession({ ...KEY, toSeq: 0 });
    const config = { numRecentEvents: 5 };
    const { session } = await two.agents.run({ ...KEY, newMessage: 'second', config }, echo).result;
    expect(inShort(session.events)).toEqual(['user second', 'agent echo: second']);
  });

  it('repair only what is left when a part of a dead invocation was rewound', async () => {
    const mortal = mortalStorage(opened.storage);
    const dying = new AgentApp(mortal.storage, { turnTtlMs: 300 });
    const held = new HeldHandler([call('c1')]);
    dying.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    mortal.kill();
    await until(async () => !(await two.sessions.getTurn(KEY)));
    await two.sessions.rewindSession({ ...KEY, toSeq: 1 });
    const { session } = await two.agents.run({ ...KEY, newMessage: 'second' }, echo).result;
    const end = ['user first', 'agent - DIED', 'user second', 'agent echo: second'];
    expect(inShort(session.events)).toEqual(end);
  });

  it('give the handler a narrow view with `rollback`, too', async () => {
    await one.agents.run({ ...KEY, newMessage: 'zero' }, echo).result;
    const held = new HeldHandler([call('c1')]);
    const run = one.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    const views: string[][] = [];
    const config = { numRecentEvents: 1 };
    await two.agents.run({ ...KEY, newMessage: 'second', policy: 'rollback', config }, async function* (context) {
      views.push(inShort(context.history));
      yield text('done');
    }).result;
    await run.result;
    expect(views).toEqual([['agent echo: zero', 'user second']]);
  });

  /** A message whose process died while it waited. */
  const queuedBefore = {
    id: 'queued:i-9',
    author: 'system',
    actions: {
      queued: { policy: 'enqueue', message: { role: 'user', parts: [{ text: 'lost' }] } },
      metadataDelta: { fields: { 'agents:queued:i-9': KEY.sessionId } },
    },
  };

  it('leave the queue when their request is repeated after its process died', async () => {
    const session = await one.sessions.createSession(KEY);
    await one.sessions.appendEvent({ session, event: queuedBefore });
    const lost = { ...KEY, newMessage: 'lost', invocationId: 'i-9', policy: 'enqueue' } as const;
    expect(await two.agents.run(lost, echo).result).toMatchObject({ status: 'completed' });
    expect((await two.sessions.getSession(KEY))?.metadata.fields).toEqual({});
    expect(await one.logInShort()).toEqual(['system queued', 'user lost', 'agent echo: lost']);
  });

  it('leave the queue when they are not in the log any more', async () => {
    const session = await one.sessions.createSession(KEY);
    const { metadataDelta } = queuedBefore.actions;
    await one.sessions.appendEvent({ session, event: { author: 'system', actions: { metadataDelta } } });
    const { events } = await two.agents.run({ ...KEY, newMessage: 'next' }, echo).result;
    expect(events).toMatchObject([text('echo: next')]);
    expect((await two.sessions.getSession(KEY))?.metadata.fields).toEqual({});
  });

  it('let a `reject` request fail when the store keeps failing for the message before it', async () => {
    const session = await one.sessions.createSession(KEY);
    await one.sessions.appendEvent({ session, event: queuedBefore });
    const failing = new AgentApp(withFailure(opened.storage, 'message:i-9'));
    const run = failing.agents.run({ ...KEY, newMessage: 'next' }, echo);
    await expect(run.result).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(failing.errors).toHaveLength(3);
    await failing.close();
    expect(await one.logInShort()).toEqual(['system queued']);
  });

  it('let a `reject` request be stopped while it pauses', async () => {
    const session = await one.sessions.createSession(KEY);
    await one.sessions.appendEvent({ session, event: queuedBefore });
    const failing = new AgentApp(withFailure(opened.storage, 'message:i-9'), { pollMs: 3_600_000 });
    const stopping = new AbortController();
    const run = failing.agents.run({ ...KEY, newMessage: 'next', signal: stopping.signal }, echo);
    await until(() => Promise.resolve(failing.errors.length === 1));
    stopping.abort();
    expect(await run.result).toMatchObject({ status: 'stopped', events: [] });
    await failing.close();
  });
});

function withHook(
  storage: SessionStorage,
  hooks: Readonly<Record<string, RegExp>>,
  before: (name: string) => Promise<void>,
): SessionStorage {
  return new Proxy(storage, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        if (hooks[String(name)]?.test(JSON.stringify(args)) === true) await before(String(name));
        return value.apply(target, args) as unknown;
      };
    },
  });
}

/** A store that is not available for the event with this id. */
function withFailure(storage: SessionStorage, eventId: string): SessionStorage {
  return new Proxy(storage, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        if (name === 'append' && JSON.stringify(args).includes(eventId)) throw new StoreUnavailableError('down', false);
        return value.apply(target, args) as unknown;
      };
    },
  });
}
