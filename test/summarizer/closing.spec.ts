import { Logger } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { SessionService, SessionsModule } from '../../src/index.js';
import { SummarizerModule, SummarizerSessionManager, SummarizerSweep } from '../../src/summarizer/index.js';
import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import { startApp } from '../module/support/apps.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';
import { HeldModel } from './held-model.js';
import { KEY, SESSION, ScriptedModel, SummarizedSessions, turns } from './summarized-sessions.js';

const OPTIONS: SummarizerOptions = { events: 7, keepRecentEvents: 2 };
const never = (): Promise<never> => new Promise(() => undefined);

describe.each(storeOfEachKind)('closing SummarizerSessionManager on $name', (store) => {
  let open: SummarizedSessions;
  afterEach(() => open.destroy());

  async function start(model: ScriptedModel, options: SummarizerOptions = {}): Promise<void> {
    open = await SummarizedSessions.open(store, { ...OPTIONS, ...options }, model);
    await open.append(...turns(1, 4));
  }

  /** Another process sweeps when all agenda entries are due. */
  async function expectTakenOver(): Promise<void> {
    const successor = open.restarted({
      ...OPTIONS,
      model: new ScriptedModel(async () => ({ text: 'by the heir' })),
    });
    open.clock.advanceSeconds(61);
    expect(await successor.summaries.sweep()).toBe(1);
    await successor.settle();
    expect(await open.view()).toEqual(['= by the heir', 'q4', 'a4']);
    expect((await open.log()).filter(({ actions }) => actions.compaction)).toHaveLength(1);
    await successor.destroy();
  }

  it('waits for a model that answers in time', async () => {
    const model = new HeldModel();
    await start(model);
    await model.called(1);
    const closing = open.summaries.close();
    model.answer();
    await closing;
    expect(await open.view()).toEqual(['= summary 1', 'q4', 'a4']);
    await open.summaries.close();
  });

  it('does not wait for a model that hangs, so that another process can write the summary', async () => {
    const model = new HeldModel();
    await start(model, { shutdownSeconds: 0.05 });
    await model.called(1);
    await open.summaries.close();
    expect(open.summaries.counts).toEqual({ running: 0, waiting: 0, stored: 0, failed: 0 });
    await expectTakenOver();
    model.answer();
    expect(await open.log()).toHaveLength(9);
  });

  it('starts no further summary', async () => {
    const model = new HeldModel();
    await start(model, { shutdownSeconds: 0.05, concurrency: 1 });
    await model.called(1);
    await open.sessions.createSession({ ...KEY, sessionId: 'two' });
    for (const event of turns(1, 4)) await open.sessions.appendEvent({ session: { ...SESSION, id: 'two' }, event });
    await until(() => open.summaries.counts.waiting === 1);
    await open.summaries.close();
    await open.append(...turns(5, 5));
    await open.sessions.whenIdle();
    expect(model.requests).toHaveLength(1);
    expect(open.summaries.counts).toMatchObject({ running: 0, waiting: 0 });
  });

  it('does not wait for hooks or conditions that hang', async () => {
    await start(new ScriptedModel(), { shutdownSeconds: 0.05, checkers: [never], events: 0 });
    await open.summaries.close();
    const hanging = open.restarted({ ...OPTIONS, shutdownSeconds: 0.05 });
    hanging.summaries.hooks.onBeforeSummary(never);
    open.clock.advanceSeconds(61);
    await hanging.summaries.sweep();
    await until(() => hanging.summaries.counts.running === 1);
    await hanging.summaries.close();
    await expectTakenOver();
  });

  it('aborts a requested summary', async () => {
    const model = new HeldModel();
    await start(model, { shutdownSeconds: 0.05, autoSummarize: false });
    const requested = open.summaries.createSessionSummary({ session: SESSION, force: true });
    await model.called(1);
    const ended = expect(requested).rejects.toThrow('the app is closing');
    await open.summaries.close();
    await ended;
    expect(await open.log()).toHaveLength(8);
    await expect(open.summaries.createSessionSummary({ session: SESSION, force: true })).rejects.toThrow(
      'the app is closing',
    );
    expect(model.requests).toHaveLength(1);
  });
});

const sessionsModule = () => SessionsModule.forRoot({ provider: 'memory', isGlobal: true });

describe('summaries in an app', () => {
  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('end with the app, even if it is closed twice', async () => {
    const model = new HeldModel();
    const app = await startApp([sessionsModule(), SummarizerModule.forRoot({ ...OPTIONS, model })]);
    const sessions = app.get(SessionService, { strict: false });
    await sessions.createSession(KEY);
    for (const event of turns(1, 4)) await sessions.appendEvent({ session: SESSION, event });
    await model.called(1);
    const closing = Promise.all([app.close(), app.close()]);
    model.answer();
    await closing;
    await app.close();
    expect(app.get(SummarizerSessionManager, { strict: false }).counts).toMatchObject({ stored: 1, failed: 0 });
    await app.get(SummarizerSweep, { strict: false }).run();
  });

  it('have one sweep interval for each store', async () => {
    const { ScheduleModule } = await import('@nestjs/schedule');
    const app = await startApp([
      ScheduleModule.forRoot(),
      sessionsModule(),
      SessionsModule.forRoot({ provider: 'memory', isGlobal: true, name: 'second' }),
      SummarizerModule.forRoot({ ...OPTIONS }),
      SummarizerModule.forRoot({ ...OPTIONS, sessionsName: 'second' }),
    ]);
    const registry = app.get(SchedulerRegistry, { strict: false });
    expect(registry.getIntervals()).toEqual(['nestjs-agent-sessions:summaries', 'nestjs-agent-sessions:summaries:2']);
    await app.close();
    expect(registry.getIntervals()).toEqual([]);
  });
});
