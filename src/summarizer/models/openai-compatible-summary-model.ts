import { type ModelCallOptions, callWithRetry } from './call-with-retry.js';
import { errorCodeIn, parseChatCompletion, readBody } from './chat-completions.js';
import { parseRetryAfter, protocolWord, protocolWordsWithout, statusError } from './provider-response.js';
import { type SummaryAnswer, type SummaryModel, SummaryModelError, type SummaryRequest } from './summary-model.js';

/** Options of `OpenAiCompatibleSummaryModel`. */
export interface OpenAiCompatibleOptions extends ModelCallOptions {
  /** The address before `/chat/completions`: `https://api.openai.com/v1`, `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`. Self-hosted servers often need none. */
  readonly apiKey?: string | undefined;
  readonly model: string;
  /** Additional headers of every request. They replace the default ones. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as `max_tokens`. Default: set by the server. */
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** Additional fields of the request, such as `max_completion_tokens`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/**
 * Calls a server with the `chat/completions` API of OpenAI: OpenAI, Azure, OpenRouter, vLLM, Ollama and others. It needs
 * only `fetch`. Temporary failures are retried. Redirects are not followed, so the key goes to one host.
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
  /** Returns the words of the server that may appear in messages. */
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
    const requestBody = JSON.stringify({ model, messages, max_tokens: maxTokens, temperature, ...body });
    return callWithRetry(this.#options, signal, (attemptSignal) => this.#send(requestBody, attemptSignal));
  }

  async #send(body: string, signal: AbortSignal): Promise<SummaryAnswer> {
    const { fetch: fetchFunction = fetch } = this.#options;
    try {
      const headers = this.#headers;
      const response = await fetchFunction(this.#url, { method: 'POST', headers, body, redirect: 'manual', signal });
      if (!response.ok) throw await this.#errorOf(response);
      await assertJson(response, this.#wordOf);
      return parseChatCompletion(await readBody(response), this.#wordOf);
    } catch (error) {
      throw error instanceof SummaryModelError ? error : unreachable(error);
    }
  }

  async #errorOf(response: Response): Promise<SummaryModelError> {
    // In browsers, a redirect that is not followed has no status.
    const status = response.type === 'opaqueredirect' ? 302 : response.status;
    const reason = await errorCodeOf(response, this.#wordOf);
    return statusError(status, reason, parseRetryAfter(response.headers.get('retry-after'), Date.now()));
  }
}

async function errorCodeOf(response: Response, wordOf: typeof protocolWord): Promise<string | undefined> {
  try {
    return errorCodeIn(JSON.parse(await readBody(response)), wordOf);
  } catch {
    // The status is enough.
    return undefined;
  }
}

async function assertJson(response: Response, wordOf: typeof protocolWord): Promise<void> {
  const type = response.headers.get('content-type');
  if (type === null || /\bjson\b/i.test(type)) return;
  await response.body?.cancel();
  const name = wordOf(type.split(';')[0]?.trim()) ?? 'something else';
  throw new SummaryModelError('BAD_ANSWER', `The provider answered with ${name} instead of JSON. Check the base URL.`);
}

/** Messages and causes of `fetch` may contain the address; the system error code does not. */
function unreachable(error: unknown): SummaryModelError {
  const failure = (error ?? {}) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const code = protocolWord(failure.cause?.code ?? failure.code);
  const why = code === undefined ? '' : ` (${code})`;
  return new SummaryModelError('UNREACHABLE', `The provider was not reached, or broke off${why}.`, { retryable: true });
}

/** Returns `{baseUrl}/chat/completions`. A query, such as the `api-version` of Azure, is kept. */
function completionsUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw misconfigured('baseUrl must be an http or https address, such as https://api.openai.com/v1.');
  }
  if (url.username !== '' || url.password !== '') {
    throw misconfigured('baseUrl must hold no user and no password. Put the key into apiKey, or send a header.');
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  url.hash = '';
  return url.href;
}

/** Does not pass on the error of `Headers`: it repeats the invalid value, which may be the key. */
function headersFor(apiKey: string | undefined, own: Readonly<Record<string, string>> = {}): Headers {
  try {
    const headers = new Headers({ 'Content-Type': 'application/json', Accept: 'application/json' });
    if (apiKey !== undefined) headers.set('Authorization', `Bearer ${apiKey}`);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    return headers;
  } catch {
    throw misconfigured('apiKey or headers hold characters that no header may hold, such as a line break.');
  }
}

function misconfigured(message: string): SummaryModelError {
  return new SummaryModelError('MISCONFIGURED', message);
}
