import { Logger } from '@nestjs/common';
import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import type { SummarizerSessionManager } from '../../src/summarizer/summarizer-session.manager.js';
import type { AfterSummaryHook, BeforeSummaryHook } from '../../src/summarizer/summary-hooks.js';
import { inMemory } from './in-memory.js';
import { KEY, SESSION, SummarizedSessions, turns } from './summarized-sessions.js';

const OPTIONS: SummarizerOptions = { events: 3, keepRecentEvents: 2, timeoutSeconds: 0.05, shutdownSeconds: 0.05 };
const TURNS = ['q1', 'a1', 'q2', 'a2'];
const boom = (): never => {
  throw new Error('boom');
};
const boomLater = async (): Promise<never> => boom();
const never = async (): Promise<never> => new Promise<never>(() => undefined);

const spoil = ({ key, events }: { key: object; events?: readonly unknown[] }): void => {
  Object.assign(key, { sessionId: 'another' });
  Object.assign(events ?? [], { length: 0 });
};

/** Adds a hook; what comes back takes it away. */
type Attach = (summaries: SummarizerSessionManager) => () => void;

const later = async (): Promise<false> => false;
const before =
  (hook: BeforeSummaryHook): Attach =>
  ({ hooks }) =>
    hooks.onBeforeSummary(hook);
const after =
  (hook: AfterSummaryHook): Attach =>
  ({ hooks }) =>
    hooks.onAfterSummary(hook);

