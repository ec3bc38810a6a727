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
  readonly history?: Partial<HistorySettings> | undefined;
  readonly ttl?: Partial<TtlSettings> | undefined;
  readonly limits?: Partial<SessionLimits> | undefined;
  readonly watchPollMs?: number | undefined;
  readonly clock?: SessionServiceOptions['clock'];
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
