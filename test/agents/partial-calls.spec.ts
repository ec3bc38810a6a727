import { once } from 'node:events';
import { InMemorySessionStorage, StoreUnavailableError, type WatchedEvent } from '../../src/index.js';
import type { PartialSettings, RunHandler } from '../../src/agents/index.js';
import type { SessionStorage } from '../../src/storage.js';
import type { PartialWrite } from '../../src/sessions/domain/stored/partial-event.js';
import { savedPieces } from '../support/saved-pieces.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, echo, eventsOf, partial, text } from './support/handlers.js';
import { mortalStorage } from './support/mortal-storage.js';
import { wordsIn } from './support/screen.js';

/** Longer than a test. */
const NEVER_MS = 10_000_000;

/** A storage that notes how many partial events are saved at once, and what commits end. */
class Noting {
  readonly saves: number[] = [];
  readonly ended: unknown[] = [];
  reads = 0;
  #together = 0;
  readonly storage: SessionStorage;

  constructor(storage: SessionStorage = new InMemorySessionStorage()) {
    this.storage = new Proxy(storage, {
      get: (target, name) => {
        if (name === 'savePartial') {
          return (write: PartialWrite) => {
            if (this.#together === 0) setImmediate(() => this.#noteSaves());
            this.#together += 1;
            return target.savePartial(write);
          };
        }
        if (name === 'append') {
          return (commit: Parameters<SessionStorage['append']>[0]) => {
            this.ended.push(commit.endsPartials);
            return target.append(commit);
          };
        }
        if (name === 'read') this.reads += 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  #noteSaves(): void {
    this.saves.push(this.#together);
    this.#together = 0;
  }
}

/** The next events of a watch. */
async function taken(watch: AsyncIterator<WatchedEvent>, count: number): Promise<WatchedEvent[]> {
  const events: WatchedEvent[] = [];
  while (events.length < count) events.push(((await watch.next()) as IteratorYieldResult<WatchedEvent>).value);
  return events;
}

/** Completes its message at once. */
const spoken: RunHandler = async function* () {
  yield partial('It ');
  yield text('It is');
  return text('done');
};

describe('partial events of a run', () => {
  const apps: AgentApp[] = [];

  function appOver({ storage }: { storage: SessionStorage }, partials?: Partial<PartialSettings> | false): AgentApp {
    const app = new AgentApp(storage, { partials });
    apps.push(app);
    return app;
  }

  afterEach(async () => {
    for (const app of apps.splice(0)) {
      await app.close();
      expect(app.errors).toEqual([]);
    }
  });

  it('cost nothing if there are none, if none is waited for, or if they are switched off', async () => {
    const noting = new Noting();
    for (const settings of [undefined, { flushMs: NEVER_MS }, false] as const) {
      const app = appOver(noting, settings);
      const handler =
        settings === undefined
          ? async function* () {
              yield text('done');
            }
          : spoken;
      await app.agents.run({ appName: 'shop', userId: 'ann', newMessage: 'hi' }, handler).result;
    }
    expect(noting.saves).toEqual([]);
    expect(noting.ended.filter(Boolean)).toEqual([]);
  });

  it('are one call for all that the turns of a process said meanwhile, and none more to remove them', async () => {
    const noting = new Noting();
    // Longer than the pieces take, also on a busy machine.
    const app = appOver(noting, { flushMs: 250 });
    const words = Array.from({ length: 50 }, (_, index) => partial(`${index} `));
    const held = Array.from({ length: 3 }, () => new HeldHandler(words, [text('whole')]));
    const runs = held.map(({ handler }, index) =>
      app.agents.run({ ...KEY, sessionId: `s-${index}`, newMessage: 'hi' }, handler),
    );
    await Promise.all(held.map(({ started }) => started));
    await until(() => noting.saves.reduce((sum, count) => sum + count, 0) >= 3);
    expect(noting.saves.length).toBeLessThanOrEqual(3);
    const calls = noting.ended.length;
    for (const each of held) each.release();
    await Promise.all(runs.map(({ result }) => result));
    expect(noting.ended.slice(calls)).toEqual(['all', 'all', 'all']);
  });

  it('have the id of the event that replaces them, and their place in its text', async () => {
    const app = appOver(new Noting(), { flushMs: 1 });
    const thought = {
      partial: true,
      content: { parts: [{ text: 'Hm. ', thought: true }, { inlineData: { data: 'x' } }] },
    };
    const held = new HeldHandler([thought, partial('It '), partial('is')], [text('It is sunny')]);
    const run = app.agents.run({ ...KEY, newMessage: 'hi', invocationId: 'i-1' }, held.handler);
    await held.started;
    const watch = app.sessions.watch({ ...KEY, afterSeq: 1, partials: true });
    const [said] = await taken(watch, 1);
    const parts = [{ text: 'Hm. ', thought: true }, { text: 'It is' }];
    expect(said).toMatchObject({ seq: 1, author: 'agent', invocationId: 'i-1', partial: true, offset: 0 });
    expect(said).toMatchObject({ position: expect.stringMatching(/^1\.1-\d+$/), content: { role: 'model', parts } });
    held.release();
    const [whole] = await taken(watch, 1);
    expect(whole).toMatchObject({ id: said?.id, seq: 2, position: said?.position?.replace(/^1/, '2') });
    expect(whole?.partial).toBeUndefined();
    await watch.return?.();
    const local = (await eventsOf(run)).at(-1);
    expect(local?.id).toBe(said?.id);
  });

  it('are read by those who ask for them alone, and the others are not woken', async () => {
    const noting = new Noting();
    const app = appOver(noting, { flushMs: 1 });
    await app.sessions.createSession(KEY);
    const held = new HeldHandler([partial('It ')], [partial('is '), text('whole')]);
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, held.handler);
    await held.started;
    const plain = app.sessions.watch({ ...KEY, afterSeq: 1 });
    const next = plain.next();
    const watch = app.sessions.watch({ ...KEY, afterSeq: 1, partials: true });
    await taken(watch, 1);
    const { reads } = noting;
    held.release();
    expect((await next).value).toMatchObject({ seq: 2, content: { parts: [{ text: 'whole' }] } });
    expect(noting.reads - reads).toBeLessThan(10);
    await run.result;
    await watch.return?.();
    await plain.return?.();
  });

  it('of one speaker are not removed by a commit that completes the message of another one meanwhile', async () => {
    const storage = new InMemorySessionStorage();
    const [arrival, delivery] = [new AbortController(), new AbortController()];
    const arriving = once(arrival.signal, 'abort');
    const delivered = once(delivery.signal, 'abort');
    const late = new Proxy(storage, {
      get: (target, name) => {
        if (name === 'append') {
          return async (commit: Parameters<SessionStorage['append']>[0]) => {
            if (commit.endsPartials !== undefined && !commit.endsTurn) {
              arrival.abort();
              await delivered;
            }
            return target.append(commit);
          };
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const app = appOver({ storage: late }, { flushMs: 1 });
    await app.sessions.createSession(KEY);
    const saved = async (): Promise<number> => {
      return (await savedPieces(storage, KEY))?.length ?? 0;
    };
    const end = new HeldHandler();
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* (context) {
      yield { ...partial('One'), author: 'one' };
      await until(async () => (await saved()) === 1);
      yield { ...partial('Two'), author: 'two' };
      yield { ...text('One'), author: 'one' };
      yield* end.handler(context) as AsyncGenerator<ReturnType<typeof text>>;
    });
    await arriving;
    // A piece of `two` is due now. The next timers run after it.
    await until(() => new Promise((resolve) => setTimeout(() => resolve(true), 20)));
    delivery.abort();
    await until(async () => (await saved()) === 1);
    const watch = app.sessions.watch({ ...KEY, afterSeq: 2, partials: true });
    expect((await taken(watch, 1)).map((event) => [event.author, event.offset, wordsIn(event)])).toEqual([
      ['two', 0, 'Two'],
    ]);
    await watch.return?.();
    await end.started;
    end.release();
    await run.result;
  });

  it('are saved up to a limit, and the final event is whole', async () => {
    const noting = new Noting();
    const app = appOver(noting, { flushMs: 1, maxBytes: 10 });
    const held = new HeldHandler(
      [partial('123456'), partial('7890'), partial('too much'), partial('x')],
      [text('all')],
    );
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, held.handler);
    await held.started;
    const watch = app.sessions.watch({ ...KEY, afterSeq: 1, partials: true });
    expect((await taken(watch, 1)).map(wordsIn)).toEqual(['1234567890']);
    held.release();
    expect((await taken(watch, 1)).map(wordsIn)).toEqual(['all']);
    await watch.return?.();
    await run.result;
  });

  it('become the text of the interrupted event, if their process dies or the run is stopped', async () => {
    const clock = { time: Date.now(), now: () => clock.time };
    const storage = new InMemorySessionStorage({ clock });
    const mortal = mortalStorage(storage);
    const living = new AgentApp(storage);
    apps.push(living);
    await living.sessions.createSession(KEY);
    const first = new HeldHandler([partial('It is ')]);
    const dead = new AgentApp(mortal.storage, { partials: { flushMs: 1 } });
    void dead.agents
      .run({ ...KEY, newMessage: 'hi', invocationId: 'i-1' }, first.handler)
      .result.catch(() => undefined);
    await first.started;
    const watch = living.sessions.watch({ ...KEY, afterSeq: 1, partials: true });
    const [said] = await taken(watch, 1);
    mortal.kill();
    clock.time += 60_000;
    const second = new HeldHandler([partial('Now it ')]);
    const run = living.agents.run({ ...KEY, newMessage: 'and now?' }, second.handler);
    await second.started;
    expect(await living.logInShort()).toEqual(['user hi', 'agent It is  - DIED', 'user and now?']);
    expect((await taken(watch, 2)).map(({ id }) => id)).toEqual([said?.id, expect.stringMatching(/^message:/)]);
    await living.agents.stop(KEY);
    expect(await run.result).toMatchObject({ status: 'stopped' });
    expect((await living.logInShort()).at(-1)).toBe('agent Now it  - STOPPED');
    await watch.return?.();
  });

  it.each(['another message', 'the same message again'])(
    'of a second agent are kept if their process dies, whether %s follows',
    async (which) => {
      const clock = { time: Date.now(), now: () => clock.time };
      const storage = new InMemorySessionStorage({ clock });
      const mortal = mortalStorage(storage);
      const living = new AgentApp(storage);
      apps.push(living);
      await living.sessions.createSession(KEY);
      const draft = { ...text('a draft'), author: 'writer' };
      const both = new HeldHandler([draft, { ...partial('It lacks '), author: 'critic' }]);
      const dead = new AgentApp(mortal.storage, { partials: { flushMs: 1 } });
      const first = { ...KEY, newMessage: 'hi', invocationId: 'i-1' };
      void dead.agents.run(first, both.handler).result.catch(() => undefined);
      await both.started;
      const watch = living.sessions.watch({ ...KEY, afterSeq: 2, partials: true });
      expect((await taken(watch, 1)).map(wordsIn)).toEqual(['It lacks ']);
      await watch.return?.();
      mortal.kill();
      clock.time += 60_000;
      if (which === 'another message') {
        await living.agents.run({ ...KEY, newMessage: 'and now?' }, echo).result;
        const said = ['user hi', 'writer a draft', 'critic It lacks  - DIED', 'user and now?', 'agent echo: and now?'];
        expect(await living.logInShort()).toEqual(said);
      } else {
        const again = living.agents.run(first, async function* () {
          yield { ...text('It lacks salt'), author: 'critic' };
        });
        expect(await again.result).toMatchObject({ status: 'completed' });
        expect(await living.logInShort()).toEqual([
          'user hi',
          'writer a draft',
          'critic discarded',
          'critic It lacks salt',
        ]);
      }
      expect(await savedPieces(storage, KEY)).toEqual([]);
    },
  );

  it('leave nothing behind if the store carries out a failed write after their message is complete', async () => {
    const storage = new InMemorySessionStorage();
    let carryOut: (() => Promise<unknown>) | undefined;
    const failing = new Proxy(storage, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (name !== 'savePartial') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        return async (write: PartialWrite) => {
          carryOut ??= () => target.savePartial(write);
          throw new StoreUnavailableError('too late', true);
        };
      },
    });
    const app = new AgentApp(failing, { partials: { flushMs: 1 } });
    await app.sessions.createSession(KEY);
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
      yield partial('It ');
      await until(() => carryOut !== undefined);
      yield text('It is');
      await carryOut?.();
      yield text('done');
    }).result;
    await app.close();
    expect(await savedPieces(storage, KEY)).toEqual([]);
    // What comes after the turn is refused.
    await carryOut?.();
    expect(await savedPieces(storage, KEY)).toEqual([]);
    expect(app.errors).toMatchObject([{ code: 'STORE_UNAVAILABLE' }]);
  });

  it('are gone after a rewind', async () => {
    const storage = new InMemorySessionStorage();
    const app = appOver({ storage }, { flushMs: 1 });
    const held = new HeldHandler([partial('It is ')]);
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, held.handler);
    await held.started;
    const watch = app.sessions.watch({ ...KEY, afterSeq: 1, partials: true });
    await taken(watch, 1);
    await app.sessions.rewindSession({ ...KEY, toSeq: 0 });
    expect(await savedPieces(storage, KEY)).toEqual([]);
    await expect(run.result).rejects.toMatchObject({ code: 'TURN_LOST' });
    held.release();
    await watch.return?.();
  });

  it('come to a repeated request in another instance', async () => {
    const noting = new Noting();
    const one = appOver(noting, { flushMs: 1 });
    const two = appOver(noting);
    const held = new HeldHandler([partial('It ')], [text('whole')]);
    const request = { ...KEY, newMessage: 'hi', invocationId: 'i-1' };
    const run = one.agents.run(request, held.handler);
    await held.started;
    const events = two.agents.run(request, held.handler)[Symbol.asyncIterator]();
    const { value } = await events.next();
    expect(value).toMatchObject({ partial: true, content: { parts: [{ text: 'It ' }] } });
    expect(value).not.toHaveProperty('seq');
    held.release();
    expect((await events.next()).value).toMatchObject({ seq: 2 });
    await run.result;
    await events.return();
  });

  it.each([{ flushMs: 0 }, { maxBytes: -1 }, { ttlSeconds: 0.5 }])('cannot have the setting %j', (partials) => {
    const noting = new Noting();
    expect(() => new AgentApp(noting.storage, { partials })).toThrow('partials.');
  });
});
