import type { EventInput, WatchedEvent } from '../../src/index.js';
import { firstStore, storeOfEachKind } from '../support/stores.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { type HalfAnswer, REQUEST, halfAnswer } from './support/half-answer.js';
import { HeldHandler, echo, failureBy, partial, text } from './support/handlers.js';
import { type Page, pageByMessage, pageBySpeaker } from './support/page.js';

/** Three speakers were in the middle of a message, one of them in a thought. */
const HALF: readonly EventInput[] = [
  { ...partial('The capital '), author: 'writer' },
  { ...partial('But '), author: 'critic' },
  {
    content: { role: 'model', parts: [{ text: 'Let me see ', thought: true }] },
    partial: true,
    author: 'thinker',
    branch: 'b',
  },
];
const SAID = ['critic: But ', 'thinker: Let me see ', 'writer: The capital '];

describe.each(storeOfEachKind)('The half answer of a process that died, on $name,', (store) => {
  let half: HalfAnswer;
  let living: AgentApp;
  let watch: AsyncIterableIterator<WatchedEvent>;
  let pages: readonly Page[];

  beforeEach(async () => {
    half = await halfAnswer(store, HALF);
    ({ living } = half);
    pages = [pageByMessage(), pageBySpeaker()];
    watch = living.sessions.watch({ ...KEY, afterSeq: 0, partials: true });
    await show(() => pages.every(({ live }) => live.length === 3));
    for (const page of pages) expect(page.live).toEqual(SAID);
    half.die();
  });

  afterEach(async () => {
    await watch.return?.();
    await half.close();
  });

  /** Shows what the watch brings, on all pages. */
  async function show(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) {
      const { value } = (await watch.next()) as IteratorYieldResult<WatchedEvent>;
      for (const page of pages) page.show(value);
    }
  }

  it('is gone from each page before the new answer is there', async () => {
    const again = new HeldHandler(
      [{ ...partial('Paris, '), author: 'writer' }],
      [{ ...text('Paris, of course'), author: 'writer' }],
    );
    const run = living.agents.run(REQUEST, again.handler);
    await show(() => pages.every(({ live }) => live.join('').includes('Paris')));
    for (const page of pages) {
      expect(page.live).toEqual(['writer: Paris, ']);
      expect(page.mixed(['The capital', 'But', 'Let me see'], 'Paris')).toEqual([]);
    }
    // A reader who comes now does not see it at all.
    const late = living.sessions.watch({ ...KEY, afterSeq: 0, partials: true });
    const page = pageByMessage();
    while (!page.live.join('').includes('Paris')) {
      page.show(((await late.next()) as IteratorYieldResult<WatchedEvent>).value);
    }
    expect(page.seen.join('\n')).not.toContain('The capital');
    await late.return?.();
    again.release();
    await run.result;
    await show(() => pages.every(({ stored }) => stored.length === 2));
    for (const shown of pages) {
      expect(shown.stored).toEqual(['user: Where?', 'writer: Paris, of course']);
      expect(shown.live).toEqual([]);
    }
  });

  it('is told to the reader of a run that followed it', async () => {
    const run = living.agents.run(REQUEST, async function* () {
      yield { ...partial('Paris, '), author: 'writer' };
      yield { ...text('Paris'), author: 'writer' };
    });
    const page = pageByMessage();
    for await (const event of run) page.show({ offset: undefined, ...event } as never);
    expect(page.stored).toEqual(['writer: Paris']);
    const { events } = await run.result;
    expect(events.map(({ author, actions }) => [author, actions.discarded])).toEqual([
      ['writer', true],
      ['critic', true],
      ['thinker', true],
      ['writer', undefined],
    ]);
    // A repeated request returns the same.
    expect((await living.agents.run(REQUEST, echo).result).events).toEqual(events);
  });

  it('becomes whole messages when another message follows', async () => {
    await living.agents.run({ ...KEY, newMessage: 'Hello?' }, echo).result;
    await show(() => pages.every(({ stored }) => stored.length === 6));
    for (const page of pages) {
      const kept = ['user: Where?', 'writer: The capital ', 'critic: But ', 'thinker: Let me see '];
      expect(page.stored).toEqual([...kept, 'user: Hello?', 'agent: echo: Hello?']);
      expect(page.live).toEqual([]);
    }
  });
});

it('A message that is too long for an event is gone from each page when its run ends', async () => {
  const opened = await firstStore[0]?.open({});
  if (!opened) throw new Error('There is no store');
  const app = new AgentApp(opened.storage, { partials: { flushMs: 1 } });
  await app.sessions.createSession(KEY);
  const said = new HeldHandler(
    [{ ...partial('long '), author: 'writer' }],
    [{ ...partial('x'.repeat(2 ** 20)), author: 'writer' }, partial('short')],
  );
  const run = app.agents.run(REQUEST, async function* (context) {
    yield* said.handler(context) as AsyncGenerator<EventInput>;
    throw new Error('The model is gone');
  });
  const page = pageBySpeaker();
  const watch = app.sessions.watch({ ...KEY, afterSeq: 0, partials: true });
  const show = async (): Promise<void> => page.show(((await watch.next()) as IteratorYieldResult<WatchedEvent>).value);
  while (page.live.length === 0) await show();
  expect(page.live).toEqual(['writer: long ']);
  said.release();
  await expect(run.result).rejects.toMatchObject(failureBy({ message: 'The model is gone' }));
  while (page.stored.length < 2) await show();
  expect(page.stored).toEqual(['user: Where?', 'agent: ']);
  expect(page.live).toEqual([]);
  await watch.return?.();
  await app.close();
  await opened.destroy();
});
