import { ConfigurableModuleBuilder, type Type } from '@nestjs/common';
import type { HistorySettings, SessionLimits, TtlSettings, UsageSettings } from '../../config/session-settings.js';
import type { StoreSettings } from '../../config/store-settings.js';
import type { SessionServiceOptions } from '../session-environment.js';
import type { SessionTitler } from '../session-titles.js';
import type { SessionStorage } from '../storage/session-storage.js';

/** A custom store: an object, which the app closes, or a class, which Nest creates and the module closes. */
export interface CustomStore {
  readonly storage: SessionStorage | Type<SessionStorage>;
}

/** Options for every store. */
export interface CommonModuleOptions {
  /** Limits of views and of retained history. */
  readonly history?: Partial<HistorySettings> | undefined;
  /** When sessions and shared state expire. */
  readonly ttl?: Partial<TtlSettings> | undefined;
  /** Input limits. */
  readonly limits?: Partial<SessionLimits> | undefined;
  /** Whether tokens are counted, what they cost, and budgets. */
  readonly usage?: Partial<UsageSettings> | undefined;
  /** Interval at which watches check for missed changes. Default: 1,000 ms. */
  readonly watchPollMs?: number | undefined;
  /** Source of the time, also for the store unless it is your own; for tests. */
  readonly clock?: SessionServiceOptions['clock'];
  /** Generates missing ids of sessions and events. */
  readonly newId?: SessionServiceOptions['newId'];
  /** Called before an append that leaves changes of `session.state` unsaved. Default: logs a warning. */
  readonly onUnsavedState?: SessionServiceOptions['onUnsavedState'];
  /** Checks the state that is written: {@link defineState}, or definitions by the names of apps. Default: any JSON. */
  readonly state?: SessionServiceOptions['state'];
  /** Gives sessions a title after their first turn: an object, or a class that Nest creates. Default: nobody does. */
  readonly titler?: SessionTitler | Type<SessionTitler> | undefined;
  /** Whether a job removes expired data. Default true. It runs only if data can expire. */
  readonly cleanup?: boolean | undefined;
}

/** The options of {@link SessionsModule}. */
export type SessionsModuleOptions = CommonModuleOptions & (StoreSettings | CustomStore);

/** A class that creates the options for {@link SessionsModule.forRootAsync}. */
export interface SessionsOptionsFactory {
  createSessionsOptions(): SessionsModuleOptions | Promise<SessionsModuleOptions>;
}

/** The usual `forRoot` and `forRootAsync` of Nest modules. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<SessionsModuleOptions>({ moduleName: 'Sessions' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSessionsOptions')
    .setExtras({ isGlobal: false }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
    .build();
