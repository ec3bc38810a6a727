export { type OutputRule, withOutput } from './invocation/output-key.js';
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
export type { BranchOptions } from '../sessions/domain/view/branch-view.js';
export {
  ApprovalAnsweredError,
  ApprovalChangedError,
  ApprovalExpiredError,
  ApprovalNotFoundError,
  ApprovalWithdrawnError,
} from './errors/approval-errors.js';
export type {
  ApprovalAnswer,
  ApprovalRequest,
  ApprovalResult,
  AskedCall,
  PendingApproval,
} from './invocation/approval-requests.js';
export { AgentFailedError, type AgentFailedOptions, type FailedRun } from './errors/agent-failed-error.js';
export type { Failure, FailureReason } from './errors/failure-reason.js';
export { type Agent, AgentHandler } from './agent-handler.js';
export { AgentNotFoundError, AgentRegistry } from './agent-registry.js';
export type { AgentOptions } from './handler-options.js';
export { AgentsModule, type AgentsModuleOptions } from './agents.module.js';
export { AgentContext } from './invocation/agent-context.js';
export { AgentRequest, type AgentRequestOptions } from './invocation/agent-request.js';
export { agentLoop, type AgentLoop, type AgentLoopOptions, type ModelAnswer } from './invocation/agent-loop.js';
export { AgentRun } from './ask/agent-run.js';
export type { NamedCall } from '../sessions/domain/event/open-calls.js';
export type { RunEvent } from './turn/run-events.js';
export { AgentsClosingError } from './errors/closing-error.js';
export type { AgentSessionsOptions, CloseAgentsOptions } from './agent-options.js';
export { AgentSessions } from './agent-sessions.js';
export { isControlEvent } from './turn/control-events.js';
export { type RunPolicy } from './turn/run-policy.js';
export type { ExpireApprovalsRequest } from './ask/expired-approvals.js';
export type { PendingApprovalPage, PendingApprovalsRequest } from './invocation/list-pending-approvals.js';
export type { PartialSettings } from './turn/partial-log.js';
export { type RunLimit, RunLimitError } from './errors/run-limit-error.js';
export type { RunLimits } from './ask/run-limits.js';
export type { AnswerRequest, RunRequest, RunResult, StopRunRequest } from './ask/run-request.js';
export type { RunHandler } from './invocation/agent-context.js';
export type { RunStatus } from './invocation/run-status.js';
export {
  ApprovalPending,
  ToolContext,
  type ToolInvocation,
  type ToolOutcome,
  type ToolStart,
} from './invocation/tool-context.js';
export { ToolError, ToolTimeoutError } from './invocation/tool-errors.js';
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
} from './invocation/tool.js';
// For adapters, which show runs in the words of another protocol.
export { runningInvocation } from './turn/agent-environment.js';
export { invocationOfApproval } from './invocation/approval-ids.js';
export { isApprovalEvent } from './invocation/approval-requests.js';
export { invocationOfMessage, isDiscard } from './turn/control-events.js';
export { type Followed, type FollowedEnd, followInvocation } from './ask/follow.js';
export { hasEnded } from './invocation/invocation-end.js';
export { approvalsIn } from './invocation/list-pending-approvals.js';
export { beginInOrder } from './ask/run-reading.js';
export { sessionsOfAgents } from './sessions-of-agents.js';
export { waitingCalls } from '../sessions/domain/view/tool-pairs.js';
