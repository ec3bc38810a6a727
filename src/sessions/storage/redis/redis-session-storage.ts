import type { RedisSettings } from '../../../config/store-settings.js';
import type { Clock } from '../../domain/process/clock.js';
import { DecidingStorage } from '../../writes/deciding-storage.js';
import type { ComponentStore } from '../component-store.js';
import type { RedisClient, RedisSessionStorageOptions } from './connect/redis-options.js';
import { RedisStore } from './redis-store.js';

/**
 * Stores sessions in Redis: on a single node, behind Sentinel, or on a cluster. An operation on a session is one script,
 * so it is atomic and takes one round trip. On a cluster, app state takes more scripts, because it is in another slot.
 *
 * @example
 * const sessions = new SessionService({ storage: new RedisSessionStorage({ url: 'redis://127.0.0.1:6379' }) });
 */
export class RedisSessionStorage extends DecidingStorage<RedisStore> {
  declare readonly components: ComponentStore;

  constructor(options: RedisSessionStorageOptions = {}) {
    super(new RedisStore(options));
  }

  /** Connects, so that a wrong setting fails immediately. Without this call, the first operation connects. */
  async open(): Promise<void> {
    await this.store.open();
  }

  /** Asks the servers whether they may evict keys. */
  warnings(): Promise<readonly string[]> {
    return this.store.warnings();
  }
}

/** Creates the store from settings that do not use the types of ioredis. It opens no connection. */
export function redisStorageOf({ client, ...settings }: RedisSettings, clock: Clock | undefined): RedisSessionStorage {
  return new RedisSessionStorage({ ...settings, client: client as RedisClient | undefined, clock });
}
