import { ConfigurableModuleBuilder } from '@nestjs/common';
import { ConfigurationError } from '../config/configuration-error.js';
import type { Clock } from '../sessions/domain/process/clock.js';
import { checkOptions } from '../sessions/domain/values/given-options.js';
import { SERVED_EXTRAS, type ServedExtras, withExtras } from '../sessions/served-module.js';
import { servedSessionsIfAny } from '../sessions/sessions.tokens.js';
import { findEnvironment } from '../sessions/service-environment.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import type { LeaseStore } from '../sessions/storage/coordination.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { JsonFileComponentStore } from './json-files/json-file-component-store.js';

/** Settings of `ComponentsModule`. */
export interface ComponentsModuleOptions {
  /** A folder for JSON files. Without it and without `store`, state is kept in the store of `SessionsModule`. */
  readonly root?: string | undefined;
  /** A store of one's own. The app closes it. */
  readonly store?: ComponentStore | undefined;
  /** Sessions expire so long after their last save; 0 = never. Default: `ttl` of `SessionsModule` if state is kept in its store, else never. */
  readonly ttlMs?: number | undefined;
  /** How often expired sessions are removed; 0 = never. Default: as `SessionsModule`, else every hour. */
  readonly cleanupIntervalSeconds?: number | undefined;
  /** Whether `deleteSession` and `eraseUser` of `SessionService` remove the state of its sessions here as well. Default: `true`. */
  readonly deleteWithSessions?: boolean | undefined;
  /** For JSON files. Default: that of this machine. The store of `SessionsModule` has one of its own. */
  readonly clock?: Clock | undefined;
}

/** The usual `forRoot` and `forRootAsync` of Nest modules. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<ComponentsModuleOptions>({ moduleName: 'Components' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createComponentsOptions')
    .setExtras<ServedExtras>(SERVED_EXTRAS, (definition, extras) =>
      withExtras(definition, extras, servedSessionsIfAny(extras)),
    )
    .build();

/** The store that the options choose, and what follows from it. */
export interface ChosenComponents {
  readonly store: ComponentStore;
  /** Fails if the store cannot be used. That of the sessions is opened with them. */
  readonly open?: () => Promise<void>;
  /** Whether the module closes it. */
  readonly isOurs: boolean;
  readonly ttlMs: number | undefined;
  readonly cleanupIntervalMs: number;
  readonly deletesWithSessions: boolean;
  /** What to warn of at the start. */
  readonly warning?: string | undefined;
  /** For a store that several instances may clean up. JSON files exclude them by themselves. */
  readonly leases: LeaseStore | undefined;
}

const DEFAULT_INTERVAL_SECONDS = 3_600;
const NOTHING_DELETED = 'deleteSession and eraseUser of SessionService leave the state of their sessions here.';
const SEEN =
  'ComponentsModule sees no SessionsModule: make that global, give it in imports, or set deleteWithSessions: false.';

/** @param sessions of `SessionsModule`, if the module sees it */
export function chooseComponents(options: ComponentsModuleOptions, sessions: unknown): ChosenComponents {
  checkOptions('ComponentsModule', options, {
    root: 'path?',
    store: 'object?',
    ttlMs: 'count?',
    cleanupIntervalSeconds: 'seconds?',
    deleteWithSessions: 'flag?',
    clock: 'clock?',
  });
  const { root, store, ttlMs, cleanupIntervalSeconds, deleteWithSessions, clock } = options;
  const chosen = {
    ttlMs: ttlMs || undefined,
    deletesWithSessions: deleteWithSessions ?? true,
    warning: sessions === undefined && deleteWithSessions === undefined ? `${NOTHING_DELETED} ${SEEN}` : undefined,
    cleanupIntervalMs: (cleanupIntervalSeconds ?? DEFAULT_INTERVAL_SECONDS) * 1_000,
    leases: undefined,
  };
  if (root !== undefined && store) {
    throw new ConfigurationError(['ComponentsModule has root and store; remove one of them.']);
  }
  if (sessions === undefined && deleteWithSessions && (store ?? root) !== undefined) {
    throw new ConfigurationError([`ComponentsModule: deleteWithSessions has no effect. ${SEEN}`]);
  }
  if (clock && root === undefined) {
    throw new ConfigurationError([
      'ComponentsModule: clock has no effect without root: a store has a clock of its own.',
    ]);
  }
  if (store) return { ...chosen, store, isOurs: false };
  if (root !== undefined) {
    const files = new JsonFileComponentStore({ root, clock });
    return { ...chosen, store: files, isOurs: true, open: () => files.open() };
  }
  const { storage, ttl } = findEnvironment(sessions) ?? {};
  if (!storage?.components) throw new ConfigurationError([missingStore(storage)]);
  const ofSessions = ttl?.enabled ? ttl.sessionSeconds * 1_000 : 0;
  const seconds = cleanupIntervalSeconds ?? ttl?.cleanupIntervalSeconds ?? DEFAULT_INTERVAL_SECONDS;
  return {
    ...chosen,
    store: storage.components,
    isOurs: false,
    ttlMs: (ttlMs ?? ofSessions) || undefined,
    cleanupIntervalMs: storage.cleansUpByItself ? 0 : seconds * 1_000,
    leases: storage.leases,
  };
}

function missingStore(storage: SessionStorage | undefined): string {
  return storage
    ? 'The store of SessionsModule keeps no components: give ComponentsModule a root or a store.'
    : 'ComponentsModule finds no store of SessionsModule: make that global, give it in imports, or give a root or a store.';
}
