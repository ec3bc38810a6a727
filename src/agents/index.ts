export { type OutputRule, withOutput } from './output-key.js';
export type { AiSdkMessage } from './messages/ai-sdk-messages.js';
export type { AnthropicBlock, AnthropicMessage, AnthropicResultBlock } from './messages/anthropic-messages.js';
export type {
  ConversationCall,
  ConversationEvent,
  ConversationMessage,
  ConversationPart,
  ConversationResult,
  ConversationResultPart,
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
export {
  ApprovalAnsweredError,
  ApprovalChangedError,
  ApprovalExpiredError,
  ApprovalNotFoundError,
  ApprovalWithdrawnError,
} from './approval-errors.js';
export type { ApprovalAnswer, ApprovalRequest, ApprovalResult, AskedCall, PendingApproval } from './approvals.js';
export { AgentFailedError, type AgentFailedOptions, type FailedRun } from './agent-failed-error.js';
export type { Failure, FailureReason } from './failure-reason.js';
export { type Agent, AgentHandler } from './agent-handler.js';
export { AgentNotFoundError, type AgentOptions, AgentRegistry } from './agent-registry.js';
export { AgentsModule, type AgentsModuleOptions } from './agents.module.js';
export { AgentContext } from './agent-context.js';
export { agentLoop, type AgentLoop, type AgentLoopOptions, type ModelAnswer } from './agent-loop.js';
export { AgentRun, type RunEvent } from './agent-run.js';
export { AgentsClosingError } from './closing-error.js';
export type { AgentSessionsOptions } from './agent-options.js';
export { AgentSessions, type CloseAgentsOptions, type StopRunRequest } from './agent-sessions.js';
export { type RunPolicy, isControlEvent } from './control-events.js';
export type { ExpireApprovalsRequest } from './expired-approvals.js';
export type { PendingApprovalPage, PendingApprovalsRequest } from './pending-approvals.js';
export type { PartialSettings } from './partial-log.js';
export { type RunLimit, RunLimitError } from './run-limit-error.js';
export type { RunLimits } from './run-limits.js';
export type { RunHandler, AnswerRequest, RunRequest, RunResult, RunStatus } from './run-request.js';
export { ApprovalPending, ToolContext, type ToolInvocation, type ToolOutcome, type ToolStart } from './tool-context.js';
export { ToolError, ToolTimeoutError } from './tool-errors.js';
export {
  defineTool,
  describeTools,
  type Tool,
  type ToolArgs,
  type ToolDefinition,
  type ToolDescription,
  type ToolOptions,
  type ToolRetries,
  type Tools,
} from './tool.js';
// For adapters, which show runs in the words of another protocol.
export { runningInvocation } from './agent-environment.js';
export { invocationOfApproval } from './approval-ids.js';
export { isApprovalEvent } from './approvals.js';
export { invocationOfMessage, isDiscard } from './control-events.js';
export { type Followed, type FollowedEnd, followInvocation } from './follow.js';
export { hasEnded } from './invocation-tail.js';
export { approvalsIn } from './pending-approvals.js';
export { beginInOrder } from './run-reading.js';
export { sessionsOfAgents } from './sessions-of-agents.js';
export { waitingCalls } from '../sessions/domain/tool-pairs.js';
