import type { Type } from '@nestjs/common';
import type { HistorySettings } from '../../config/history.js';
import type { SessionLimits } from '../../config/limits.js';
import type { StoreSettings } from '../../config/store-settings.js';
import type { TtlSettings } from '../../config/ttl.js';
import type { SessionServiceOptions } from '../session-environment.js';
import type { SessionStorage } from '../storage/session-storage.js';

/** A store of your own: an object, which stays yours to close, or a class for Nest to make, which the module closes. */
export interface CustomStore {
  readonly storage: SessionStorage | Type<SessionStorage>;
}

/** What holds for every store. */
export interface CommonModuleOptions {
  /** How long a view is, and what of the log is kept. */
  readonly history?: Partial<HistorySettings> | undefined;
  /** When sessions and shared state expire. */
  readonly ttl?: Partial<TtlSettings> | undefined;
  /** What is accepted. */
  readonly limits?: Partial<SessionLimits> | undefined;
  /** How often watches look for what was not heard of; 1,000 ms unless given. */
  readonly watchPollMs?: number | undefined;
  /** Where the time comes from, in the store as well; for tests. */
  readonly clock?: SessionServiceOptions['clock'];
  /** Makes the ids of sessions and events that are given none. */
  readonly newId?: SessionServiceOptions['newId'];
  /** Whether a job removes what expired; on unless switched off. It runs only where something can expire. */
  readonly cleanup?: boolean | undefined;
}

/** Where sessions are kept, and how. */
export type SessionsModuleOptions = CommonModuleOptions & (StoreSettings | CustomStore);

/** What {@link SessionsModule.forRootAsync} makes of a class. */
export interface SessionsOptionsFactory {
  createSessionsOptions(): SessionsModuleOptions | Promise<SessionsModuleOptions>;
}
