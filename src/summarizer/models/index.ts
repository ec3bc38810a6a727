export {
  type AiSdkCallOptions,
  type AiSdkLanguageModel,
  type AiSdkOptions,
  type AiSdkResult,
  AiSdkSummaryModel,
} from './ai-sdk-summary-model.js';
export type { ModelCallOptions } from './call-with-retry.js';
export { cappedText } from './capped-text.js';
export { ExtractiveSummaryModel } from './extractive-summary-model.js';
export { type OpenAiCompatibleOptions, OpenAiCompatibleSummaryModel } from './openai-compatible-summary-model.js';
export {
  type ConversationLine,
  type SummaryAnswer,
  type SummaryModel,
  SummaryModelError,
  type SummaryModelErrorCode,
  type SummaryRequest,
} from './summary-model.js';
