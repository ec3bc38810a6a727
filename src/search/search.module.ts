import {
  ConfigurableModuleBuilder,
  type DynamicModule,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { checkOptions, requireOptions } from '../sessions/domain/values/given-options.js';
import {
  SERVED_EXTRAS,
  type ServedExtras,
  checkedAsync,
  oncePerStore,
  withSessions,
} from '../sessions/served-module.js';
import type { SessionService } from '../sessions/session.service.js';
import { SERVED_SESSIONS } from '../sessions/sessions.tokens.js';
import { SessionSearch, type SessionSearchOptions } from './session-search.js';

/** Settings of {@link SearchModule}. */
export type SearchModuleOptions = Omit<SessionSearchOptions, 'sessions'>;

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<SearchModuleOptions>({ moduleName: 'Search' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSearchOptions')
    .setExtras<ServedExtras>(SERVED_EXTRAS, withSessions)
    .build();

/**
 * Provides {@link SessionSearch} over the sessions of `SessionsModule`, and fills its index as long as the app runs.
 *
 * @example
 * imports: [SessionsModule.forRoot({ provider: 'typeorm', database: { url }, isGlobal: true }), SearchModule.forRoot()];
 */
@Module({
  providers: [
    {
      provide: SessionSearch,
      useFactory: (sessions: SessionService, options: SearchModuleOptions) => {
        checkOptions<SearchModuleOptions>('SearchModule', options, { apps: 'texts?', pollMs: 'count?' });
        return new SessionSearch({ ...options, sessions });
      },
      inject: [SERVED_SESSIONS, MODULE_OPTIONS_TOKEN],
    },
    oncePerStore(() => SearchModule, 'they would fill one index, by the apps of the second'),
  ],
  exports: [SessionSearch],
})
export class SearchModule extends ConfigurableModuleClass implements OnApplicationBootstrap, OnModuleDestroy {
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    return super.forRoot(requireOptions('SearchModule', options));
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return super.forRootAsync(checkedAsync(SearchModule, options));
  }

  constructor(private readonly search: SessionSearch) {
    super();
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.search.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.search.stop();
  }
}
