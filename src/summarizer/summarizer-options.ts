import { ConfigurationError } from '../config/configuration-error.js';
import { problemsOfGroup } from '../config/option-checks.js';
import {
  DEFAULT_SUMMARIZER,
  MODEL_ADDRESS,
  type ModelAddress,
  SUMMARIZER,
  type SummarizerSettings,
} from '../config/summarizer-settings.js';
import { withDefaults } from '../config/with-defaults.js';
import { checkedClock } from '../sessions/domain/process/checked-clock.js';
import type { Clock } from '../sessions/domain/process/clock.js';
import { type OptionKinds, checkOptions } from '../sessions/domain/values/given-options.js';
import type { SessionService } from '../sessions/session.service.js';
import { ExtractiveSummaryModel } from './models/extractive-summary-model.js';
import { modelAtAddress } from './models/model-at-address.js';
import type { SummaryModel } from './models/summary-model.js';
import { MEASURES } from './summary-outlook.js';
import { NEVER, THRESHOLDS, type Threshold, allOf, anyOf } from './thresholds.js';

/** When conversations are summarised, and by which model. */
export interface SummarizerOptions extends Partial<SummarizerSettings> {
  /** Writes the summaries. Default: `ExtractiveSummaryModel`, which needs no network. */
  readonly model?: SummaryModel | undefined;
  /** Alternatively, the address of a server with the `chat/completions` API of OpenAI. */
  readonly modelAt?: ModelAddress | undefined;
  /** Replaces the thresholds among the settings, except `branchEvents`. */
  readonly when?: Threshold | undefined;
  /** Custom conditions, in addition to the thresholds among the settings. */
  readonly checkers?: readonly Threshold[] | undefined;
  /** The clock for retries. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

type CodeOptions = Omit<SummarizerOptions, keyof SummarizerSettings>;

/** The rest are settings, which variables give as well. */
const CODE_OPTIONS: OptionKinds<CodeOptions> = {
  model: 'object?',
  modelAt: 'object?',
  when: 'anything?',
  checkers: 'list?',
  clock: 'clock?',
};

/** Dependencies of the summarizer. */
export interface SummarizerDependencies {
  readonly sessions: SessionService;
}

/** Options with defaults. */
export interface CheckedSummarizerOptions extends SummarizerSettings {
  readonly threshold: Threshold;
  /** Whether a summary can become due at all. */
  readonly hasThreshold: boolean;
  readonly clock: Clock;
  readonly model: SummaryModel;
}

export function checkedOptions(options: SummarizerOptions = {}): CheckedSummarizerOptions {
  const { model, modelAt, when, checkers, clock, ...given } = options;
  checkOptions<CodeOptions>('summarizer', { model, modelAt, when, checkers, clock }, CODE_OPTIONS);
  if (model && modelAt) refuse(['summarizer.modelAt has no effect with summarizer.model; remove one of the two.']);
  const settings = checkedSummarizerSettings(given);
  const thresholds = when ? [thresholdInPlace(when, checkers)] : thresholdsOf(settings, checkers);
  return {
    ...settings,
    clock: checkedClock(clock),
    threshold: combined(thresholds, settings.match),
    hasThreshold: thresholds.length > 0 || settings.branchEvents > 0,
    model: model ? checkedModel(model) : modelOf(modelAt),
  };
}

function combined(thresholds: readonly Threshold[], match: SummarizerSettings['match']): Threshold {
  if (thresholds.length === 0) return NEVER;
  return match === 'all' ? allOf(...thresholds) : anyOf(...thresholds);
}

/** A model object of a library is easily passed by mistake. */
function checkedModel(model: SummaryModel): SummaryModel {
  if (typeof model.name === 'string' && typeof model.summarize === 'function') return model;
  throw new ConfigurationError([
    'summarizer.model must have a name and summarize(); put a model of the AI SDK into new AiSdkSummaryModel(…).',
  ]);
}

function modelOf(address: ModelAddress | undefined): SummaryModel {
  if (!address) return new ExtractiveSummaryModel();
  // Without these two there is nothing to ask.
  const { baseUrl = null, model = null } = address as Partial<ModelAddress>;
  refuse(problemsOfGroup('summarizer.modelAt', MODEL_ADDRESS, { ...address, baseUrl, model }));
  return modelAtAddress(address);
}

function thresholdInPlace(when: Threshold, checkers: readonly Threshold[] = []): Threshold {
  assertThreshold(when, 'summarizer.when');
  if (checkers.length === 0) return when;
  throw new ConfigurationError(['summarizer.checkers must not be set together with when; make them part of it.']);
}

function assertThreshold(threshold: unknown, path: string): void {
  if (typeof threshold !== 'function') throw new ConfigurationError([`${path} must be a function.`]);
}

/** The thresholds that are not 0. */
function thresholdsOf(settings: SummarizerSettings, checkers: readonly Threshold[] = []): Threshold[] {
  for (const [index, checker] of checkers.entries()) assertThreshold(checker, `summarizer.checkers[${index}]`);
  const kinds = MEASURES.filter((kind) => settings[kind] > 0);
  return [...kinds.map((kind) => THRESHOLDS[kind](settings[kind])), ...checkers];
}

function checkedSummarizerSettings(given: Partial<SummarizerSettings>): SummarizerSettings {
  refuse(problemsOfGroup('summarizer', SUMMARIZER, given));
  const settings = withDefaults<SummarizerSettings>(given, DEFAULT_SUMMARIZER);
  if (settings.leaveToOthers && !settings.autoSummarize) {
    refuse(['summarizer.leaveToOthers needs autoSummarize, or nothing becomes due.']);
  }
  const problem = segmentPromptProblem(settings.segments, given);
  if (problem !== undefined) refuse([`summarizer.segmentPrompt ${problem}.`]);
  return settings;
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function segmentPromptProblem(segments: number, given: Partial<SummarizerSettings>): string | undefined {
  const { prompt, segmentPrompt } = given;
  if (segments === 1) return segmentPrompt === undefined ? undefined : 'needs segments of more than 1';
  return prompt === undefined || segmentPrompt !== undefined ? undefined : 'must be set beside prompt, for segments';
}
