import type { DynamicModule, Provider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ConfigurationError } from '../../config/configuration-error.js';
import { SERVED_SESSIONS, getSessionsToken, getSessionStorageToken, servedSessions } from '../sessions.tokens.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { cleanupOf, getSessionsCleanupToken } from './sessions.cleanup.js';

/** Within the module, what its options choose, and what is used, which a test may replace. */
export const CHOSEN_STORAGE = Symbol('CHOSEN_STORAGE');
export const MADE_SERVICE = Symbol('MADE_SERVICE');
export const USED_STORAGE = Symbol('USED_STORAGE');
export const USED_CLEANUP = Symbol('USED_CLEANUP');

/** The name of the module; '' without one. */
export const STORE_NAME = Symbol('STORE_NAME');

/** The providers whose tokens tell the stores of an app apart. Only these are exported. */
export function storeProviders(
  name: string | undefined,
  optionsToken: string,
): Required<Pick<DynamicModule, 'providers' | 'exports'>> {
  if (name !== undefined && (typeof name !== 'string' || name.trim() === '')) {
    throw new ConfigurationError(['name of SessionsModule must be a text that is not empty, such as archive.']);
  }
  const [service, storage, cleanup] = [
    getSessionsToken(name),
    getSessionStorageToken(name),
    getSessionsCleanupToken(name),
  ];
  const providers: Provider[] = [
    { provide: STORE_NAME, useValue: name ?? '' },
    {
      provide: storage,
      useFactory: (chosen: { readonly storage: SessionStorage }) => chosen.storage,
      inject: [CHOSEN_STORAGE],
    },
    { provide: service, useExisting: MADE_SERVICE },
    {
      provide: cleanup,
      useFactory: cleanupOf,
      inject: [SERVED_SESSIONS, ModuleRef, USED_STORAGE, optionsToken, STORE_NAME],
    },
    servedSessions({ sessionsName: name }),
    { provide: USED_STORAGE, useExisting: storage },
    { provide: USED_CLEANUP, useExisting: cleanup },
  ];
  return { providers, exports: [service, storage, cleanup] };
}
