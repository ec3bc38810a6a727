import type { ModuleRef } from '@nestjs/core';
import { InMemorySessionStorage } from '../storage/in-memory/in-memory-session-storage.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { checkModuleOptions } from './check-module-options.js';
import { loadPackage } from './load-package.js';
import type { CustomStore, SessionsModuleOptions } from './sessions-module-options.js';

/** A store that is not open yet, and whether it is ours to close. */
export interface ChosenStorage {
  readonly storage: SessionStorage;
  readonly isOurs: boolean;
  /** Reaches for it, so that a wrong setting shows when the app starts. */
  open(): Promise<void>;
}

type Openable = SessionStorage & { open(): Promise<void> };

const loadRedis = () => import('../storage/redis/storage-of-settings.js');
const loadTypeOrm = () => import('../storage/typeorm/storage-of-settings.js');

/** Makes the store that the options choose, and loads nothing that belongs to another one. */
export async function chooseStorage(options: SessionsModuleOptions, moduleRef: ModuleRef): Promise<ChosenStorage> {
  checkModuleOptions(options);
  if (isCustom(options)) return customStorage(options, moduleRef);
  const { clock } = options;
  if (options.provider === 'redis') {
    const { redisStorageOf } = await loadPackage(loadRedis, 'The redis provider');
    return provided(redisStorageOf(options.redis ?? {}, clock), 'The redis provider');
  }
  if (options.provider === 'typeorm') {
    const { typeOrmStorageOf } = await loadPackage(loadTypeOrm, 'The typeorm provider');
    return provided(typeOrmStorageOf(options.database ?? {}, clock), 'The typeorm provider');
  }
  return { storage: new InMemorySessionStorage({ clock }), isOurs: true, open: nothingToOpen };
}

function isCustom(options: SessionsModuleOptions): options is SessionsModuleOptions & CustomStore {
  return 'storage' in options;
}

function provided(storage: Openable, provider: string): ChosenStorage {
  return {
    storage,
    isOurs: true,
    async open() {
      try {
        await loadPackage(() => storage.open(), provider);
      } catch (error) {
        // Else it would go on trying, and keep the process alive.
        await storage.close();
        throw error;
      }
    },
  };
}

async function customStorage({ storage }: CustomStore, moduleRef: ModuleRef): Promise<ChosenStorage> {
  return typeof storage === 'function'
    ? { storage: await moduleRef.create(storage), isOurs: true, open: nothingToOpen }
    : { storage, isOurs: false, open: nothingToOpen };
}

async function nothingToOpen(): Promise<void> {}
