import type { SessionServiceOptions } from './session-environment.js';
import { SessionService } from './session.service.js';
import { InMemorySessionStorage } from './storage/in-memory/in-memory-session-storage.js';

/**
 * Sessions in the memory of this process, under the name that ADK uses.
 *
 * @example
 * const sessions = new InMemorySessionService();
 */
export class InMemorySessionService extends SessionService {
  constructor(options: Omit<SessionServiceOptions, 'storage'> = {}) {
    super({ ...options, storage: new InMemorySessionStorage({ clock: options.clock }) });
  }
}
