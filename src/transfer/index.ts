/** Moving sessions between stores and from other systems, and the requests of users for their data. */
export { TransferConflictError, TransferFileError } from '../sessions/domain/transfer-errors.js';
export type { ErasedUser } from '../sessions/operations/erase-user.js';
export type {
  ImportCounts,
  ImportedSessions,
  ImportOptions,
  ImportProgress,
  ImportResult,
  TransferConflict,
} from './import-result.js';
export { adkSessions } from './from/adk-sessions.js';
export type { ForeignDatabase } from './from/foreign-database.js';
export { type LangGraphDecoder, type LangGraphOptions, langGraphThreads } from './from/langgraph-threads.js';
export { type OpenAiItems, openAiItems, type OpenAiOwner, openAiSessions } from './from/openai-sessions.js';
export { type TrpcAgentGoOptions, trpcAgentGoSessions } from './from/trpc-agent-go-sessions.js';
export {
  type ForeignRedis,
  type ForeignRedisNode,
  trpcAgentRedisSessions,
  trpcAgentSessions,
} from './from/trpc-agent-sessions.js';
export type { TransferInput } from './read-lines.js';
export type { TransferCounts, TransferFilter, TransferRecord } from './transfer-records.js';
export {
  eraseUser,
  type ExportOptions,
  exportSessions,
  exportUser,
  importRecords,
  importSessions,
  verifySessions,
} from './transfer-sessions.js';
export type { TransferDifference, VerifyResult } from './verify-records.js';
