import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { SessionsModule } from '../../src/index.js';
import { SearchModule } from '../../src/search/index.js';
import { startApp } from './support/apps.js';

const sessionsModule = () => SessionsModule.forRoot({ provider: 'memory', isGlobal: true });
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
];

/** Modules that are for something else each. */
const BESIDE: readonly (readonly [title: string, modules: () => readonly DynamicModule[]])[] = [
  ['SearchModule for two stores', () => [SearchModule.forRoot(), SearchModule.forRoot({ sessionsName: 'archive' })]],
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
