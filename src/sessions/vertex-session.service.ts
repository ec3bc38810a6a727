import type { SessionServiceOptions } from './session-environment.js';
import { SessionService } from './session.service.js';
import { VertexSessionStorage, type VertexSessionStorageOptions } from './storage/vertex/index.js';

/**
 * Sessions in Vertex AI Agent Engine.
 *
 * @example
 * const sessions = new VertexSessionService({ project: 'my-project', location: 'us-central1', reasoningEngine: '123' });
 */
export class VertexSessionService extends SessionService {
  constructor(options: VertexSessionStorageOptions & Omit<SessionServiceOptions, 'storage'>) {
    super({ ...options, storage: new VertexSessionStorage(options) });
  }
}
