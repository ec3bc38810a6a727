import { type DynamicModule, type INestApplicationContext, Injectable, type Type } from '@nestjs/common';
import { type Agent, AgentHandler, AgentsModule } from '../../src/agents/index.js';
import { ComponentsModule } from '../../src/components/index.js';
import { SessionsModule } from '../../src/index.js';
import { SessionsInspectorModule } from '../../src/inspector/index.js';
import { SessionAccessModule } from '../../src/rest.js';
import { SearchModule } from '../../src/search/index.js';
import { ExtractiveSummaryModel, SummarizerModule } from '../../src/summarizer/index.js';
import { SessionsTelemetryModule } from '../../src/telemetry/index.js';
import { systemClock } from '../../src/storage.js';
import { startApp } from './support/apps.js';

/** A module as JavaScript sees it. */
interface Configurable {
  readonly name: string;
  forRoot(options: unknown): DynamicModule;
  forRootAsync(options: unknown): DynamicModule;
}

const MODULES = [
  AgentsModule,
  ComponentsModule,
  SearchModule,
  SessionAccessModule,
  SessionsInspectorModule,
  SummarizerModule,
] as unknown as readonly Configurable[];
const NAMED = MODULES.map((module) => [module.name, module] as const);

@Injectable()
class Speechless {}
(AgentHandler('shop') as (target: object) => void)(Speechless);

const sessionsModule = () => SessionsModule.forRoot({ provider: 'memory', isGlobal: true });
const agents = (options: object): DynamicModule => AgentsModule.forRoot(options);
const summaries = (options: object): DynamicModule => SummarizerModule.forRoot(options);
const inspector = (options: object): DynamicModule =>
  SessionsInspectorModule.forRootAsync({ ...options, useFactory: () => ({}) });
const model = new ExtractiveSummaryModel();
const modelAt = { baseUrl: 'http://localhost/v1', model: 'm' };
const feature = (classes: readonly unknown[] | undefined, options?: unknown): DynamicModule =>
  AgentsModule.forFeature(classes as readonly Type<Agent>[], options as object);

describe('What a module is given', () => {
  let app: INestApplicationContext | undefined;
  afterEach(async () => app?.close());

  async function problemsOf(
    makes: () => DynamicModule | readonly DynamicModule[],
    others: () => readonly DynamicModule[] = () => [sessionsModule()],
  ): Promise<string> {
    app = undefined;
    try {
      app = await startApp([others(), makes()].flat());
    } catch (error) {
      expect(error).toMatchObject({ code: 'CONFIGURATION_INVALID' });
      return (error as Error).message;
    }
    return 'none';
  }

  it.each(NAMED)('is an object: %s', async (_name, module) => {
    for (const [given, name] of [
      [null, 'null'],
      ['shop', 'string'],
      [[], 'a list'],
    ] as const) {
      const problem = `${module.name}: the options must be an object, not ${name}.`;
      expect(await problemsOf(() => module.forRoot(given))).toContain(problem);
      expect(await problemsOf(() => module.forRootAsync({ useFactory: () => given }))).toContain(problem);
    }
    const forgotten = await problemsOf(() => module.forRootAsync({ useFactory: () => undefined }));
    expect(forgotten).toContain(`${module.name}: the options must be an object, not undefined.`);
  });

  it.each(NAMED)('comes from a factory that is there: %s', async (_name, module) => {
    const owner = `${module.name}.forRootAsync: `;
    expect(await problemsOf(() => module.forRootAsync(null))).toContain(`${owner}the options must be an object`);
    expect(await problemsOf(() => module.forRootAsync(() => ({})))).toMatch(/\.asProvider\(\)|not function/);
    expect(await problemsOf(() => module.forRootAsync({}))).toMatch(/useFactory/);
    expect(await problemsOf(() => module.forRootAsync({ useFactory: 5 }))).toContain(`${owner}useFactory is 5`);
    const misspelled = { injct: [], useFactory: () => ({}) };
    expect(await problemsOf(() => module.forRootAsync(misspelled))).toContain(`${owner}injct is no option`);
  });

  it('is a store for SessionsModule', async () => {
    const sessions = SessionsModule as unknown as Configurable;
    for (const makes of [() => sessions.forRoot(null), () => sessions.forRootAsync(null)]) {
      expect(await problemsOf(makes, () => [])).toContain('The options are missing');
    }
    expect(await problemsOf(() => sessions.forRootAsync({}))).toContain('nothing gives the options');
  });

  it.each([
    ['no list', () => feature(undefined), 'AgentsModule.forFeature needs a list of classes'],
    ['a class of a circular import', () => feature([undefined]), 'may stand in a file that imports this one'],
    ['null in place of options', () => feature([], null), 'AgentsModule.forFeature: the options must be an object'],
    ['a misspelled option', () => feature([], { import: [] }), 'import is no option; did you mean imports?'],
    [
      'an agent without run()',
      () => [AgentsModule.forRoot({ isGlobal: true }), feature([Speechless])],
      'The agent Speechless has no run()',
    ],
  ])('is a list of agents: not %s', async (_title, makes, problem) => {
    expect(await problemsOf(makes)).toContain(problem);
  });

  it('is a list of agents that a module asks', async () => {
    expect(await problemsOf(() => feature([Speechless]))).toContain('needs AgentsModule.forRoot()');
  });

  it.each<[title: string, makes: () => DynamicModule, problem: string]>([
    ['onError of AgentsModule', () => agents({ onError: () => undefined }), 'onError is no option'],
    ['sessions of AgentsModule', () => agents({ sessions: {} }), 'sessions is no option'],
    ['onRunFailure of another kind', () => agents({ onRunFailure: 'x' }), 'onRunFailure is "x"; it must be a function'],
    ['sessions of SearchModule', () => SearchModule.forRoot({ sessions: {} } as object), 'sessions is no option'],
    ['clock of ComponentsModule', () => ComponentsModule.forRoot({ clock: systemClock }), 'clock has no effect'],
    ['a second model', () => summaries({ model, modelAt }), 'modelAt has no effect with summarizer.model'],
    ['no model', () => summaries({ model: null }), 'model is null; it must be an object'],
    ['no address of a model', () => summaries({ modelAt: null }), 'modelAt is null; it must be an object'],
    ['a clock of another kind', () => summaries({ clock: 5 }), 'clock is 5; it must be a clock'],
    ['one checker', () => summaries({ checkers: () => true }), 'checkers is a function; it must be a list'],
    ['the name of a route', () => inspector({ rout: 'admin' }), 'rout is no option; did you mean route?'],
    ['a text that says whether', () => agents({ isGlobal: 'false' }), 'AgentsModule: isGlobal is "false"'],
    [
      'a text that says whether for sessions',
      () => SessionsModule.forRoot({ provider: 'memory', name: 'a', isGlobal: 'false' as never }),
      'SessionsModule: isGlobal is "false"; it must be true or false',
    ],
  ])('has an effect: not %s', async (_title, makes, problem) => {
    expect(await problemsOf(makes)).toContain(problem);
  });

  it.each([
    [null, 'Telemetry: the options must be an object, not null'],
    [{ tracerProvider: {} }, 'Telemetry: tracerProvider has no getTracer()'],
    [{ optIn: 'http, gen_ai_latest' }, 'optIn has "gen_ai_latest"; it knows gen_ai_latest_experimental'],
    [{ meterProvider: {} }, 'Telemetry: meterProvider has no getMeter()'],
  ])('is what records telemetry: not %j', async (options, problem) => {
    expect(await problemsOf(() => SessionsTelemetryModule.forRoot(options as object))).toContain(problem);
  });
});
