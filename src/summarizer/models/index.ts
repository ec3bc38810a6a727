export { type AiSdkLanguageModel, type AiSdkOptions, AiSdkSummaryModel } from './ai-sdk-summary-model.js';
export { cappedText } from './capped-text.js';
export { ExtractiveSummaryModel } from './extractive-summary-model.js';
export {
  type ConversationLine,
  type LastRequest,
  type SummaryAnswer,
  type SummaryModel,
  SummaryModelError,
  type SummaryModelErrorCode,
  type SummaryRequest,
} from './summary-model.js';
