import { answerOf, protocolWord, tokenCount } from '../calls/model-answer.js';
import { type PatienceOptions, patientCall } from '../calls/patient-call.js';
import { retryAfterMs } from '../calls/retry-after.js';
import { statusError } from '../calls/status-error.js';
import type { SummaryAnswer, SummaryModel, SummaryRequest } from '../summary-model.js';
import { SummaryModelError } from '../summary-model-error.js';
import type { AiSdkCallOptions, AiSdkLanguageModel, AiSdkResult } from './language-model.js';

/** How a model of the AI SDK is asked. */
export interface AiSdkOptions extends PatienceOptions {
  /** What the provider thinks right unless given. */
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

/**
 * Asks a language model of the AI SDK, from whatever provider. Neither `ai` nor a provider is a dependency: the model
 * object is all that is needed.
 *
 * @example
 * import { anthropic } from '@ai-sdk/anthropic';
 * const model = new AiSdkSummaryModel(anthropic('claude-haiku-4-5'), { maxOutputTokens: 1_000 });
 */
export class AiSdkSummaryModel implements SummaryModel {
  readonly name: string;

  constructor(
    private readonly languageModel: AiSdkLanguageModel,
    private readonly options: AiSdkOptions = {},
  ) {
    if (!isKnown(languageModel)) {
      throw new SummaryModelError(
        'MISCONFIGURED',
        "AiSdkSummaryModel needs a model object with specificationVersion 'v2', 'v3' or 'v4', as AI SDK 5, 6 and 7 have it.",
      );
    }
    this.name = `${languageModel.provider}:${languageModel.modelId}`;
  }

  summarize({ prompt }: SummaryRequest, { signal }: { readonly signal: AbortSignal }): Promise<SummaryAnswer> {
    const { maxOutputTokens, temperature } = this.options;
    const question: AiSdkCallOptions = {
      prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(temperature !== undefined && { temperature }),
    };
    return patientCall(this.options, signal, (abortSignal) => this.#ask({ ...question, abortSignal }));
  }

  async #ask(question: AiSdkCallOptions): Promise<SummaryAnswer> {
    const result = await this.#generate(question);
    if (!Array.isArray(result?.content)) throw new SummaryModelError('BAD_ANSWER', 'The answer holds no content.');
    return answerOf({
      text: textOf(result),
      stoppedBy: stopOf(result.finishReason),
      inputTokens: tokensOf(result.usage?.inputTokens),
      outputTokens: tokensOf(result.usage?.outputTokens),
    });
  }

  async #generate(question: AiSdkCallOptions): Promise<AiSdkResult> {
    try {
      return await this.languageModel.doGenerate(question);
    } catch (error) {
      throw failureOf(error);
    }
  }
}

function isKnown(model: AiSdkLanguageModel): boolean {
  return ['v2', 'v3', 'v4'].includes(model?.specificationVersion) && typeof model.doGenerate === 'function';
}

function textOf({ content }: AiSdkResult): string {
  return content
    .map((part) => (part?.type === 'text' && 'text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

/** Providers that give no reason have `unknown` in version 2, and `other` with nothing raw later. */
function stopOf(reason: AiSdkResult['finishReason']): string | undefined {
  const { unified, raw } = typeof reason === 'object' && reason !== null ? reason : { unified: reason, raw: reason };
  if (unified === 'stop' || unified === 'unknown' || unified === undefined) return undefined;
  if (unified === 'other' && raw === undefined) return undefined;
  return protocolWord(unified) ?? 'an unknown reason';
}

function tokensOf(tokens: AiSdkResult['usage']['inputTokens']): number | undefined {
  return tokenCount(typeof tokens === 'object' && tokens !== null ? tokens.total : tokens);
}

/** Errors of the SDK hold the whole request: only their status and what they say about retries is taken. */
function failureOf(error: unknown): SummaryModelError {
  const { name, statusCode, isRetryable, responseHeaders } = (error ?? {}) as {
    readonly name?: unknown;
    readonly statusCode?: unknown;
    readonly isRetryable?: unknown;
    readonly responseHeaders?: Readonly<Record<string, string>>;
  };
  if (typeof statusCode === 'number' && statusCode >= 300) {
    return statusError(statusCode, undefined, retryAfterMs(responseHeaders?.['retry-after'], Date.now()));
  }
  const kind = protocolWord(name);
  const why = kind === undefined ? '' : ` (${kind})`;
  return new SummaryModelError('UNREACHABLE', `The provider could not be asked${why}.`, {
    retryable: isRetryable === true,
  });
}
