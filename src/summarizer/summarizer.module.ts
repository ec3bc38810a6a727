import { ConfigurableModuleBuilder, Module, type ModuleMetadata } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { SESSION_STORAGE } from '../sessions/module/sessions.tokens.js';
import { SessionService } from '../sessions/session.service.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { SummarizerOptions } from './summarizer-options.js';
import { SummarizerSessionManager } from './summarizer-session.manager.js';
import { SummarizerSweep, sweepOf } from './summarizer.sweep.js';

/** The injection token of the options. */
export const SUMMARIZER_OPTIONS = Symbol('SUMMARIZER_OPTIONS');

interface Extras {
  readonly isGlobal?: boolean;
  /** The module that provides `SessionService`, if it is not global. */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
}

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<SummarizerOptions>({
  moduleName: 'Summarizer',
  optionsInjectionToken: SUMMARIZER_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createSummarizerOptions')
  .setExtras<Extras>({ isGlobal: false, imports: [] }, (definition, { isGlobal, imports = [] }) => ({
    ...definition,
    global: isGlobal ?? false,
    imports: [...new Set([...(definition.imports ?? []), ...imports])],
  }))
  .build();

/**
 * Summarises the conversations of `SessionsModule`: {@link SummarizerSessionManager} hooks into its appends.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'redis', redis: { url }, isGlobal: true }),
 *   SummarizerModule.forRoot({ events: 40, keepRecentEvents: 10, model: new AiSdkSummaryModel(openai('gpt-5-mini')) }),
 * ];
 *
 * @example
 * SummarizerModule.forRootAsync(summarizerConfig.asProvider()); // from environment variables
 */
@Module({
  providers: [
    {
      provide: SummarizerSessionManager,
      useFactory: (sessions: SessionService, storage: SessionStorage, options: SummarizerOptions) =>
        new SummarizerSessionManager({ sessions, storage }, options),
      inject: [SessionService, SESSION_STORAGE, SUMMARIZER_OPTIONS],
    },
    { provide: SummarizerSweep, useFactory: sweepOf, inject: [SummarizerSessionManager, ModuleRef] },
  ],
  exports: [SummarizerSessionManager],
})
export class SummarizerModule extends ConfigurableModuleClass {}
