import { type DynamicModule, Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import { SessionService, SessionsModule } from '../../src/index.js';
import { OpenAccess, SessionsRestModule } from '../../src/sessions/rest/index.js';
import { SummarizerModule } from '../../src/summarizer/index.js';
import { KeptLogger } from './support/kept-logger.js';

const SESSIONS = SessionsModule.forRoot({ provider: 'memory', isGlobal: true });

const MODULES: readonly (readonly [name: string, imports: readonly DynamicModule[], make: () => DynamicModule])[] = [
  ['SessionsModule', [], () => SessionsModule.forRoot({ provider: 'memory' })],
  ['SummarizerModule', [SESSIONS], () => SummarizerModule.forRoot()],
  ['SessionsRestModule', [SESSIONS], () => SessionsRestModule.forRoot({ access: OpenAccess })],
];

describe('A module that is loaded lazily', () => {
  let app: TestingModule;
  const logger = new KeptLogger();

  async function start(imports: readonly DynamicModule[]): Promise<void> {
    logger.lines.length = 0;
    app = await Test.createTestingModule({ imports: [...imports] })
      .setLogger(logger)
      .compile();
    await app.init();
  }

  afterEach(() => app.close());

  it.each(MODULES)('says once what it lacks: %s', async (name, imports, make) => {
    await start(imports);
    expect(logger.matching(/lazily/)).toEqual([]);
    await app.get(LazyModuleLoader).load(make);
    expect(logger.matching(/lazily/)).toEqual([expect.stringMatching(new RegExp(`^warn: ${name} is loaded lazily,`))]);
  });

  it('may use the sessions that the app started with', async () => {
    const sessions = SessionsModule.forRoot({ provider: 'memory' });
    @Module({ imports: [sessions] })
    class LaterModule {}
    await start([sessions]);
    const later = await app.get(LazyModuleLoader).load(() => LaterModule);
    expect(later.get(SessionService, { strict: false })).toBe(app.get(SessionService));
    expect(logger.matching(/lazily/)).toEqual([]);
  });
});
