import { ConfigurableModuleBuilder, type Type } from '@nestjs/common';
import type { HistorySettings, QuotaSettings, SessionLimits, UsageSettings } from '../../config/session-settings.js';
import type { EncryptionOptions } from '../../config/encryption-settings.js';
import type { StoreSettings } from '../../config/store-settings.js';
import { type OptionKinds, checkOptions } from '../domain/values/given-options.js';
import type { SessionServiceOptions } from '../session-environment.js';
import type { SessionTitler } from '../session-titles.js';
import type { SessionStorage } from '../storage/session-storage.js';
import type { CleanupOptions } from './sessions.cleanup.js';
import { storeProviders } from './store-providers.js';

/** A custom store: an object, which the app closes, or a class, which Nest creates and the module closes. */
export interface CustomStore {
  readonly storage: SessionStorage | Type<SessionStorage>;
}

/** Options for every store. */
export interface CommonModuleOptions extends CleanupOptions {
  /** Limits of views and of retained history. */
  readonly history?: Partial<HistorySettings> | undefined;
  /** Input limits. */
  readonly limits?: Partial<SessionLimits> | undefined;
  /** Whether tokens are counted, what they cost, and budgets. */
  readonly usage?: Partial<UsageSettings> | undefined;
  /** How much a user, an app and this instance may take. Default: no limit. */
  readonly quotas?: Partial<QuotaSettings> | undefined;
  /** Encrypts what sessions say before it reaches the store. Default: nothing is encrypted. */
  readonly encryption?: EncryptionOptions | undefined;
  /** The longest pause between checks of watches for missed changes. Default: 1,000 ms. */
  readonly watchPollMs?: number | undefined;
  /** Source of the time, also for the store unless it is your own; for tests. */
  readonly clock?: SessionServiceOptions['clock'];
  /** Generates missing ids of sessions and events. */
  readonly newId?: SessionServiceOptions['newId'];
  /** Called before an append that leaves changes of `session.state` unsaved. Default: logs a warning. */
  readonly onUnsavedState?: SessionServiceOptions['onUnsavedState'];
  /** Called before a write with a field that looks like another one, such as `actions.statedelta`. Default: logs a warning. */
  readonly onMisspelledField?: SessionServiceOptions['onMisspelledField'];
  /** Checks the state that is written: {@link defineState}, or definitions by the names of apps. Default: any JSON. */
  readonly state?: SessionServiceOptions['state'];
  /** How often a store that cannot be reached at the start is tried again. Default: 10. */
  readonly retryAttempts?: number | undefined;
  /** How long to wait before that. Default: 3,000. */
  readonly retryDelayMs?: number | undefined;
  /** Gives sessions a title after their first turn: an object, or a class that Nest creates. Default: nobody does. */
  readonly titler?: SessionTitler | Type<SessionTitler> | undefined;
}

/** The options of {@link SessionsModule}. */
export type SessionsModuleOptions = CommonModuleOptions & (StoreSettings | CustomStore);

/** A class that creates the options for {@link SessionsModule.forRootAsync}. */
export interface SessionsOptionsFactory {
  createSessionsOptions(): SessionsModuleOptions | Promise<SessionsModuleOptions>;
}

interface Extras {
  readonly isGlobal?: boolean;
  /** Tells this store apart from others of the app: inject it by `@InjectSessions(name)`. Default: the store of `SessionService`. */
  readonly name?: string | undefined;
}

/** Their kinds. The name is checked with those of other stores. */
export const EXTRAS: OptionKinds<Extras> = { isGlobal: 'flag?', name: 'anything?' };

const OPTIONS = 'SESSIONS_MODULE_OPTIONS';

/** The usual `forRoot` and `forRootAsync` of Nest modules. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<SessionsModuleOptions>({ moduleName: 'Sessions', optionsInjectionToken: OPTIONS })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSessionsOptions')
    .setExtras<Extras>({ isGlobal: false, name: undefined }, (definition, { isGlobal = false, name }) => {
      checkOptions<Extras>('SessionsModule', { isGlobal, name }, EXTRAS);
      const { providers, exports } = storeProviders(name, OPTIONS);
      return { ...definition, global: isGlobal, providers: [...(definition.providers ?? []), ...providers], exports };
    })
    .build();
