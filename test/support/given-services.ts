import { type DynamicModule, Module } from '@nestjs/common';
import { SessionService } from '../../src/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';

/** Services that an app of a test uses in place of its own. */
export interface GivenServices {
  readonly sessions: SessionService;
  readonly summaries?: SummarizerSessionManager;
}

@Module({})
class GivenServicesModule {}

/** Provides them in the whole app. */
export function givenServices({ sessions, summaries }: GivenServices): DynamicModule {
  const ofSummaries = summaries && { provide: SummarizerSessionManager, useValue: summaries };
  return {
    module: GivenServicesModule,
    global: true,
    providers: [{ provide: SessionService, useValue: sessions }, ...(ofSummaries ? [ofSummaries] : [])],
    exports: [SessionService, ...(ofSummaries ? [SummarizerSessionManager] : [])],
  };
}
