import { protocolWord, protocolWordsWithout } from '../calls/model-answer.js';
import { type PatienceOptions, patientCall } from '../calls/patient-call.js';
import { retryAfterMs } from '../calls/retry-after.js';
import { statusError } from '../calls/status-error.js';
import type { SummaryAnswer, SummaryModel, SummaryRequest } from '../summary-model.js';
import { SummaryModelError } from '../summary-model-error.js';
import { readChatAnswer, reasonIn } from './chat-answer.js';
import { completionsUrl, headersFor } from './endpoint.js';
import { readBody } from './read-body.js';

/** How to reach a server that speaks `chat/completions`. */
export interface OpenAiCompatibleOptions extends PatienceOptions {
  /** Where `/chat/completions` is: `https://api.openai.com/v1`, `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`; servers of one's own often want none. */
  readonly apiKey?: string | undefined;
  readonly model: string;
  /** Sent with every request, over those that are sent anyway. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as `max_tokens`; what the server thinks right unless given. */
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** Further fields of the request, such as `max_completion_tokens`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/**
 * Asks any server that speaks the `chat/completions` of OpenAI: OpenAI, Azure, OpenRouter, vLLM, Ollama and others. Nothing
 * but `fetch` is needed. Failures that may pass are tried again; redirects are not followed, so the key goes to one host.
 *
 * @example
 * const model = new OpenAiCompatibleSummaryModel({
 *   baseUrl: 'https://api.openai.com/v1',
 *   apiKey: process.env.OPENAI_API_KEY,
 *   model: 'gpt-5-mini',
 * });
 */
export class OpenAiCompatibleSummaryModel implements SummaryModel {
  readonly name: string;
  readonly #options: OpenAiCompatibleOptions;
  readonly #url: string;
  readonly #headers: Headers;
  /** Which words of the server go into messages. */
  readonly #wordOf: typeof protocolWord;

  constructor(options: OpenAiCompatibleOptions) {
    this.name = options.model;
    this.#options = options;
    this.#url = completionsUrl(options.baseUrl);
    this.#headers = headersFor(options.apiKey, options.headers);
    this.#wordOf = protocolWordsWithout([
      options.apiKey ?? '',
      ...Object.values(options.headers ?? {}),
      ...new URL(this.#url).searchParams.values(),
    ]);
  }

  summarize({ prompt }: SummaryRequest, { signal }: { readonly signal: AbortSignal }): Promise<SummaryAnswer> {
    const { model, maxTokens, temperature, body } = this.#options;
    const messages = [{ role: 'user', content: prompt }];
    const question = JSON.stringify({ model, messages, max_tokens: maxTokens, temperature, ...body });
    return patientCall(this.#options, signal, (inTime) => this.#ask(question, inTime));
  }

  async #ask(body: string, signal: AbortSignal): Promise<SummaryAnswer> {
    const { fetch: send = fetch } = this.#options;
    try {
      const headers = this.#headers;
      const response = await send(this.#url, { method: 'POST', headers, body, redirect: 'manual', signal });
      if (!response.ok) throw await this.#refusalOf(response);
      await refuseForeignType(response, this.#wordOf);
      return readChatAnswer(await readBody(response), this.#wordOf);
    } catch (error) {
      throw error instanceof SummaryModelError ? error : unreachable(error);
    }
  }

  async #refusalOf(response: Response): Promise<SummaryModelError> {
    // A redirect that is not followed shows no status where `fetch` is a browser's.
    const status = response.type === 'opaqueredirect' ? 302 : response.status;
    const reason = await reasonOf(response, this.#wordOf);
    return statusError(status, reason, retryAfterMs(response.headers.get('retry-after'), Date.now()));
  }
}

async function reasonOf(response: Response, wordOf: typeof protocolWord): Promise<string | undefined> {
  try {
    return reasonIn(JSON.parse(await readBody(response)), wordOf);
  } catch {
    // The status says enough.
    return undefined;
  }
}

async function refuseForeignType(response: Response, wordOf: typeof protocolWord): Promise<void> {
  const type = response.headers.get('content-type');
  if (type === null || /\bjson\b/i.test(type)) return;
  await response.body?.cancel();
  const name = wordOf(type.split(';')[0]?.trim()) ?? 'something else';
  throw new SummaryModelError('BAD_ANSWER', `The provider answered with ${name} instead of JSON. Check the base URL.`);
}

/** Messages and causes of `fetch` may name the address; the code of the system does not. */
function unreachable(error: unknown): SummaryModelError {
  const failure = (error ?? {}) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const code = protocolWord(failure.cause?.code ?? failure.code);
  const why = code === undefined ? '' : ` (${code})`;
  return new SummaryModelError('UNREACHABLE', `The provider was not reached, or broke off${why}.`, { retryable: true });
}
