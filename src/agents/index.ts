export { type OutputRule, withOutput } from './output-key.js';
export type { AiSdkMessage } from './messages/ai-sdk-messages.js';
export type { AnthropicBlock, AnthropicMessage } from './messages/anthropic-messages.js';
export type {
  ConversationCall,
  ConversationEvent,
  ConversationMessage,
  ConversationPart,
  ConversationResult,
} from './messages/conversation.js';
export type { GoogleContent, GooglePart } from './messages/google-messages.js';
export type { OpenAiMessage, OpenAiPart } from './messages/openai-messages.js';
export {
  type MessageFormat,
  type MessagesOfFormat,
  toMessages,
  type ToMessagesOptions,
} from './messages/to-messages.js';
export type { TokenEstimate } from './messages/token-budget.js';
export type { BranchOptions } from './messages/visible-events.js';
export { ApprovalAnsweredError, ApprovalNotFoundError } from './approval-errors.js';
export type { ApprovalAnswer, ApprovalRequest, PendingApproval } from './approvals.js';
export { type Agent, AgentHandler } from './agent-handler.js';
export { AgentNotFoundError, type AgentOptions, AgentRegistry } from './agent-registry.js';
export { AgentsModule, type AgentsModuleOptions } from './agents.module.js';
export { AgentContext } from './agent-context.js';
export { AgentRun, type RunEvent } from './agent-run.js';
export {
  AgentSessions,
  type AgentSessionsOptions,
  type PendingApprovalPage,
  type PendingApprovalsRequest,
  type StopRunRequest,
} from './agent-sessions.js';
export { type RunPolicy, isControlEvent } from './control-events.js';
export type { PartialSettings } from './partial-log.js';
export type { RunHandler, AnswerRequest, RunRequest, RunResult, RunStatus } from './run-request.js';
export { ApprovalPending, type Tool, ToolContext, type ToolInvocation } from './tool-context.js';
