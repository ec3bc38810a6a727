import type { ModelAddress, SummarizerSettings } from '../config/summarizer.js';
import { type Clock, systemClock } from '../sessions/domain/clock.js';
import { InvalidInputError } from '../sessions/domain/errors.js';
import type { SessionService } from '../sessions/session.service.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { OpenAiCompatibleSummaryModel } from './models/chat-completions/openai-compatible-summary-model.js';
import { ExtractiveSummaryModel } from './models/extract/extractive-summary-model.js';
import type { SummaryModel } from './models/summary-model.js';
import { checkedSummarizerSettings } from './summarizer-settings.js';
import {
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

/** When conversations are summarised, by which model. */
export interface SummarizerOptions extends Partial<SummarizerSettings> {
  /** Writes the summaries; one that picks sentences, without any network, unless given. */
  readonly model?: SummaryModel | undefined;
  /** The same, for a model behind any endpoint that speaks OpenAI's `chat/completions`. */
  readonly modelAt?: ModelAddress | undefined;
  /** When it is time for a summary, in place of the thresholds among the settings. */
  readonly when?: Threshold | undefined;
  /** Conditions of your own, next to those of the settings. */
  readonly checkers?: readonly Threshold[] | undefined;
  /** Where the time of retries comes from; this machine unless given. */
  readonly clock?: Clock | undefined;
}

/** Whose conversations are summarised. */
export interface SummarizerDependencies {
  readonly sessions: SessionService;
  readonly storage: SessionStorage;
}

/** Options with everything filled in. */
export interface CheckedSummarizerOptions extends SummarizerSettings {
  readonly threshold: Threshold;
  /** Whether a summary may become due at all. */
  readonly hasThreshold: boolean;
  readonly clock: Clock;
  readonly model: SummaryModel;
}

export function checkedOptions(options: SummarizerOptions = {}): CheckedSummarizerOptions {
  const { model, modelAt, when, checkers, clock = systemClock, ...given } = options;
  const settings = checkedSummarizerSettings(given);
  const thresholds = when ? [thresholdInPlace(when, checkers)] : thresholdsOf(settings, checkers);
  return {
    ...settings,
    clock,
    threshold: settings.match === 'all' ? allOf(...thresholds) : anyOf(...thresholds),
    hasThreshold: thresholds.length > 0,
    model: model ? checkedModel(model) : modelBehind(modelAt, settings),
  };
}

/** A model of some library is taken for one of ours easily. */
function checkedModel(model: SummaryModel): SummaryModel {
  if (typeof model.name === 'string' && typeof model.summarize === 'function') return model;
  const problem = 'must have a name and summarize(); put a model of the AI SDK into new AiSdkSummaryModel(…)';
  throw new InvalidInputError(problem, 'summarizer.model');
}

/** It has the time that a model has, retries and all. */
function modelBehind(address: ModelAddress | undefined, { timeoutSeconds }: SummarizerSettings): SummaryModel {
  if (!address) return new ExtractiveSummaryModel();
  const timeoutMs = timeoutSeconds * 1000;
  return new OpenAiCompatibleSummaryModel({ ...address, timeoutMs, totalTimeoutMs: timeoutMs });
}

function thresholdInPlace(when: Threshold, checkers: readonly Threshold[] = []): Threshold {
  assertThreshold(when, 'summarizer.when');
  if (checkers.length === 0) return when;
  throw new InvalidInputError('are not asked where there is a when; make them part of it', 'summarizer.checkers');
}

function assertThreshold(threshold: unknown, path: string): void {
  if (typeof threshold !== 'function') throw new InvalidInputError('must be a function', path);
}

/** Of the settings, those that are not 0. */
function thresholdsOf(settings: SummarizerSettings, checkers: readonly Threshold[] = []): Threshold[] {
  for (const [index, checker] of checkers.entries()) assertThreshold(checker, `summarizer.checkers[${index}]`);
  const { turns, events, contentLength, tokens, idleSeconds, importantLength } = settings;
  return [
    ...(turns > 0 ? [turnsOver(turns)] : []),
    ...(events > 0 ? [eventsOver(events)] : []),
    ...(contentLength > 0 ? [contentOver(contentLength)] : []),
    ...(tokens > 0 ? [tokensOver(tokens)] : []),
    ...(idleSeconds > 0 ? [idleOver(idleSeconds)] : []),
    ...(importantLength > 0 ? [importantOver(importantLength)] : []),
    ...checkers,
  ];
}
