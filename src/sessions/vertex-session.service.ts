import { checkServiceOptions } from '../config/check-service-options.js';
import { type SessionServiceSettings, serviceOptions } from './session-environment.js';
import { SessionService } from './session.service.js';
import { VertexSessionStorage, type VertexSessionStorageOptions } from './storage/vertex/index.js';

/**
 * Sessions in Vertex AI Agent Engine.
 *
 * @example
 * const sessions = new VertexSessionService({ project: 'my-project', location: 'us-central1', reasoningEngine: '123' });
 */
export class VertexSessionService extends SessionService {
  constructor(options: VertexSessionStorageOptions & SessionServiceSettings) {
    checkServiceOptions('VertexSessionService', options);
    super(serviceOptions(options, (ofStore) => new VertexSessionStorage(ofStore)));
  }
}
