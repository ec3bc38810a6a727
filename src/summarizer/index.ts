export type { ModelAddress, SummarizerSettings } from '../config/summarizer-settings.js';
export * from './models/index.js';
export { type SessionSummary, textOfSummary, withSummaryAsInstruction } from './session-summary.js';
export type { CoveredEvents, SummaryOutlook, ThresholdState } from './summary-outlook.js';
export type { DueTrigger } from './summary-agenda.js';
export { SummaryFailedError, SummaryNotFoundError } from './summary-errors.js';
export type {
  AfterSummary,
  AfterSummaryHook,
  BeforeSummary,
  BeforeSummaryHook,
  DueListener,
  StoredListener,
  SummaryHooks,
} from './summary-hooks.js';
export { DEFAULT_PROMPT, DEFAULT_SEGMENT_PROMPT } from './summary-prompt.js';
export type { SummarizerDependencies, SummarizerOptions } from './summarizer-options.js';
export {
  type CreateSummaryRequest,
  type GetSummaryRequest,
  type ListSummariesRequest,
  type SummaryCounts,
  SummarizerSessionManager,
} from './summarizer-session.manager.js';
export { SUMMARIZER_OPTIONS, SummarizerModule } from './summarizer.module.js';
export { SummarizerSweep } from './summarizer.sweep.js';
export {
  type SummaryFacts,
  type Threshold,
  allOf,
  anyOf,
  contentOver,
  eventsOver,
  idleOver,
  importantOver,
  tokensOver,
  turnsOver,
} from './thresholds.js';
