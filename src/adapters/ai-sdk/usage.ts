import type { LanguageModelUsage } from 'ai';
import { defined } from '../../adapter.js';
import type { UsageMetadata } from '../../index.js';

/** The tokens of a step, and the model that answered. */
export interface StepUsage {
  readonly usage: LanguageModelUsage;
  readonly modelId: string | undefined;
}

/** The tokens by the names of the log. */
export function usageMetadataOf(usage: LanguageModelUsage): UsageMetadata {
  const { inputTokens, inputTokenDetails, outputTokens, outputTokenDetails, totalTokens } = usage;
  const thoughts = outputTokenDetails.reasoningTokens;
  return defined({
    promptTokenCount: inputTokens,
    cachedContentTokenCount: inputTokenDetails.cacheReadTokens,
    candidatesTokenCount: outputTokens === undefined ? undefined : Math.max(outputTokens - (thoughts ?? 0), 0),
    thoughtsTokenCount: thoughts,
    totalTokenCount: totalTokens,
  });
}
