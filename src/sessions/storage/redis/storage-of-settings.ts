import type { RedisSettings } from '../../../config/store-settings.js';
import type { Clock } from '../../domain/clock.js';
import type { RedisClient } from './redis-options.js';
import { RedisSessionStorage } from './redis-session-storage.js';

/** The store that a configuration describes without words of ioredis; nothing is opened yet. */
export function redisStorageOf({ client, ...settings }: RedisSettings, clock: Clock | undefined): RedisSessionStorage {
  return new RedisSessionStorage({ ...settings, client: client as RedisClient | undefined, clock });
}
