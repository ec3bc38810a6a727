import { checkServiceOptions } from '../config/check-service-options.js';
import { type SessionServiceSettings, serviceOptions } from './session-environment.js';
import { SessionService } from './session.service.js';
import { TypeOrmSessionStorage, type TypeOrmSessionStorageOptions } from './storage/typeorm/index.js';

/**
 * Sessions in a database, under the name that ADK uses.
 *
 * @example
 * const sessions = new DatabaseSessionService({ database: './data/sessions.db' });
 */
export class DatabaseSessionService extends SessionService {
  constructor(options: TypeOrmSessionStorageOptions & SessionServiceSettings) {
    checkServiceOptions('DatabaseSessionService', options);
    super(serviceOptions(options, (ofStore) => new TypeOrmSessionStorage(ofStore)));
  }
}
