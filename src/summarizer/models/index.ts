export { type AiSdkOptions, AiSdkSummaryModel } from './ai-sdk/ai-sdk-summary-model.js';
export type { AiSdkCallOptions, AiSdkLanguageModel, AiSdkResult } from './ai-sdk/language-model.js';
export type { PatienceOptions } from './calls/patient-call.js';
export { cappedText } from './capped-text.js';
export {
  type OpenAiCompatibleOptions,
  OpenAiCompatibleSummaryModel,
} from './chat-completions/openai-compatible-summary-model.js';
export { ExtractiveSummaryModel } from './extract/extractive-summary-model.js';
export { SummaryModelError, type SummaryModelErrorCode } from './summary-model-error.js';
export type { ConversationLine, SummaryAnswer, SummaryModel, SummaryRequest } from './summary-model.js';
