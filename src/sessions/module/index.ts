export { SessionsModule } from './sessions.module.js';
export type {
  CommonModuleOptions,
  CustomStore,
  SessionsModuleOptions,
  SessionsOptionsFactory,
} from './sessions-module-options.js';
export { type ConsumeMethodOptions, ConsumeSessionEvents } from './sessions.consumers.js';
export { CLEANUP_NAME, SessionsCleanup, getSessionsCleanupToken } from './sessions.cleanup.js';
export {
  InjectSessions,
  InjectSessionStorage,
  SESSION_STORAGE,
  type ServedSessions,
  getSessionStorageToken,
  getSessionsToken,
} from '../sessions.tokens.js';
