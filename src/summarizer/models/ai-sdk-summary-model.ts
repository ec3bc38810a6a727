import { type ModelCallOptions, callWithRetry } from './call-with-retry.js';
import { answerOf, parseRetryAfter, protocolWord, statusError, tokenCount } from './provider-response.js';
import { type SummaryAnswer, type SummaryModel, SummaryModelError, type SummaryRequest } from './summary-model.js';

/** A call to a model of the AI SDK. */
export interface AiSdkCallOptions {
  prompt: { role: 'user'; content: { type: 'text'; text: string }[] }[];
  maxOutputTokens?: number;
  temperature?: number;
  abortSignal?: AbortSignal;
}

/** A number; from version 3 on an object with the total. */
type Tokens = number | { readonly total?: number | undefined } | undefined;

/** The result of a call. The finish reason is a string; from version 3 on an object. */
export interface AiSdkResult {
  readonly content: readonly { readonly type: string }[];
  readonly finishReason: string | { readonly unified: string; readonly raw?: string | undefined };
  readonly usage: { readonly inputTokens?: Tokens; readonly outputTokens?: Tokens };
}

/**
 * A language model of the AI SDK, in the versions 2, 3 and 4 of its interface (AI SDK 5, 6 and 7). The type describes
 * only the members that are used, so that no package is needed.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: AiSdkCallOptions): PromiseLike<AiSdkResult>;
}

/** Options of `AiSdkSummaryModel`. */
export interface AiSdkOptions extends ModelCallOptions {
  /** Default: set by the provider. */
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

/**
 * Calls a language model of the AI SDK, of any provider. Neither `ai` nor a provider package is a dependency: the model
 * object is enough.
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
    if (!isSupported(languageModel)) {
      throw new SummaryModelError(
        'MISCONFIGURED',
        "AiSdkSummaryModel needs a model object with specificationVersion 'v2', 'v3' or 'v4', as AI SDK 5, 6 and 7 have it.",
      );
    }
    this.name = `${languageModel.provider}:${languageModel.modelId}`;
  }

  summarize({ prompt }: SummaryRequest, { signal }: { readonly signal: AbortSignal }): Promise<SummaryAnswer> {
    const { maxOutputTokens, temperature } = this.options;
    const callOptions: AiSdkCallOptions = {
      prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(temperature !== undefined && { temperature }),
    };
    return callWithRetry(this.options, signal, (abortSignal) => this.#call({ ...callOptions, abortSignal }));
  }

  async #call(callOptions: AiSdkCallOptions): Promise<SummaryAnswer> {
    const result = await this.#generate(callOptions);
    if (!Array.isArray(result?.content)) throw new SummaryModelError('BAD_ANSWER', 'The answer holds no content.');
    return answerOf({
      text: textOf(result),
      stoppedBy: stopReasonOf(result.finishReason),
      inputTokens: tokensOf(result.usage?.inputTokens),
      outputTokens: tokensOf(result.usage?.outputTokens),
    });
  }

  async #generate(callOptions: AiSdkCallOptions): Promise<AiSdkResult> {
    try {
      return await this.languageModel.doGenerate(callOptions);
    } catch (error) {
      throw modelErrorOf(error);
    }
  }
}

function isSupported(model: AiSdkLanguageModel): boolean {
  return ['v2', 'v3', 'v4'].includes(model?.specificationVersion) && typeof model.doGenerate === 'function';
}

function textOf({ content }: AiSdkResult): string {
  return content
    .map((part) => (part?.type === 'text' && 'text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

/** A provider without a finish reason has `unknown` in version 2, and `other` without `raw` from version 3 on. */
function stopReasonOf(reason: AiSdkResult['finishReason']): string | undefined {
  const { unified, raw } = typeof reason === 'object' && reason !== null ? reason : { unified: reason, raw: reason };
  if (unified === 'stop' || unified === 'unknown' || unified === undefined) return undefined;
  if (unified === 'other' && raw === undefined) return undefined;
  return protocolWord(unified) ?? 'an unknown reason';
}

function tokensOf(tokens: AiSdkResult['usage']['inputTokens']): number | undefined {
  return tokenCount(typeof tokens === 'object' && tokens !== null ? tokens.total : tokens);
}

/** SDK errors hold the whole request. Only their status and retry information is used. */
function modelErrorOf(error: unknown): SummaryModelError {
  const { name, statusCode, isRetryable, responseHeaders } = (error ?? {}) as {
    readonly name?: unknown;
    readonly statusCode?: unknown;
    readonly isRetryable?: unknown;
    readonly responseHeaders?: Readonly<Record<string, string>>;
  };
  if (typeof statusCode === 'number' && statusCode >= 300) {
    return statusError(statusCode, undefined, parseRetryAfter(responseHeaders?.['retry-after'], Date.now()));
  }
  const kind = protocolWord(name);
  const why = kind === undefined ? '' : ` (${kind})`;
  return new SummaryModelError('UNREACHABLE', `The provider could not be asked${why}.`, {
    retryable: isRetryable === true,
  });
}
