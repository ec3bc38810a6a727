export type { Skip } from './contract-runner.js';
export { type ServiceContractOptions, describeSessionService } from './describe-session-service.js';
export { type CreateStorage, type StorageContractOptions, describeSessionStorage } from './describe-session-storage.js';
export { ManualClock } from './manual-clock.js';
export {
  type CreateSessions,
  type OpenSessions,
  type SessionClient,
  type SessionSettings,
  sessionsOver,
} from './open-sessions.js';
export type { OpenStorage, RawData } from './open-storage.js';
