export {
  AgentsSession,
  type AgentsSessionOptions,
  type CompactHistory,
  type CompactedHistory,
} from './agents-session.js';
export { OperationConflictError, StaleHistoryError } from './session-errors.js';
export { type Branch, BranchedAgentsSession } from './branched-session.js';
export type { ConversationTurn, RunTokens, ToolUsage } from './conversation-turns.js';
