import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { optionalCount, optionalTimer } from '../sessions/domain/values/input-checks.js';
import { fieldNames, refuseMisspelled, requireOptionsOf } from '../sessions/domain/values/request-fields.js';
import { RequestHeadersError } from './headers-error.js';
import { ProblemError } from './problem-error.js';
import { SeenEvents } from './seen-events.js';
import { ServerUnreachableError, isNetworkFailure } from './unreachable-error.js';

/** The base URL of the routes, and options for requests. */
export interface RequestsOptions {
  /** The URL of the routes, up to `/apps`. */
  readonly url: string;
  /** Sent with every request, such as `Authorization`. A function is called for each request. */
  readonly headers?:
    Readonly<Record<string, string>> | (() => Record<string, string> | Promise<Record<string, string>>) | undefined;
  /** How often to retry without a response or after 429, 502, 503 or 504. Default: 4. */
  readonly retries?: number | undefined;
  /** The timeout of a request. Default: 10,000 ms. */
  readonly timeoutMs?: number | undefined;
  /** Replaces the global `fetch`, for tests. */
  readonly fetch?: typeof fetch | undefined;
}

type QueryValue = string | number | boolean;

export interface RequestOptions {
  /** An array gives a parameter more than once. */
  readonly query?: Readonly<Record<string, QueryValue | readonly string[] | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  /** Whether the request is safe to repeat. */
  readonly isRepeatable?: boolean;
  /** Overrides the timeout of the client. */
  readonly timeoutMs?: number;
  /** Cancels the request, also between two attempts. */
  readonly signal?: AbortSignal;
}

export interface JsonResponse {
  readonly headers: Headers;
  readonly body: unknown;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A longer `Retry-After` is not waited for. */
const MAX_RETRY_AFTER_MS = 60_000;

const OPTIONS = fieldNames<RequestsOptions>({ url: true, headers: true, retries: true, timeoutMs: true, fetch: true });

/** Sends requests to one server, and retries those that are safe to repeat. */
export class Requests {
  /** What reads of sessions must have. */
  readonly seen = new SeenEvents();
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    refuseMisspelled(requireOptionsOf('SessionsClient', options, 'url'), OPTIONS, 'SessionsClient');
    optionalCount(options.retries, 'retries');
    optionalTimer(options.timeoutMs, 'timeoutMs');
    // A path is enough in a browser.
    if (!/^(https?:\/)?\//.test(options.url)) {
      throw new InvalidInputError('must begin with http://, https:// or /', 'url');
    }
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  /** Returns the body of the response as JSON, or `undefined` if there is none. */
  async json<Body>(method: string, path: string, options: RequestOptions = {}): Promise<Body> {
    return (await this.request(method, path, options)).body as Body;
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<JsonResponse> {
    const { retries } = this;
    const { timeoutMs: usual = 10_000 } = this.#options;
    const { timeoutMs = usual, signal: ended } = options;
    optionalTimer(timeoutMs, 'timeoutMs');
    for (let tries = 1; ; tries++) {
      try {
        const late = AbortSignal.timeout(timeoutMs);
        const response = await this.send(method, path, options, ended ? AbortSignal.any([ended, late]) : late);
        const body = await readJsonBody(response).catch((error: unknown) => {
          throw this.failureOf(error);
        });
        this.seen.see(method, path, body);
        return { headers: response.headers, body };
      } catch (error) {
        if (tries > retries || ended?.aborted === true || !mayRepeat(error, options)) throw error;
        await pause(tries, error, ended);
      }
    }
  }

  /** One attempt. Throws a {@link ProblemError} unless the status is 2xx. */
  async send(method: string, path: string, options: RequestOptions, signal: AbortSignal): Promise<Response> {
    const { url, fetch: send = fetch } = this.#options;
    const own = await this.#ownHeaders(signal);
    const query = this.seen.tell(path, options.query);
    const response = await send(url + path + formatQuery(query), {
      method,
      headers: { ...(options.body && { 'Content-Type': 'application/json' }), ...own, ...options.headers },
      ...(options.body && { body: JSON.stringify(options.body) }),
      signal,
    }).catch((error: unknown) => {
      throw this.failureOf(error);
    });
    if (response.ok) return response;
    throw new ProblemError(response.status, await problemIn(response), retryAfterMs(response));
  }

  /** How often to repeat what failed. */
  get retries(): number {
    return this.#options.retries ?? 4;
  }

  async #ownHeaders(signal: AbortSignal): Promise<Readonly<Record<string, string>> | undefined> {
    const { headers } = this.#options;
    try {
      const own = typeof headers === 'function' ? await unlessAborted(headers, signal) : headers;
      // Throws for what `fetch` would refuse.
      return own && new Headers(own) && own;
    } catch (error) {
      throw signal.aborted ? signal.reason : new RequestHeadersError(error);
    }
  }

  /** The error to throw for one of `fetch`, or of a body that broke off. */
  failureOf(error: unknown): unknown {
    return isNetworkFailure(error) ? new ServerUnreachableError(this.#options.url, error) : error;
  }
}

/** Waits no longer than the signal says: what refreshes a token may hang as a server does. */
async function unlessAborted<Result>(work: () => Result | Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const left = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const end = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', end, { once: true, signal: left.signal });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    left.abort();
  }
}

/** Waits for `Retry-After`, plus an exponential backoff with jitter. */
export async function pause(tries: number, error?: unknown, ended?: AbortSignal): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
  const asked = error instanceof ProblemError ? Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(over, asked + Math.random() * longest);
    function over(): void {
      clearTimeout(timer);
      ended?.removeEventListener('abort', over);
      resolve();
    }
    ended?.addEventListener('abort', over);
    if (ended?.aborted === true) over();
  });
}

/** A proxy may answer in the server's place, with an HTML page. */
async function readJsonBody(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new ProblemError(response.status, {
      detail: 'The response is not JSON. Check that `url` is the URL of the routes of sessions.',
    });
  }
}

function mayRepeat(error: unknown, { isRepeatable = false }: RequestOptions): boolean {
  if (!(error instanceof ProblemError)) return isRepeatable;
  // With 429 the server did nothing, so any request is safe to repeat.
  const isHarmless = isRepeatable || error.status === 429;
  return isHarmless && error.isTemporary && (error.retryAfterMs ?? 0) <= MAX_RETRY_AFTER_MS;
}

function retryAfterMs({ headers }: Response): number | undefined {
  const seconds = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

/** `null` means the same as a missing value, as in the service. */
function formatQuery(query: RequestOptions['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.flatMap((one) =>
      one === undefined || one === null ? [] : [[name, queryText(name, one)] as [string, string]],
    );
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** Refuses what a URL would change, so that the server would look for something else. */
function queryText(name: string, value: unknown): string {
  if (typeof value !== 'string') {
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw new InvalidInputError('must be a text or a number', name);
  }
  if (!value.isWellFormed()) throw new InvalidInputError('must not hold a lone surrogate', name);
  return value;
}

async function problemIn(response: Response): Promise<Record<string, unknown>> {
  try {
    return ((await response.json()) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}
