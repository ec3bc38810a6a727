export { AdkMemoryService, type AdkMemoryServiceOptions } from './adk-memory-service.js';
export { AdkSessionService, type AdkSessionServiceOptions } from './adk-session-service.js';
export { ModelRequestPlugin } from './model-request-plugin.js';
export type { RunInTurnRequest } from './run-in-turn.js';
