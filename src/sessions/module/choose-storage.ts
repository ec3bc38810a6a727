import { Logger } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { inspect } from 'node:util';
import { checkModuleOptions } from '../../config/check-options.js';
import { storePlaceOf } from '../../config/store-place.js';
import type { EncryptionOptions } from '../../config/encryption-settings.js';
import type { StoreSettings } from '../../config/store-settings.js';
import type { Clock } from '../domain/process/clock.js';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import { encryptedStorage } from '../encryption/encrypted-storage.js';
import { InMemorySessionStorage } from '../storage/in-memory/in-memory-session-storage.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { loadPackage } from '../../config/load-package.js';
import type { CustomStore, SessionsModuleOptions } from './sessions-module-options.js';

/** A store that is not open yet, and whether the module closes it. */
export interface ChosenStorage {
  readonly storage: SessionStorage;
  readonly isOurs: boolean;
  /** Where sessions are stored, for logs. */
  readonly place: string;
  /** Checks that the store can be reached: opens and closes another one with the same settings. */
  probe(): Promise<void>;
  /** Connects, so that wrong settings fail at start. */
  open(): Promise<void>;
}

type Openable = SessionStorage & { open(): Promise<void> };

const loadRedis = () => import('../storage/redis/redis-session-storage.js');
const loadVertex = () => import('../storage/vertex/vertex-session-storage.js');
const loadTypeOrm = () => import('../storage/typeorm/typeorm-session-storage.js');

/** Creates the chosen store, without loading the packages of other stores. */
export async function chooseStorage(options: SessionsModuleOptions, moduleRef: ModuleRef): Promise<ChosenStorage> {
  checkModuleOptions(options);
  if (!isCustom(options)) return provideStorage(options);
  return withEncryption(await customStorage(options, moduleRef), options);
}

interface UsedWith {
  readonly clock?: Clock | undefined;
  readonly encryption?: EncryptionOptions | undefined;
}

/**
 * Creates one of the stores of this package.
 *
 * @param creates whether a database creates its tables, if it lacks some
 */
export async function provideStorage(options: StoreSettings & UsedWith, creates = true): Promise<ChosenStorage> {
  return withEncryption(await plainStorage(options, creates), options);
}

/** Keys that cannot be used fail at the start, as a store does. */
function withEncryption(chosen: ChosenStorage, { encryption, clock }: UsedWith): ChosenStorage {
  if (!encryption) return chosen;
  const storage = encryptedStorage(chosen.storage, encryption, clock);
  const checked = (before: () => Promise<void>) => async (): Promise<void> => {
    await before();
    await storage.keys.check();
  };
  return {
    ...chosen,
    storage,
    place: `${chosen.place}, encrypted`,
    probe: checked(() => chosen.probe()),
    open: checked(() => chosen.open()),
  };
}

async function plainStorage(options: StoreSettings & UsedWith, creates: boolean): Promise<ChosenStorage> {
  const place = storePlaceOf(options);
  const { clock } = options;
  if (options.provider === 'redis') {
    const { redisStorageOf } = await loadPackage(loadRedis, 'The redis provider');
    return provided(() => redisStorageOf(options.redis ?? {}, clock), 'The redis provider', place);
  }
  if (options.provider === 'vertex') {
    const { vertexStorageOf } = await loadPackage(loadVertex, 'The vertex provider');
    return provided(() => vertexStorageOf(options.vertex ?? {}, clock), 'The vertex provider', place);
  }
  if (options.provider === 'typeorm') {
    const { typeOrmStorageOf } = await loadPackage(loadTypeOrm, 'The typeorm provider');
    const chosen = provided(
      () => typeOrmStorageOf(options.database ?? {}, clock, { creates, onWarning: warn }),
      'The typeorm provider',
      place,
    );
    // The app may initialise its DataSource in a module hook, later than this.
    return isInitialised(options.database?.dataSource) ? chosen : { ...chosen, probe: nothing };
  }
  return { storage: new InMemorySessionStorage({ clock }), isOurs: true, place, probe: nothing, open: nothing };
}

function isCustom(options: SessionsModuleOptions): options is SessionsModuleOptions & CustomStore {
  return 'storage' in options;
}

function isInitialised(dataSource: object | undefined): boolean {
  return dataSource === undefined || ('isInitialized' in dataSource && dataSource.isInitialized === true);
}

function provided(make: () => Openable, provider: string, place: string): ChosenStorage {
  const storage = make();
  return {
    storage,
    isOurs: true,
    place,
    async probe() {
      const another = make();
      await opened(another, provider);
      await another.close();
    },
    open: () => opened(storage, provider),
  };
}

async function opened(storage: Openable, provider: string): Promise<void> {
  try {
    await loadPackage(() => storage.open(), provider);
  } catch (error) {
    // Otherwise it keeps reconnecting and the process alive.
    await storage.close();
    throw startFailure(error);
  }
}

async function customStorage({ storage }: CustomStore, moduleRef: ModuleRef): Promise<ChosenStorage> {
  const isOurs = typeof storage === 'function';
  const made = isOurs ? await moduleRef.create(storage) : storage;
  return {
    storage: made,
    isOurs,
    place: `a store of the app's own, ${made.constructor.name}`,
    probe: nothing,
    open: nothing,
  };
}

async function nothing(): Promise<void> {}

function warn(message: string): void {
  new Logger('SessionsModule').warn(message);
}

/** Makes logs show the error as one message, without a stack trace. */
function startFailure(error: unknown): unknown {
  if (error instanceof StoreUnavailableError) {
    const shown = `${error.name}: The store of the sessions cannot be opened. ${error.reason}`;
    Object.defineProperty(error, inspect.custom, { value: () => shown });
  }
  return error;
}
