/** Moving sessions between stores and from other systems, and the requests of users for their data. */
export { TransferConflictError, TransferFileError } from './transfer-errors.js';
export type { ErasedUser, EraseUserRequest } from '../sessions/operations/erase-user.js';
export type { Erasure } from '../sessions/erasures/erasure.js';
export type { UserRemains } from '../sessions/erasures/user-remains.js';
export { findErasure, findUser } from './erased-users.js';
export type {
  ImportCounts,
  ImportedComponents,
  ImportedSessions,
  ImportOptions,
  ImportProgress,
  ImportResult,
  TransferProblem,
} from './import-result.js';
export { adkSessions } from './from/adk-sessions.js';
export type { ForeignDatabase } from './from/foreign-database.js';
export { type LangGraphDecoder, type LangGraphOptions, langGraphThreads } from './from/langgraph-threads.js';
export { type OpenAiItems, openAiItems, type OpenAiOwner, openAiSessions } from './from/openai-sessions.js';
export type { ForeignEvent } from './foreign-log.js';
export { foreignRecords, type ForeignSession, recordsOrBad, stateRecord } from './foreign-session.js';
export type { ForeignRedisNode } from './from/foreign-redis.js';
export { type ForeignRedis, trpcAgentRedisSessions, trpcAgentSessions } from './from/trpc-agent-sessions.js';
export type { TransferInput } from './read-lines.js';
export type { EraseUserOptions, ExportOptions, VerifyOptions } from './transfer-options.js';
export type { SkippedSession, TransferCounts, TransferFilter, TransferRecord } from './transfer-records.js';
export {
  eraseUser,
  exportSessions,
  exportUser,
  importRecords,
  importSessions,
  verifySessions,
} from './transfer-sessions.js';
export type { StorageSource } from '../sessions/storage-source.js';
export type { TransferDifference, VerifyResult } from './verify-records.js';
