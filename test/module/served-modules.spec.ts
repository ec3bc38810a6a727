import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { ComponentsModule, InMemoryComponentStore } from '../../src/components/index.js';
import { SessionsModule } from '../../src/index.js';
import { SessionsInspectorModule } from '../../src/inspector/index.js';
import {
  OpenAccess,
  SearchRestModule,
  SessionAccess,
  SessionAccessModule,
  SessionsRestModule,
} from '../../src/rest.js';
import { SearchModule } from '../../src/search/index.js';
import { SummarizerModule } from '../../src/summarizer/index.js';
import { SessionsTelemetryModule } from '../../src/telemetry/index.js';
import { startApp } from './support/apps.js';

const sessionsModule = () => SessionsModule.forRoot({ provider: 'memory', isGlobal: true });
const access = () => SessionAccessModule.forRoot({ access: OpenAccess });
const archiveModule = () => SessionsModule.forRoot({ provider: 'memory', name: 'archive', isGlobal: true });

/** Modules that would get in each other's way, and what is said of that. */
const TWICE: readonly (readonly [title: string, modules: () => readonly DynamicModule[], problem: string])[] = [
  [
    'SearchModule, which would empty the index',
    () => [SearchModule.forRoot(), SearchModule.forRoot({ apps: ['shop'] })],
    'two SearchModules for the sessions of the store without a name',
  ],
  [
    'SearchModule for a store with a name',
    () => [SearchModule.forRoot({ sessionsName: 'archive' }), SearchModule.forRoot({ sessionsName: 'archive' })],
    'two SearchModules for the sessions of the store "archive"',
  ],
  [
    'SummarizerModule, of which one model would not be asked',
    () => [SummarizerModule.forRoot({ events: 3 }), SummarizerModule.forRoot({ events: 5 })],
    'two SummarizerModules for the sessions of the store without a name',
  ],
  [
    'ComponentsModule, of which one lifetime would not count',
    () => [ComponentsModule.forRoot(), ComponentsModule.forRoot({ ttlMs: 5_000 })],
    'two ComponentsModules over one store',
  ],
  [
    'SessionsInspectorModule, of which one page would be missing',
    () => ['a', 'b'].map((route) => SessionsInspectorModule.forRoot({ route })),
    'two SessionsInspectorModules',
  ],
  [
    'SessionsRestModule, of which one path would be missing',
    () => [access(), ...['a', 'b'].map((path) => SessionsRestModule.forRoot({ path }))],
    'two SessionsRestModules',
  ],
  [
    'SearchRestModule, as any other routes',
    () => [access(), SearchModule.forRoot({ isGlobal: true }), SearchRestModule.forRoot(), SearchRestModule.forRoot()],
    'two SearchRestModules',
  ],
  ['SessionAccessModule, of which one rule would not be asked', () => [access(), access()], 'two SessionAccessModules'],
  [
    'SessionsTelemetryModule, which would count twice',
    () => [SessionsTelemetryModule.forRoot(), SessionsTelemetryModule.forRoot()],
    'two SessionsTelemetryModules',
  ],
];

/** Modules that are for something else each. */
const BESIDE: readonly (readonly [title: string, modules: () => readonly DynamicModule[]])[] = [
  ['SearchModule for two stores', () => [SearchModule.forRoot(), SearchModule.forRoot({ sessionsName: 'archive' })]],
  [
    'SummarizerModule for two stores',
    () => [SummarizerModule.forRoot({ events: 3 }), SummarizerModule.forRoot({ events: 3, sessionsName: 'archive' })],
  ],
  [
    'ComponentsModule for two stores',
    () => [ComponentsModule.forRoot(), ComponentsModule.forRoot({ sessionsName: 'archive' })],
  ],
  [
    'ComponentsModule over a store of its own',
    () => [ComponentsModule.forRoot(), ComponentsModule.forRoot({ store: new InMemoryComponentStore() })],
  ],
  [
    'SessionsRestModule for two stores',
    () => [access(), SessionsRestModule.forRoot(), SessionsRestModule.forRoot({ path: 'a', sessionsName: 'archive' })],
  ],
];

class NoRule {
  allows = (): boolean => true;
}

class Undecided extends (SessionAccess as unknown as new () => object) {}

/** Access rules of JavaScript that would fail at each request. */
const RULES: readonly (readonly [title: string, access: unknown, problem: string])[] = [
  ['a class that does not extend SessionAccess', NoRule, 'NoRule does not extend it'],
  ['an object of such a class', new NoRule(), 'must be a class that extends SessionAccess, or an object of one'],
  ['a function', () => true, 'must be a class that extends SessionAccess'],
  ['null', null, 'must be a class that extends SessionAccess'],
  ['a class without allows()', Undecided, 'Undecided extends SessionAccess without allows()'],
  ['an object without it', new Undecided(), 'Undecided extends SessionAccess without allows()'],
];

describe('A module', () => {
  let app: INestApplicationContext | undefined;
  afterEach(async () => app?.close());

  async function start(modules: readonly DynamicModule[]): Promise<void> {
    app = undefined;
    app = await startApp([sessionsModule(), archiveModule(), ...modules]);
  }

  it.each(TWICE)('is refused where it is registered twice: %s', async (_title, modules, problem) => {
    await expect(start(modules())).rejects.toMatchObject({
      code: 'CONFIGURATION_INVALID',
      message: expect.stringContaining(problem) as string,
    });
  });

  it.each(RULES)('refuses an access rule at the start: %s', async (_title, rule, problem) => {
    const options = { access: rule as SessionAccess };
    const given: readonly (() => readonly DynamicModule[])[] = [
      () => [SessionAccessModule.forRoot(options)],
      () => [SessionAccessModule.forRootAsync({ useFactory: () => options })],
      () => [SessionsRestModule.forRoot(options)],
      () => [SessionsRestModule.forRoot({ ...options, auth: { from: () => undefined } })],
    ];
    for (const modules of given) {
      await expect(async () => start(modules())).rejects.toMatchObject({
        code: 'CONFIGURATION_INVALID',
        message: expect.stringContaining(problem) as string,
      });
    }
  });

  it.each(BESIDE)('may stand beside another one: %s', async (_title, modules) => {
    await start(modules());
    expect(app).toBeDefined();
  });

  it('that is imported in many places counts once', async () => {
    const search = SearchModule.forRoot();
    await start([search, search]);
    expect(app).toBeDefined();
  });
});
