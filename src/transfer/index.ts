/** Moving sessions between stores and from other systems, and the requests of users for their data. */
export {
  TransferConflictError,
  TransferFileError,
  TransferUnsupportedError,
} from '../sessions/domain/transfer-errors.js';
export type { ErasedUser } from '../sessions/operations/erase-user.js';
export type {
  ImportCounts,
  ImportedSessions,
  ImportOptions,
  ImportProgress,
  ImportResult,
  TransferConflict,
} from './import-result.js';
export type { TransferInput } from './read-lines.js';
export type { TransferCounts, TransferFilter } from './transfer-records.js';
export {
  eraseUser,
  type ExportOptions,
  exportSessions,
  exportUser,
  importSessions,
  verifySessions,
} from './transfer-sessions.js';
export type { TransferDifference, VerifyResult } from './verify-records.js';
