import { checkServiceOptions } from '../config/check-service-options.js';
import { type SessionServiceSettings, serviceOptions } from './session-environment.js';
import { SessionService } from './session.service.js';
import { RedisSessionStorage, type RedisSessionStorageOptions } from './storage/redis/index.js';

/**
 * Sessions in Redis, under the name that ADK uses.
 *
 * @example
 * const sessions = new RedisSessionService({ url: 'redis://127.0.0.1:6379' });
 */
export class RedisSessionService extends SessionService {
  constructor(options: RedisSessionStorageOptions & SessionServiceSettings = {}) {
    checkServiceOptions('RedisSessionService', options);
    super(serviceOptions(options, (ofStore) => new RedisSessionStorage(ofStore)));
  }
}
