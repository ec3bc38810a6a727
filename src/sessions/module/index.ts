export { SessionsModule } from './sessions.module.js';
export type {
  CommonModuleOptions,
  CustomStore,
  SessionsModuleOptions,
  SessionsOptionsFactory,
} from './sessions-module-options.js';
export { type ConsumeMethodOptions, ConsumeSessionEvents } from './sessions.consumers.js';
export { CLEANUP_NAME, SessionsCleanup } from './sessions.cleanup.js';
export { InjectSessionStorage, SESSION_STORAGE } from './sessions.tokens.js';
