import { checkServiceOptions } from '../config/check-service-options.js';
import { type SessionServiceSettings, serviceOptions } from './session-environment.js';
import { SessionService } from './session.service.js';
import { InMemorySessionStorage } from './storage/in-memory/in-memory-session-storage.js';

/**
 * Sessions in the memory of this process, under the name that ADK uses.
 *
 * @example
 * const sessions = new InMemorySessionService();
 */
export class InMemorySessionService extends SessionService {
  constructor(options: SessionServiceSettings = {}) {
    checkServiceOptions('InMemorySessionService', options);
    super(serviceOptions(options, (ofStore) => new InMemorySessionStorage(ofStore)));
  }
}
