import type { RunContext, Usage } from '@openai/agents-core';
import { digestOf } from '../../adapter.js';
import type { UsageMetadata } from '../../index.js';
import type { UsageRecord } from './item-records.js';

/** The tokens of a request to a model. */
export interface RequestTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
}

/** Tokens that are not counted yet. */
export interface NewUsage {
  readonly record: UsageRecord;
  readonly metadata: UsageMetadata;
  /** By request. */
  readonly each: readonly UsageMetadata[];
}

/** Finds the last records of usage in the log, newest first. */
type FindRecords = () => Promise<readonly UsageRecord[]>;

/** Knows which requests of runs are counted. The SDK says only what a run has used so far. */
export class RunUsages {
  /** The number of requests. */
  readonly #counted = new WeakMap<RunContext, number>();

  /** Notes a run that begins to read the history: what it used before is no matter of this session. */
  begin(context: RunContext): void {
    if (!this.#counted.has(context)) this.#counted.set(context, requestsOf(context.usage).length);
  }

  /** What the run used since the last time. A run that another process began is known by its first requests. */
  async uncounted(context: RunContext, find: FindRecords): Promise<NewUsage | undefined> {
    const requests = requestsOf(context.usage);
    const counted = this.#counted.get(context) ?? (requests.length > 0 ? countedBefore(requests, await find()) : 0);
    if (requests.length <= counted) return undefined;
    return newUsage(requests, counted);
  }

  /** Notes that all requests up to this one are counted. */
  note(context: RunContext, { record }: NewUsage): void {
    this.#counted.set(context, record.counted);
  }
}

function countedBefore(requests: readonly RequestTokens[], records: readonly UsageRecord[]): number {
  const found = records.find(
    ({ counted, run }) => counted <= requests.length && run === digestOf(requests.slice(0, counted)),
  );
  return found?.counted ?? 0;
}

function newUsage(requests: readonly RequestTokens[], counted: number): NewUsage {
  const fresh = requests.slice(counted);
  const sum = (name: keyof RequestTokens): number => fresh.reduce((all, each) => all + each[name], 0);
  const tokens = {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    totalTokens: sum('totalTokens'),
  };
  return {
    record: { requests: fresh.length, ...tokens, counted: requests.length, run: digestOf(requests) },
    metadata: toUsageMetadata({
      ...tokens,
      cachedTokens: sum('cachedTokens'),
      reasoningTokens: sum('reasoningTokens'),
    }),
    each: fresh.map(toUsageMetadata),
  };
}

/** The tokens by the names of the log. */
function toUsageMetadata({
  inputTokens,
  outputTokens,
  totalTokens,
  cachedTokens,
  reasoningTokens,
}: RequestTokens): UsageMetadata {
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - reasoningTokens),
    totalTokenCount: totalTokens,
    ...(cachedTokens > 0 && { cachedContentTokenCount: cachedTokens }),
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
  };
}

/** One entry for each request. What the SDK reports without entries counts as one. */
function requestsOf(usage: Usage): RequestTokens[] {
  const entries = usage.requestUsageEntries ?? [];
  if (entries.length === 0) return usage.requests > 0 ? [toRequestTokens(usage)] : [];
  return entries.map(toRequestTokens);
}

type Details = Record<string, number> | readonly Record<string, number>[] | undefined;

function toRequestTokens(usage: {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly inputTokensDetails?: Details;
  readonly outputTokensDetails?: Details;
}): RequestTokens {
  const { inputTokens, outputTokens, totalTokens, inputTokensDetails, outputTokensDetails } = usage;
  return {
    inputTokens,
    outputTokens,
    totalTokens,
    cachedTokens: detailOf(inputTokensDetails, 'cached_tokens'),
    reasoningTokens: detailOf(outputTokensDetails, 'reasoning_tokens'),
  };
}

function detailOf(details: Details, name: string): number {
  const all = details === undefined ? [] : [details].flat();
  return all.reduce((sum, each) => sum + (each[name] ?? 0), 0);
}
