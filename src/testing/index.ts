export type { Skip } from './contract-runner.js';
export { type CreateStorage, type StorageContractOptions, describeSessionStorage } from './describe-session-storage.js';
export { ManualClock } from './manual-clock.js';
export type { OpenStorage, RawData } from './open-storage.js';
