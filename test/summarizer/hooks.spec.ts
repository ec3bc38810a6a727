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
/** Some libraries throw what has no text. */
const boomWithoutText = (): never => {
  throw Object.assign(new Error('x'), { message: { boom: true } });
};
const never = async (): Promise<never> => new Promise<never>(() => undefined);

const damage = ({ key, events }: { key: object; events?: readonly unknown[] }): void => {
  Object.assign(key, { sessionId: 'another' });
  Object.assign(events ?? [], { length: 0 });
};

/** Adds a hook and returns a function that removes it. */
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

  it('onBeforeSummary passes the result of each hook to the next one, and the last result to the model', async () => {
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

  it('onAfterSummary passes the result of each hook to the next one, and stores the last result', async () => {
    open.summaries.hooks.onAfterSummary(({ text }) => `${text}, checked`);
    open.summaries.hooks.onAfterSummary(() => undefined);
    open.summaries.hooks.onAfterSummary(async ({ text }) => `${text} twice`);
    await open.append(...turns(1, 2));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1, checked twice', 'q2', 'a2']);
  });

  it.each<[string, Attach, number]>([
    ['onBeforeSummary returns false, so that the model is not called', before(() => false), 0],
    ['onBeforeSummary resolves to false', before(later), 0],
    ['onBeforeSummary returns no lines', before(() => []), 0],
    ['onAfterSummary returns false', after(() => false), 1],
    ['onAfterSummary resolves to false', after(later), 1],
  ])('can cancel the summary: %s; an append retries after half a minute', async (_title, attach, requested) => {
    const unhook = attach(open.summaries);
    await open.append(...turns(1, 2));
    await open.settle();
    expect(await open.view()).toEqual(TURNS);
    expect(open.model.requests).toHaveLength(requested);
    expect(warnings).toEqual([]);
    unhook();
    await open.append(...turns(3, 3));
    await open.settle();
    expect(open.model.requests).toHaveLength(requested);
    open.clock.advanceSeconds(31);
    await open.append(...turns(4, 4));
    await open.settle();
    expect((await open.view())[0]).toMatch(/^= summary/);
  });

  it.each<[string, Attach, RegExp]>([
    ['onBeforeSummary throws', before(boom), /a hook before it failed: boom/],
    ['onBeforeSummary rejects', before(boomLater), /a hook before it failed: boom/],
    ['onBeforeSummary never ends', before(never), /a hook before it failed: no answer within 50 ms/],
    [
      'onBeforeSummary returns invalid lines',
      before(() => [{ author: 1 }] as never),
      /a hook before it failed: it returned lines that are not { author, text }/,
    ],
    [
      'onBeforeSummary returns an empty string',
      before(() => '' as never),
      /a hook before it failed: it returned lines that are not { author, text }/,
    ],
    ['onAfterSummary throws', after(boom), /a hook after it failed: boom/],
    ['onAfterSummary rejects', after(boomLater), /a hook after it failed: boom/],
    ['onAfterSummary never ends', after(never), /a hook after it failed: no answer within 50 ms/],
    ['onAfterSummary returns an empty text', after(() => ' \n'), /a hook left nothing of its answer/],
  ])('do not fail the append, and the summary is retried: %s', async (_title, attach, message) => {
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

  it('receive copies, so that changes do not affect stored data', async () => {
    open.summaries.hooks.onBeforeSummary(damage);
    open.summaries.hooks.onAfterSummary(damage);
    const received: unknown[] = [];
    open.summaries.hooks.onAfterSummary(({ key }) => void received.push(key));
    open.summaries.hooks.onStored((key, { toSeq }) => void received.push(key, toSeq));
    await open.append(...turns(1, 2));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1', 'q2', 'a2']);
    expect(received).toEqual([KEY, KEY, 2]);
  });

  it('reject or resolve a requested summary according to their result', async () => {
    open.summaries.hooks.onAfterSummary(boom);
    const requested = open.summaries.createSessionSummary({ session: SESSION, force: true });
    await expect(requested).resolves.toBeUndefined();
    await open.append(...turns(1, 1));
    await open.append(...turns(2, 2));
    await open.settle();
    const again = open.summaries.createSessionSummary({ session: SESSION, force: true });
    await expect(again).rejects.toMatchObject({ code: 'SUMMARY_FAILED', message: expect.stringContaining('boom') });
  });

  it.each<[string, () => void | Promise<void>]>([
    ['throws', boom],
    ['rejects', boomLater],
    ['throws what has no text', boomWithoutText],
    ['never ends', never],
  ])('do not affect each other if an onStored listener %s', async (_title, listener) => {
    const received: string[] = [];
    open.summaries.hooks.onStored(listener);
    open.summaries.hooks.onStored((_key, { text }) => void received.push(text));
    await open.append(...turns(1, 2));
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1', 'q2', 'a2']);
    expect(received).toEqual(['summary 1']);
    expect(open.summaries.counts).toMatchObject({ stored: 1, failed: 0 });
    const failure = /^A listener to stored summaries failed: (boom|\{ boom: true \})$/;
    expect(warnings).toEqual(listener === never ? [] : [expect.stringMatching(failure)]);
  });
});

describe('closing an app', () => {
  it.each<[string, SummarizerOptions, (summaries: SummarizerSessionManager) => void]>([
    ['an onBeforeSummary hook', {}, ({ hooks }) => hooks.onBeforeSummary(never)],
    ['an onAfterSummary hook', {}, ({ hooks }) => hooks.onAfterSummary(never)],
    ['a condition', { checkers: [never] }, () => undefined],
  ])('waits at most shutdownSeconds for %s that never ends', async (_title, options, prepare) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const longTimeout = { timeoutSeconds: 3_600, shutdownSeconds: 0.05, keepRecentEvents: 2 };
    const events = options.checkers ? 0 : 3;
    const open = await SummarizedSessions.open(inMemory, { ...longTimeout, events, ...options });
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
