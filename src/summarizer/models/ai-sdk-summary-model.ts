import { loadPackage } from '../../config/load-package.js';
import { checkOptions } from '../../sessions/domain/values/given-options.js';
import { type SummaryAnswer, type SummaryModel, SummaryModelError, type SummaryRequest } from './summary-model.js';

/**
 * A language model of the AI SDK, in the versions 2, 3 and 4 of its interface. The type describes only what every version
 * has, so that no package is needed to compile.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
}

/** Options of `AiSdkSummaryModel`. */
export interface AiSdkOptions {
  /** Default: set by the provider. */
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** How often `ai` retries after a temporary failure. Default: 2. */
  readonly maxRetries?: number | undefined;
}

/**
 * Calls a language model of any provider of the AI SDK, by `generateText` of `ai`, which is loaded at the first call.
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
        "AiSdkSummaryModel needs a model object with specificationVersion 'v2', 'v3' or 'v4', as providers of the AI SDK have it.",
      );
    }
    checkOptions('AiSdkSummaryModel', options, {
      maxOutputTokens: 'count?',
      temperature: 'number?',
      maxRetries: 'count?',
    });
    this.name = `${languageModel.provider}:${languageModel.modelId}`;
  }

  async summarize({ prompt }: SummaryRequest, { signal }: { readonly signal: AbortSignal }): Promise<SummaryAnswer> {
    const sdk = await loadAiSdk();
    const model = this.languageModel as Parameters<typeof sdk.generateText>[0]['model'];
    try {
      const { text, finishReason, rawFinishReason, usage } = await sdk.generateText({
        ...this.options,
        model,
        prompt,
        abortSignal: signal,
      });
      const answer = text.replace(REASONING, '').trim();
      const unfinished =
        stopReasonOf(finishReason, rawFinishReason) ?? (answer === '' ? 'the answer is empty' : undefined);
      return { text: answer, unfinished, inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
    } catch (error) {
      signal.throwIfAborted();
      throw modelErrorOf(sdk.RetryError.isInstance(error) ? error.lastError : error);
    }
  }
}

/** Loads `ai`, or says how to install it. */
export const loadAiSdk = () => loadPackage(() => import('ai'), 'A model of summaries');

/** Reasoning at the beginning of an answer. Some servers leave out the opening tag. */
const REASONING = /^\s*<think>[\s\S]*?(?:<\/think>|$)|^(?:(?!<think>)[\s\S])*?<\/think>/;

/** What servers call the end of an answer, beside `stop`. Some name no reason. */
const FINISHED = new Set<unknown>(['eos', 'end_turn', 'stop_sequence', undefined]);

function stopReasonOf(reason: string, raw: string | undefined): string | undefined {
  return reason === 'stop' || (reason === 'other' && FINISHED.has(raw)) ? undefined : reason;
}

function isSupported(model: AiSdkLanguageModel): boolean {
  return ['v2', 'v3', 'v4'].includes(model?.specificationVersion) && typeof model.doGenerate === 'function';
}

/** Errors of the SDK hold the address, the request and the answer. Only a status and the name of the failure are used. */
function modelErrorOf(error: unknown): SummaryModelError {
  const { name, statusCode } = (error ?? {}) as { readonly name?: unknown; readonly statusCode?: unknown };
  if (typeof statusCode === 'number' && statusCode >= 300) return statusError(statusCode);
  if (statusCode !== undefined || name === 'AI_InvalidResponseDataError') {
    return new SummaryModelError('BAD_ANSWER', 'The answer is no answer of a model, was cut off, or is too large.');
  }
  return new SummaryModelError('UNREACHABLE', `The provider was not reached (${systemCodeOf(error) ?? String(name)}).`);
}

/** The code of the system stands in a cause, such as ECONNREFUSED. Messages may contain the address. */
function systemCodeOf(error: unknown): string | undefined {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string' && /^[A-Z_]+$/.test(code)) return code;
  return cause === undefined ? undefined : systemCodeOf(cause);
}

function statusError(status: number): SummaryModelError {
  const message = `The provider answered with status ${status}.${adviceFor(status)}`;
  if (status === 429) return new SummaryModelError('RATE_LIMITED', message, status);
  const isTemporary = status >= 500 || status === 408 || status === 409;
  return new SummaryModelError(isTemporary ? 'PROVIDER_FAILED' : 'REJECTED', message, status);
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return ' Check the key and what it may do.';
  if (status === 404) return ' Check the base URL and the name of the model.';
  if (status < 400) return ' Redirects are not followed: give the address that they lead to.';
  return '';
}
