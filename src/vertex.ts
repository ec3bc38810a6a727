export * from './sessions/storage/vertex/index.js';
export { VertexSessionService } from './sessions/vertex-session.service.js';
