import { ConfigurableModuleBuilder, type DynamicModule, Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { requireOptions } from '../sessions/domain/values/given-options.js';
import {
  SERVED_EXTRAS,
  type ServedExtras,
  checkedAsync,
  oncePerStore,
  withSessions,
} from '../sessions/served-module.js';
import type { SessionService } from '../sessions/session.service.js';
import { SERVED_SESSIONS } from '../sessions/sessions.tokens.js';
import { loadModelPackages } from './models/model-at-address.js';
import type { SummarizerOptions } from './summarizer-options.js';
import { SummarizerSessionManager } from './summarizer-session.manager.js';
import { SummarizerSweep, sweepOf } from './summarizer.sweep.js';

/** The injection token of the options. */
export const SUMMARIZER_OPTIONS = Symbol('SUMMARIZER_OPTIONS');

const { ConfigurableModuleClass, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<SummarizerOptions>({
  moduleName: 'Summarizer',
  optionsInjectionToken: SUMMARIZER_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createSummarizerOptions')
  .setExtras<ServedExtras>(SERVED_EXTRAS, withSessions)
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
      useFactory: async (sessions: SessionService, options: SummarizerOptions) => {
        const { model, modelAt } = requireOptions('SummarizerModule', options);
        if (modelAt && !model) await loadModelPackages();
        return new SummarizerSessionManager({ sessions }, options);
      },
      inject: [SERVED_SESSIONS, SUMMARIZER_OPTIONS],
    },
    { provide: SummarizerSweep, useFactory: sweepOf, inject: [SummarizerSessionManager, ModuleRef] },
    oncePerStore(() => SummarizerModule, 'each event would be looked at twice, and only one model asked'),
  ],
  exports: [SummarizerSessionManager],
})
export class SummarizerModule extends ConfigurableModuleClass {
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    return super.forRoot(requireOptions('SummarizerModule', options));
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return super.forRootAsync(checkedAsync(SummarizerModule, options));
  }
}
