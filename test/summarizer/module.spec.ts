import { type INestApplicationContext, Injectable, Module } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { SessionService, SessionsModule } from '../../src/index.js';
import {
  SummarizerModule,
  type SummarizerOptions,
  SummarizerSessionManager,
  SummarizerSweep,
} from '../../src/summarizer/index.js';
import { SWEEP_NAME } from '../../src/summarizer/summary-worker.js';
import { startApp } from '../module/support/apps.js';
import { KEY, SESSION, ScriptedModel, turns } from './summarized-sessions.js';

const OPTIONS: SummarizerOptions = { events: 3, keepRecentEvents: 0, model: new ScriptedModel() };
const EVERY_MINUTE = { _repeat: 60_000 };

@Injectable()
class ChosenOptions {
  createSummarizerOptions(): SummarizerOptions {
    return OPTIONS;
  }
}

@Module({ providers: [ChosenOptions], exports: [ChosenOptions] })
class ChosenOptionsModule {}

const sessionsModule = () => SessionsModule.forRoot({ provider: 'memory', isGlobal: true });

describe('SummarizerModule', () => {
  let app: INestApplicationContext;
  afterEach(() => app.close());

  it.each([
    ['forRoot', () => SummarizerModule.forRoot(OPTIONS)],
    ['forRootAsync with a function', () => SummarizerModule.forRootAsync({ useFactory: () => OPTIONS })],
    ['forRootAsync with a class', () => SummarizerModule.forRootAsync({ useClass: ChosenOptions })],
    [
      'forRootAsync with useExisting',
      () => SummarizerModule.forRootAsync({ imports: [ChosenOptionsModule], useExisting: ChosenOptions }),
    ],
  ])('writes summaries when it is configured by %s', async (_title, summarizerModule) => {
    app = await startApp([sessionsModule(), summarizerModule()]);
    const sessions = app.get(SessionService, { strict: false });
    await sessions.createSession(KEY);
    for (const event of turns(1, 2)) await sessions.appendEvent({ session: SESSION, event });
    await sessions.whenIdle();
    const summaries = app.get(SummarizerSessionManager, { strict: false });
    await summaries.whenIdle();
    expect(await summaries.getSessionSummary(KEY)).toMatchObject({ toSeq: 4 });
  });

  it.each<[string, SummarizerOptions]>([
    ['omitted', {}],
    ['undefined, as a configuration service returns unknown settings', unknownSettings()],
  ])('sweeps at the default interval if settings are %s', async (_title, options) => {
    app = await startApp([
      ScheduleModule.forRoot(),
      sessionsModule(),
      SummarizerModule.forRootAsync({ useFactory: () => options }),
    ]);
    const registry = app.get(SchedulerRegistry, { strict: false });
    expect(registry.getIntervals()).toEqual([SWEEP_NAME]);
    expect(registry.getInterval(SWEEP_NAME)).toMatchObject(EVERY_MINUTE);
  });

  it('needs no options', async () => {
    app = await startApp([sessionsModule(), SummarizerModule.forRoot()]);
    expect(app.get(SummarizerSessionManager, { strict: false })).toBeInstanceOf(SummarizerSessionManager);
  });

  it('schedules nothing if the app is closed before it has started', async () => {
    app = await startApp([ScheduleModule.forRoot(), sessionsModule(), SummarizerModule.forRoot(OPTIONS)]);
    const registry = app.get(SchedulerRegistry, { strict: false });
    const sweep = app.get(SummarizerSweep, { strict: false });
    await sweep.onModuleDestroy();
    sweep.onApplicationBootstrap();
    expect(registry.getIntervals()).toEqual([]);
  });
});

function unknownSettings(): SummarizerOptions {
  const settings: object = { autoSummarize: undefined, sweepIntervalSeconds: undefined, turns: undefined };
  return settings;
}
