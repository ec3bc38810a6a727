import type { EventInput, LoggedEvent } from '../../src/index.js';
import type { RunHandler } from '../../src/agents/index.js';
import { InMemorySessionStorage } from '../../src/index.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, call, eventsOf, inShort, partial, text } from './support/handlers.js';

const thought = (said: string): EventInput => ({
  partial: true,
  content: { role: 'model', parts: [{ text: said, thought: true }] },
});

/** A handler that gives these events, one after the other. */
const giving = (...events: readonly EventInput[]): RunHandler =>
  async function* () {
    await Promise.resolve();
    yield* events;
  };

const partsOf = ({ content }: EventInput) => content?.parts;

const counted = (said: string, totalTokenCount: number, author = 'agent'): EventInput => ({
  ...(said ? partial(said) : { partial: true }),
  author,
  modelVersion: `model of ${author}`,
  usageMetadata: { totalTokenCount },
});

describe('an answer of partial events only', () => {
  let app: AgentApp;

  beforeEach(() => (app = new AgentApp(new InMemorySessionStorage(), { partials: { flushMs: 1 } })));
  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
  });

  const run = (handler: RunHandler) => app.agents.run({ ...KEY, newMessage: 'hi' }, handler);

  const tokens = async (): Promise<readonly (readonly [string, number])[]> =>
    (await app.sessions.getUsage(KEY)).models.map(({ model, totalTokens }) => [model, totalTokens]);

  it('is joined and stored when the handler ends', async () => {
    const { status, events, session } = await run(giving(partial('It is '), partial('sunny'))).result;
    expect(status).toBe('completed');
    expect(inShort(events)).toEqual(['agent It is sunny']);
    expect(await app.logInShort()).toEqual(['user hi', 'agent It is sunny']);
    expect(inShort(session.events)).toEqual(['user hi', 'agent It is sunny']);
    expect(events[0]?.interrupted).toBeUndefined();
  });

  it('is stored under the id of its pieces, so that a page that shows them shows it once', async () => {
    const held = new HeldHandler([call('c1'), partial('It is '), partial('sunny')], []);
    const request = run(held.handler);
    await held.started;
    const watch = app.sessions.watch({ ...KEY, afterSeq: 2, partials: true });
    const said = (await watch.next()).value as LoggedEvent;
    held.release();
    const { events } = await request.result;
    expect(inShort(events)).toEqual(['agent ?c1', 'agent !c1', 'agent It is sunny']);
    expect(events.at(-1)?.id).toBe(said.id);
    await watch.return?.();
  });

  it('keeps the id of its pieces when the run is stopped with an open call', async () => {
    const held = new HeldHandler([call('c1'), partial('It is ')]);
    const request = run(held.handler);
    await held.started;
    const watch = app.sessions.watch({ ...KEY, afterSeq: 2, partials: true });
    const said = (await watch.next()).value as LoggedEvent;
    await app.agents.stop(KEY);
    const { events } = await request.result;
    expect(inShort(events)).toEqual(['agent ?c1', 'agent !c1', 'agent It is  - STOPPED']);
    expect(events.at(-1)?.id).toBe(said.id);
    await watch.return?.();
  });

  it('is stored for each author and branch', async () => {
    await run(
      giving(
        { ...partial('One '), author: 'one' },
        { ...partial('Two '), author: 'two', branch: 'root.two' },
        { ...partial('more'), author: 'one' },
        { ...partial('other'), author: 'two', branch: 'root.other' },
      ),
    ).result;
    const said = (await app.log()).slice(1).map(({ author, branch, content }) => [author, branch, content?.parts]);
    expect(said).toEqual([
      ['one', undefined, [{ text: 'One more' }]],
      ['two', 'root.two', [{ text: 'Two ' }]],
      ['two', 'root.other', [{ text: 'other' }]],
    ]);
  });

  it('keeps thoughts, signatures and files apart from text, and leaves calls out', async () => {
    const file = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
    const signed = { text: '', thoughtSignature: 'c2ln' };
    await run(
      giving(
        thought('Let me '),
        thought('think.'),
        partial('It '),
        partial(''),
        partial('is \ud83d'),
        { partial: true, content: { parts: [file, { functionCall: { name: 'weather', args: {} } }] } },
        partial('here'),
        { partial: true, content: { parts: [signed] } },
      ),
    ).result;
    expect(partsOf((await app.log())[1] ?? {})).toEqual([
      { text: 'Let me think.', thought: true },
      { text: 'It is \ufffd' },
      file,
      { ...signed, text: 'here' },
    ]);
  });

  it('keeps its thoughts when the handler throws, too', async () => {
    await run(async function* () {
      yield thought('Hm.');
      yield partial('It');
      throw new Error('no');
    }).result.catch(() => undefined);
    expect(partsOf((await app.log())[1] ?? {})).toEqual([{ text: 'Hm.', thought: true }, { text: 'It' }]);
  });

  it.each<[string, EventInput]>([
    ['its author', text('It is sunny')],
    ['another author', { ...text('It is sunny'), author: 'support' }],
    ['another branch', { ...text('It is sunny'), branch: 'root.agent' }],
  ])('is not doubled when a whole event of %s follows', async (_who, whole) => {
    for (const isReturned of [false, true]) {
      await app.sessions.deleteSession(KEY);
      await run(async function* () {
        yield partial('It is ');
        yield partial('sunny');
        if (isReturned) return whole;
        yield whole;
        return undefined;
      }).result;
      const said = (await app.log()).flatMap((event) => partsOf(event) ?? []);
      expect(said).toEqual([{ text: 'hi' }, { text: 'It is sunny' }]);
    }
  });

  it('is kept beside an answer of another author, and after a whole event', async () => {
    await run(giving({ ...partial('A draft'), author: 'writer' }, text('Done'), partial('And more'))).result;
    expect(await app.logInShort()).toEqual(['user hi', 'agent Done', 'writer A draft', 'agent And more']);
  });

  it('may end with a returned partial event', async () => {
    const request = run(async function* () {
      yield partial('It is ');
      return partial('sunny');
    });
    expect(inShort(await eventsOf(request))).toEqual(['agent It is ', 'agent sunny', 'agent It is sunny']);
  });

  it('is saved under the output key', async () => {
    const request = { ...KEY, newMessage: 'hi', outputKey: 'draft' };
    const { session } = await app.agents.run(request, giving(partial('It is '), partial('sunny'))).result;
    expect(session.state.get('draft')).toBe('It is sunny');
  });

  it('is stored before the approval that the handler asks for', async () => {
    const { status } = await run(async function* (context) {
      yield partial('I would like to refund it.');
      await context.requestApproval({ hint: 'Refund?' });
    }).result;
    expect(status).toBe('waiting');
    expect(await app.logInShort()).toEqual([
      'user hi',
      'agent I would like to refund it.',
      expect.stringMatching(/^agent \?/),
    ]);
  });

  it('leaves no pieces behind in the store', async () => {
    const held = new HeldHandler([partial('It is ')], [partial('sunny')]);
    const request = run(held.handler);
    await held.started;
    const watch = app.sessions.watch({ ...KEY, afterSeq: 1, partials: true });
    await watch.next();
    held.release();
    await request.result;
    await watch.return?.();
    const late = app.sessions.watch({ ...KEY, afterSeq: 0, partials: true });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const event of late) seen.push(event.partial === true ? 'piece' : event.seq);
    })();
    await until(() => seen.length >= 2);
    await late.return?.();
    await reading;
    expect(seen).toEqual([1, 2]);
  });

  describe('with tokens', () => {
    it.each(['STOPPED', 'INTERRUPTED', 'FAILED', 'nothing'])('counts the last report before %s', async (why) => {
      const held = new HeldHandler(
        [counted('It ', 10), counted('', 5, 'critic'), counted('is ', 20), partial('sunny')],
        [],
      );
      const request = run(async function* (context) {
        yield* held.handler(context);
        if (why === 'FAILED') throw new Error('no');
      });
      await held.started;
      if (why === 'STOPPED') await app.agents.stop(KEY);
      const next =
        why === 'INTERRUPTED' &&
        app.agents.run({ ...KEY, newMessage: 'and now?', policy: 'interrupt' }, giving(text('done')));
      if (why === 'FAILED' || why === 'nothing') held.release();
      await request.result.catch(() => undefined);
      if (next) await next.result;
      held.release();
      expect(await tokens()).toEqual([
        ['model of agent', 20],
        ['model of critic', 5],
      ]);
    });

    it('counts them once if a whole event has them', async () => {
      await run(
        giving(counted('It ', 10), { ...text('It is'), modelVersion: 'model', usageMetadata: { totalTokenCount: 12 } }),
      ).result;
      expect(await tokens()).toEqual([['model', 12]]);
    });

    it('counts them with the whole event if only partial events have them', async () => {
      await run(
        giving(counted('It ', 10), counted('is', 11), text('It is'), counted('A ', 5), counted('call', 7), call('c1')),
      ).result;
      expect(await tokens()).toEqual([['model of agent', 18]]);
      expect(await app.logInShort()).toEqual(['user hi', 'agent It is', 'agent ?c1', 'agent !c1', 'agent end']);
    });

    it('counts them once if the state changes in the middle of the answer', async () => {
      const change = { actions: { stateDelta: { mood: 'calm' } } };
      await run(giving(counted('It ', 10), change, counted('is', 12), text('It is'))).result;
      expect(await tokens()).toEqual([['model of agent', 12]]);
    });

    it('counts a report that comes after the whole event', async () => {
      await run(giving(partial('It '), text('It is'), counted('', 12))).result;
      expect(await tokens()).toEqual([['model of agent', 12]]);
      expect(await app.logInShort()).toEqual(['user hi', 'agent It is', 'agent']);
    });
  });
});