describe('hooks of summaries', () => {
  let open: SummarizedSessions;
  let warnings: string[];

  beforeEach(async () => {
    warnings = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((message: string) => void warnings.push(message));
    open = await SummarizedSessions.open(inMemory, OPTIONS);
  });

  afterEach(async () => {
    await open.destroy();
    jest.restoreAllMocks();
  });

  it('before: each hook gets the result of the previous one, the model that of the last', async () => {
    open.summaries.hooks.onBeforeSummary(({ conversation }) =>
      conversation.map(({ author, text }) => ({ author, text: text.replace('q1', '***') })),
    );
    open.summaries.hooks.onBeforeSummary(() => undefined);
    open.summaries.hooks.onBeforeSummary(async ({ conversation }) => conversation.slice(0, 1));
    await open.append(...turns(1, 2));
    await open.settle();
    expect(open.model.requests).toHaveLength(1);
    expect(open.model.requests[0]?.conversation).toEqual([{ author: 'user', text: '***' }]);
    expect(open.model.requests[0]?.prompt).not.toContain('q1');
    expect((await open.log())[0]?.content?.parts?.[0]?.text).toBe('q1');
  });

  it('after: each hook gets the result of the previous one, and that of the last is stored', async () => {
    open.summaries.hooks.onAfterSummary(({ text }) => `${text}, checked`);
    open.summaries.hooks.onAfterSummary(() => undefined);
    open.summaries.hooks.onAfterSummary(async ({ text }) => `${text} twice`);
    await open.append(...turns(1, 2));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1, checked twice', 'q2', 'a2']);
  });

  it.each<[string, Attach, number]>([
    ['before, which spares the model', before(() => false), 0],
    ['before, later', before(later), 0],
    ['before, by leaving nothing', before(() => []), 0],
    ['after', after(() => false), 1],
    ['after, later', after(later), 1],
  ])('may cancel the summary: %s; an append retries half a minute later', async (_title, attach, asked) => {
    const unhook = attach(open.summaries);
    await open.append(...turns(1, 2));
    await open.settle();
    expect(await open.view()).toEqual(TURNS);
    expect(open.model.requests).toHaveLength(asked);
    expect(warnings).toEqual([]);
    unhook();
    await open.append(...turns(3, 3));
    await open.settle();
    expect(open.model.requests).toHaveLength(asked);
    open.clock.advanceSeconds(31);
    await open.append(...turns(4, 4));
    await open.settle();
    expect((await open.view())[0]).toMatch(/^= summary/);
  });

  it.each<[string, Attach, RegExp]>([
    ['before throws', before(boom), /a hook before it failed: boom/],
    ['before throws later', before(boomLater), /a hook before it failed: boom/],
    ['before never ends', before(never), /a hook before it failed: no answer within 50 ms/],
    [
      'before leaves no lines',
      before(() => [{ author: 1 }] as never),
      /a hook before it failed: it returned lines that are not { author, text }/,
    ],
    [
      'before leaves an empty text',
      before(() => '' as never),
      /a hook before it failed: it returned lines that are not { author, text }/,
    ],
    ['after throws', after(boom), /a hook after it failed: boom/],
    ['after throws later', after(boomLater), /a hook after it failed: boom/],
    ['after never ends', after(never), /a hook after it failed: no answer within 50 ms/],
    ['after leaves nothing', after(() => ' \n'), /a hook left nothing of its answer/],
  ])('%s: the append succeeds, and the failure is logged and retried', async (_title, attach, message) => {
    const unhook = attach(open.summaries);
    await open.append(...turns(1, 2));
    await open.settle();
    expect(await open.view()).toEqual(TURNS);
    expect(warnings).toEqual([expect.stringMatching(message)]);
    expect(warnings[0]).toMatch(/try 2 in \d+ s/);
    unhook();
    await open.append(...turns(3, 3));
    await open.settle();
    expect(await open.view()).toEqual([...TURNS, 'q3', 'a3']);
    open.clock.advanceSeconds(30);
    await open.append(...turns(4, 4));
    await open.settle();
    expect((await open.view())[0]).toMatch(/^= summary/);
  });

  it('get copies: changing them does not change what is stored', async () => {
    open.summaries.hooks.onBeforeSummary(spoil);
    open.summaries.hooks.onAfterSummary(spoil);
    const heard: unknown[] = [];
    open.summaries.hooks.onAfterSummary(({ key }) => void heard.push(key));
    open.summaries.hooks.onStored((key, { toSeq }) => void heard.push(key, toSeq));
    await open.append(...turns(1, 2));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1', 'q2', 'a2']);
    expect(heard).toEqual([KEY, KEY, 2]);
  });

  it('a caller who requests a summary sees the result of a hook', async () => {
    open.summaries.hooks.onAfterSummary(boom);
    const asked = open.summaries.createSessionSummary({ session: SESSION, force: true });
    await expect(asked).resolves.toBeUndefined();
    await open.append(...turns(1, 1));
    await open.append(...turns(2, 2));
    await open.settle();
    const again = open.summaries.createSessionSummary({ session: SESSION, force: true });
    await expect(again).rejects.toMatchObject({ code: 'SUMMARY_FAILED', message: expect.stringContaining('boom') });
  });

  it.each<[string, () => void | Promise<void>]>([
    ['throws', boom],
    ['throws later', boomLater],
    ['never ends', never],
  ])('a listener that %s undoes nothing and does not affect other listeners', async (_title, listener) => {
    const heard: string[] = [];
    open.summaries.hooks.onStored(listener);
    open.summaries.hooks.onStored((_key, { text }) => void heard.push(text));
    await open.append(...turns(1, 2));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1', 'q2', 'a2']);
    expect(heard).toEqual(['summary 1']);
    expect(open.summaries.counts).toMatchObject({ stored: 1, failed: 0 });
    expect(warnings).toEqual(listener === never ? [] : ['A listener to stored summaries failed: boom']);
  });
});

describe('an app that closes', () => {
  it.each<[string, SummarizerOptions, (summaries: SummarizerSessionManager) => void]>([
    ['a hook before', {}, ({ hooks }) => hooks.onBeforeSummary(never)],
    ['a hook after', {}, ({ hooks }) => hooks.onAfterSummary(never)],
    ['a condition', { checkers: [never] }, () => undefined],
  ])('waits at most shutdownSeconds for %s that never ends', async (_title, options, prepare) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const patient = { timeoutSeconds: 3_600, shutdownSeconds: 0.05, keepRecentEvents: 2 };
    const events = options.checkers ? 0 : 3;
    const open = await SummarizedSessions.open(inMemory, { ...patient, events, ...options });
    prepare(open.summaries);
    await open.append(...turns(1, 2));
    await open.sessions.whenIdle();
    await open.summaries.close();
    expect(open.summaries.counts).toMatchObject({ waiting: 0, running: 0 });
    expect(await open.view()).toEqual(TURNS);
    await open.destroy();
    warn.mockRestore();
  });
});
