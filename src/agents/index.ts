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
