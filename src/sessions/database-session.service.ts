import type { SessionServiceOptions } from './session-environment.js';
import { SessionService } from './session.service.js';
import { TypeOrmSessionStorage, type TypeOrmSessionStorageOptions } from './storage/typeorm/index.js';

/**
 * Sessions in a database, under the name that ADK uses.
 *
 * @example
 * const sessions = new DatabaseSessionService({ database: './data/sessions.db' });
 */
export class DatabaseSessionService extends SessionService {
  constructor(options: TypeOrmSessionStorageOptions & Omit<SessionServiceOptions, 'storage'>) {
    super({ ...options, storage: new TypeOrmSessionStorage(options) });
  }
}
