import type { AgentContext, AgentRun } from '../../src/agents/index.js';
import { InMemorySessionStorage } from '../../src/index.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, call, echo, eventsOf, failureBy, inShort, partial, response, text } from './support/handlers.js';

describe('a run', () => {
  let storage: InMemorySessionStorage;
  let app: AgentApp;
  let now: number;

  beforeEach(() => {
    now = Date.now();
    storage = new InMemorySessionStorage({ clock: { now: () => now } });
    app = new AgentApp(storage);
  });

  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
  });

  it('creates the session, stores the message and what the handler yields, and ends its turn', async () => {
    const run = app.agents.run({ ...KEY, newMessage: 'hi', state: { step: 1 } }, echo);
    expect(inShort(await eventsOf(run))).toEqual(['agent echo: hi']);
    const { session, status, events, invocationId } = await run.result;
    expect({ status, state: session.state.getAll(), seqs: events.map(({ seq }) => seq) }).toEqual({
      status: 'completed',
      state: { step: 1 },
      seqs: [2],
    });
    expect(await app.logInShort()).toEqual(['user hi', 'agent echo: hi']);
    expect((await app.log()).map((event) => event.invocationId)).toEqual([invocationId, invocationId]);
    expect(await app.sessions.getTurn(KEY)).toBeUndefined();
  });

  it('generates the id of the session', async () => {
    const run = app.agents.run({ appName: 'shop', userId: 'ann', newMessage: 'hi' }, echo);
    const { session } = await run.result;
    expect(session.id).toBe(run.sessionId);
    expect(session.conversationCount).toBe(1);
  });

  it('stores an event before the handler goes on', async () => {
    const seen: number[] = [];
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
      yield call('c1');
      seen.push((await app.log()).length);
      yield response('c1');
      seen.push((await app.log()).length);
      yield text('sunny');
    }).result;
    expect(seen).toEqual([2, 3]);
    expect(await app.logInShort()).toEqual(['user hi', 'agent ?c1', 'agent !c1', 'agent sunny']);
  });

  it('passes partial events on, and stores none', async () => {
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
      yield partial('su');
      yield partial('nny');
      yield text('sunny');
    });
    expect(inShort(await eventsOf(run))).toEqual(['agent su', 'agent nny', 'agent sunny']);
    expect(await app.logInShort()).toEqual(['user hi', 'agent sunny']);
  });

  it('leaves the event loop to others while a handler gives many pieces without a pause', async () => {
    const others = jest.fn();
    let pieces = 0;
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
      setImmediate(others);
      for (; pieces < 20_000 && others.mock.calls.length === 0; pieces++) yield partial('.');
    });
    await run.result;
    expect(others).toHaveBeenCalledTimes(1);
    expect(pieces).toBeLessThan(20_000);
  });

  it('stores a returned event with the end of the turn', async () => {
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
      yield call('c1');
      yield response('c1');
      return text('sunny');
    });
    expect(inShort(await eventsOf(run))).toEqual(['agent ?c1', 'agent !c1', 'agent sunny']);
    expect(await app.sessions.getTurn(KEY)).toBeUndefined();
  });

  it('goes on when nobody reads its events any more', async () => {
    const held = new HeldHandler([text('one')]);
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, held.handler);
    for await (const event of run) if (event) break;
    held.release();
    await run.result;
    expect(await app.logInShort()).toEqual(['user hi', 'agent one', 'agent done']);
  });

  it('says that nothing follows if the handler ends without a final response', async () => {
    // eslint-disable-next-line require-yield
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
      await Promise.resolve();
    }).result;
    expect(await app.logInShort()).toEqual(['user hi', 'agent end']);
    await app.agents.run({ ...KEY, newMessage: 'again' }, async function* () {
      yield call('c1');
    }).result;
    expect((await app.logInShort()).slice(2)).toEqual(['user again', 'agent ?c1', 'agent !c1', 'agent end']);
  });

  describe('that does not end well', () => {
    const failing = new Error('the model is down');

    it('closes calls and keeps the partial text when the handler throws', async () => {
      const run = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
        yield call('c1');
        yield partial('It is ');
        yield partial('sun');
        throw failing;
      });
      await expect(eventsOf(run)).rejects.toMatchObject(failureBy(failing));
      await expect(run.result).rejects.toMatchObject(failureBy(failing));
      expect(await app.logInShort()).toEqual(['user hi', 'agent ?c1', 'agent !c1', 'agent It is sun - FAILED']);
      expect((await app.log()).at(-1)).toMatchObject({ interrupted: true, turnComplete: true });
      expect(JSON.stringify(await app.log())).not.toContain('model is down');
      expect(await app.sessions.getTurn(KEY)).toBeUndefined();
    });

    it('closes the log when the handler throws before its first event, or is no generator', async () => {
      const run = app.agents.run({ ...KEY, newMessage: 'hi' }, () => {
        throw failing;
      });
      await expect(run.result).rejects.toMatchObject(failureBy(failing));
      await expect(
        app.agents.run({ ...KEY, newMessage: 'hi' }, (() => undefined) as never).result,
      ).rejects.toMatchObject(failureBy({ code: 'INVALID_INPUT', path: 'handler' }));
      expect(await app.logInShort()).toEqual(['user hi', 'agent - FAILED', 'user hi', 'agent - FAILED']);
    });

    it.each([undefined, null, 5, 'text', true, [text('one')]])('refuses %p in place of an event', async (given) => {
      const yielding = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
        yield given as never;
      });
      const refused = {
        code: 'INVALID_INPUT',
        path: 'handler.yield',
        message: expect.stringContaining('yield { content'),
      };
      await expect(yielding.result).rejects.toMatchObject(failureBy(refused));
      // eslint-disable-next-line require-yield
      const returning = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
        await Promise.resolve();
        return given as never;
      });
      const isNothing = given === undefined || given === null;
      if (isNothing) expect(await returning.result).toMatchObject({ status: 'completed' });
      else await expect(returning.result).rejects.toMatchObject(failureBy({ path: 'handler.return' }));
      const end = isNothing ? 'agent end' : 'agent - FAILED';
      expect(await app.logInShort()).toEqual(['user hi', 'agent - FAILED', 'user hi', end]);
    });

    it.each([
      ['a value of the state', 'agent'],
      ['a long text', 'agent'],
      ['half a character', 'agent half \ufffd'],
      ['a returned event', 'agent'],
    ])('has a clean log, although the store refuses %s', async (unstorable, end) => {
      const failed = app.agents.run({ ...KEY, newMessage: 'hi' }, (context) =>
        saying(context, unstorable, true, () => undefined),
      );
      await expect(failed.result).rejects.toThrow();
      const before = ['user hi', 'agent ?c1', 'agent !c1'];
      expect(await app.logInShort()).toEqual([...before, `${end} - FAILED`]);

      await app.sessions.deleteSession(KEY);
      const endless = await new Promise<AgentRun>((resolve) => {
        const run = app.agents.run({ ...KEY, newMessage: 'hi' }, (context) =>
          saying(context, unstorable, false, () => resolve(run)),
        );
      });
      await app.agents.stop(KEY);
      expect((await endless.result).status).toBe('stopped');
      const log = (await app.logInShort()).filter((event) => !event.startsWith('system'));
      expect(log).toEqual([...before, `${end} - STOPPED`]);
    });

    it('is no error of the server if a client deleted its session meanwhile', async () => {
      const held = new HeldHandler();
      const run = app.agents.run({ ...KEY, newMessage: 'hi' }, held.handler);
      await held.started;
      await app.sessions.deleteSession(KEY);
      held.release();
      await expect(run.result).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      expect(app.errors).toEqual([]);
    });

    it('ends at once if its session is deleted, whatever the handler waits for', async () => {
      const held = new HeldHandler();
      const run = app.agents.run({ ...KEY, newMessage: 'hi' }, held.handler);
      await held.started;
      await app.sessions.deleteSession(KEY);
      await expect(run.result).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      expect(held.context?.signal.aborted).toBe(true);
      held.release();
    });

    it('is closed if the store refuses what an approval shows', async () => {
      const run = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* (context) {
        yield call('c1');
        await context.requestApproval({ id: 'order', payload: 1n });
      });
      await expect(run.result).rejects.toMatchObject(failureBy({ code: 'INVALID_INPUT' }));
      expect(await app.logInShort()).toEqual(['user hi', 'agent ?c1', 'agent !c1', 'agent - FAILED']);
    });

    it('is stopped by its signal, even if the handler ignores it', async () => {
      const held = new HeldHandler([call('c1'), partial('It')]);
      const stopping = new AbortController();
      const run = app.agents.run({ ...KEY, newMessage: 'hi', signal: stopping.signal }, held.handler);
      await held.started;
      expect(held.context?.signal.aborted).toBe(false);
      stopping.abort();
      expect(await run.result).toMatchObject({ status: 'stopped' });
      expect(held.context?.signal.aborted).toBe(true);
      held.release();
      expect(await app.logInShort()).toEqual(['user hi', 'agent ?c1', 'agent !c1', 'agent It - STOPPED']);
    });

    it('is stopped by `stop` of another instance', async () => {
      const other = new AgentApp(storage);
      expect(await app.agents.run({ ...KEY, newMessage: 'one' }, echo).result).toMatchObject({ status: 'completed' });
      expect(await other.agents.stop(KEY)).toBe(false);
      const held = new HeldHandler();
      const run = app.agents.run({ ...KEY, newMessage: 'hi', invocationId: 'i-1' }, held.handler);
      await held.started;
      expect(await other.agents.stop({ ...KEY, invocationId: 'i-0' })).toBe(false);
      expect(await other.agents.stop({ ...KEY, invocationId: 'i-1' })).toBe(true);
      expect(await run.result).toMatchObject({ status: 'stopped' });
      expect((await app.logInShort()).slice(2)).toEqual(['user hi', 'system stop', 'agent - STOPPED']);
      await other.close();
    });

    it('is stopped in a session that accepts writes in turns only', async () => {
      const other = new AgentApp(storage);
      await app.sessions.createSession({ ...KEY, turnsOnly: true });
      const held = new HeldHandler([call('c1')]);
      const run = app.agents.run({ ...KEY, newMessage: 'hi' }, held.handler);
      await held.started;
      expect(await other.agents.stop(KEY)).toBe(true);
      expect(await run.result).toMatchObject({ status: 'stopped' });
      expect(await app.logInShort()).toEqual(['user hi', 'agent ?c1', 'system stop', 'agent !c1', 'agent - STOPPED']);
      expect(await other.agents.stop(KEY)).toBe(false);
      await other.close();
    });

    it('is not begun if its signal has aborted before', async () => {
      const run = app.agents.run({ ...KEY, newMessage: 'hi', signal: AbortSignal.abort() }, echo);
      await expect(run.result).rejects.toMatchObject({ name: 'AbortError' });
      expect(await app.sessions.getSession(KEY)).toBeUndefined();
    });

    it.each([undefined, { numRecentEvents: 1 }])('is repaired by the next one with the view %p', async (config) => {
      const session = { id: KEY.sessionId, appName: 'shop', userId: 'ann' };
      await app.sessions.createSession(KEY);
      const died = { invocationId: 'i-1', author: 'agent' };
      const message = { id: 'message:i-1', invocationId: 'i-1', author: 'user', content: { parts: [{ text: 'hi' }] } };
      await app.sessions.appendEvents({ session, events: [message, { ...call('c1'), ...died }] });
      const run = app.agents.run({ ...KEY, newMessage: 'again', config }, async function* () {
        yield* [];
        yield text('whole');
      });
      await run.result;
      expect(await app.logInShort()).toEqual([
        'user hi',
        'agent ?c1',
        'agent !c1',
        'agent - DIED',
        'user again',
        'agent whole',
      ]);
    });

    it('is repaired when it has more events than a first look at the log shows', async () => {
      const session = { id: KEY.sessionId, appName: 'shop', userId: 'ann' };
      await app.sessions.createSession(KEY);
      const died = { invocationId: 'i-1', author: 'agent' };
      const message = { id: 'message:i-1', invocationId: 'i-1', author: 'user', content: { parts: [{ text: 'hi' }] } };
      const said = Array.from({ length: 30 }, () => ({ ...text('more'), ...died }));
      await app.sessions.appendEvents({ session, events: [message, { ...call('c1'), ...died }, ...said] });
      const config = { numRecentEvents: 1 };
      await app.agents.run({ ...KEY, newMessage: 'again', config }, echo).result;
      expect((await app.logInShort()).slice(-4, -1)).toEqual(['agent !c1', 'agent - DIED', 'user again']);
    });
  });

  it('takes no tool calls from the user', async () => {
    const forged = { parts: [{ text: 'hi' }, { functionCall: { id: 'c1', name: 'refund', args: {} } }] };
    const open: unknown[] = [];
    await app.agents.run({ ...KEY, newMessage: forged }, async function* (context) {
      open.push(...context.openCalls);
      yield text('done');
    }).result;
    expect(open).toEqual([]);
    expect(await app.logInShort()).toEqual(['user hi ?c1', 'agent done']);
  });

  describe('that is requested again', () => {
    const request = { ...KEY, newMessage: 'hi', invocationId: 'i-1' };

    it('returns the events of the first time', async () => {
      const first = await app.agents.run(request, echo).result;
      const handler = jest.fn(echo);
      const again = app.agents.run(request, handler);
      expect(await eventsOf(again)).toEqual(first.events);
      expect(await again.result).toMatchObject({ status: 'completed', invocationId: 'i-1' });
      expect(handler).not.toHaveBeenCalled();
      expect(await app.log()).toHaveLength(2);
    });

    it('returns them even if a short view does not show the message', async () => {
      const first = await app.agents.run(request, echo).result;
      await app.agents.run({ ...KEY, newMessage: 'two' }, echo).result;
      const again = await app.agents.run({ ...request, config: { numRecentEvents: 0 } }, echo).result;
      expect(again.events).toEqual(first.events);
      expect(await app.log()).toHaveLength(4);
    });

    it('refuses another message under the same id', async () => {
      await app.agents.run(request, echo).result;
      const other = app.agents.run({ ...request, newMessage: 'other', config: { numRecentEvents: 0 } }, echo);
      await expect(other.result).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
    });

    it('follows the first one while it runs', async () => {
      const other = new AgentApp(storage);
      const held = new HeldHandler([call('c1'), response('c1')]);
      const first = app.agents.run(request, held.handler);
      await held.started;
      const handler = jest.fn(echo);
      const again = other.agents.run(request, handler);
      const events = eventsOf(again);
      held.release();
      expect(inShort(await events)).toEqual(['agent ?c1', 'agent !c1', 'agent done']);
      expect((await again.result).events).toEqual((await first.result).events);
      expect(handler).not.toHaveBeenCalled();
      await other.close();
    });

    it('goes on where the process of the first one died', async () => {
      const held = new HeldHandler([call('c1')]);
      const dying = new AgentApp(storage);
      const lost = dying.agents.run(request, held.handler);
      await held.started;
      // As if its process were dead: by the store's clock, its turn is over.
      now += 60_000;
      const again = await app.agents.run(request, async function* (context) {
        yield text(`resumed ${context.isResumed}`);
      }).result;
      expect(inShort(again.events)).toEqual(['agent ?c1', 'agent !c1', 'agent resumed true']);
      held.release();
      await expect(lost.result).rejects.toMatchObject({ code: 'TURN_LOST' });
      expect(await app.logInShort()).toEqual(['user hi', 'agent ?c1', 'agent !c1', 'agent resumed true']);
      await dying.close();
    });
  });
});

/** Says something, and then throws, or waits for its end. */
async function* saying({ state }: AgentContext, unstorable: string, isToFail: boolean, said: () => void) {
  yield call('c1');
  if (unstorable === 'a value of the state') state.amount = 1n;
  if (unstorable === 'a long text') yield partial('x'.repeat(2 ** 20));
  if (unstorable === 'half a character') yield partial('half \ud83d');
  said();
  if (!isToFail) await new Promise(() => undefined);
  if (unstorable !== 'a returned event') throw new Error('no');
  return text('x'.repeat(2 ** 20));
}
