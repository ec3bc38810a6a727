import type { EventInput, UsageMetadata } from '../event/event.js';
import { nameProblem } from '../values/ids.js';
import { isCount } from '../values/input-checks.js';

/** Tokens that models reported in `usageMetadata`. */
export interface TokenUsage {
  /** Events with `usageMetadata`. */
  readonly events: number;
  /** `promptTokenCount`: tokens of prompts, cached ones included. */
  readonly promptTokens: number;
  /** `cachedContentTokenCount`: tokens of prompts that came from a cache. */
  readonly cachedTokens: number;
  /** `candidatesTokenCount`: tokens of answers, without thinking. */
  readonly outputTokens: number;
  /** `thoughtsTokenCount`: tokens of thinking. */
  readonly thinkingTokens: number;
  /** `toolUsePromptTokenCount`: tokens of tool results that a provider ran and put into prompts. */
  readonly toolUseTokens: number;
  /** `totalTokenCount`; without it prompts, tool use, answers and thinking together. */
  readonly totalTokens: number;
}

/** The usage of one model. */
export interface ModelUsage extends TokenUsage {
  /** The `modelVersion` of the events; `unknown` for events without it. */
  readonly model: string;
}

export const NO_USAGE: TokenUsage = {
  events: 0,
  promptTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  thinkingTokens: 0,
  toolUseTokens: 0,
  totalTokens: 0,
};

/** All counts. Stores keep one number for each, in this order. */
export const USAGE_COUNTS = Object.keys(NO_USAGE) as readonly (keyof TokenUsage)[];

/** The usage with these values. */
export function usageWith(valueOf: (name: keyof TokenUsage) => number): TokenUsage {
  const usage: Record<keyof TokenUsage, number> = { ...NO_USAGE };
  for (const name of USAGE_COUNTS) usage[name] = valueOf(name);
  return usage;
}

// Field by field, since almost every answer of a model adds to its session.
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    events: a.events + b.events,
    promptTokens: a.promptTokens + b.promptTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    thinkingTokens: a.thinkingTokens + b.thinkingTokens,
    toolUseTokens: a.toolUseTokens + b.toolUseTokens,
    totalTokens: a.totalTokens + b.totalTokens,
  };
}

/** The model of events that name none. */
export const UNKNOWN_MODEL = 'unknown';

/** Larger reports are ignored: no model reports them, and sums of them would exceed the integers of some stores. */
const MOST_TOKENS = 1e9;

/** What one event adds, or `undefined`. Summaries add what their model used. */
export function usageOfEvent({ usageMetadata, modelVersion }: EventInput): ModelUsage | undefined {
  if (usageMetadata === undefined || usageMetadata === null) return undefined;
  const promptTokens = countIn(usageMetadata, 'promptTokenCount') ?? 0;
  const outputTokens =
    countIn(usageMetadata, 'candidatesTokenCount') ?? countIn(usageMetadata, 'responseTokenCount') ?? 0;
  const thinkingTokens = countIn(usageMetadata, 'thoughtsTokenCount') ?? 0;
  const toolUseTokens = countIn(usageMetadata, 'toolUsePromptTokenCount') ?? 0;
  return {
    model: isName(modelVersion) ? modelVersion : UNKNOWN_MODEL,
    events: 1,
    promptTokens,
    cachedTokens: countIn(usageMetadata, 'cachedContentTokenCount') ?? 0,
    outputTokens,
    thinkingTokens,
    toolUseTokens,
    totalTokens:
      (countIn(usageMetadata, 'totalTokenCount') ?? 0) || promptTokens + outputTokens + thinkingTokens + toolUseTokens,
  };
}

function countIn(usageMetadata: UsageMetadata, name: keyof UsageMetadata): number | undefined {
  const value: unknown = usageMetadata[name];
  return isTokenCount(value) ? value : undefined;
}

function isTokenCount(value: unknown): value is number {
  return isCount(value) && value <= MOST_TOKENS;
}

function isName(value: unknown): value is string {
  return nameProblem(value) === undefined;
}

/**
 * One entry for each model, sorted by its name.
 *
 * @example return usageByModel([...ofShard(1), ...ofShard(2)]);
 */
export function usageByModel(usage: Iterable<ModelUsage>): ModelUsage[] {
  const sums = new Map<string, TokenUsage>();
  for (const { model, ...counts } of usage) {
    const sum = sums.get(model);
    sums.set(model, sum ? addUsage(sum, counts) : counts);
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([model, counts]) => ({ model, ...counts }));
}

/** A session counts so many models by their names, since each write of its record writes its sums. */
export const MOST_MODELS_OF_SESSION = 50;

/**
 * The sums of a session after more usage. Models beyond the first {@link MOST_MODELS_OF_SESSION} count as {@link UNKNOWN_MODEL}.
 *
 * @example const usage = sessionUsageAfter(record.usage, commit.usage.models);
 */
export function sessionUsageAfter(
  before: readonly ModelUsage[],
  added: readonly ModelUsage[] = [],
): readonly ModelUsage[] {
  const [first] = added;
  if (!first) return before;
  const place = added.length === 1 ? before.findIndex(({ model }) => model === first.model) : -1;
  const sum = before[place];
  if (sum) return before.with(place, { model: sum.model, ...addUsage(sum, first) });
  const known = new Set(before.map(({ model }) => model));
  const named = added.map((usage) => {
    if (!known.has(usage.model) && known.size >= MOST_MODELS_OF_SESSION) return { ...usage, model: UNKNOWN_MODEL };
    known.add(usage.model);
    return usage;
  });
  return usageByModel([...before, ...named]);
}

/** Tokens of several events. */
export interface UsageOfEvents {
  /** One entry for each model, sorted by its name. */
  readonly models: readonly ModelUsage[];
  /** All models together. */
  readonly total: TokenUsage;
}

/**
 * Adds up the tokens of events: of a turn, or of a page. Partial events are left out.
 *
 * @example
 * const { events } = await run.result;
 * usageOf(events).total.totalTokens; // what the turn cost
 */
export function usageOf(events: Iterable<EventInput>): UsageOfEvents {
  const found = [...events].filter(({ partial }) => partial !== true).flatMap((event) => usageOfEvent(event) ?? []);
  const models = usageByModel(found);
  return { models, total: models.reduce<TokenUsage>(addUsage, NO_USAGE) };
}
