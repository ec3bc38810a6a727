import { InvalidInputError } from '../sessions/domain/errors.js';
import { ProblemError } from './problem-error.js';

/** Where the routes are, and how patient the client is. */
export interface RequestsOptions {
  /** Where the routes are, with whatever is in front of `/apps`. */
  readonly url: string;
  /** Sent with every request, such as `Authorization`; a function is asked each time. */
  readonly headers?:
    Readonly<Record<string, string>> | (() => Record<string, string> | Promise<Record<string, string>>);
  /** How often to send again what got no answer, or one that is temporary (429, 502, 503, 504); 4 unless given. */
  readonly retries?: number | undefined;
  /** How long a request may take; 10,000 ms unless given. */
  readonly timeoutMs?: number | undefined;
  /** Instead of the `fetch` that there is; for tests. */
  readonly fetch?: typeof fetch | undefined;
}

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  /** Whether it may be sent twice. */
  readonly isRepeatable?: boolean;
  /** How long it may take, where that is not what all others may. */
  readonly timeoutMs?: number;
  /** Ends it, also between two tries. */
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly headers: Headers;
  readonly body: unknown;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** Whoever asks for more is not waited for. */
const MOST_PATIENCE_MS = 60_000;

/** Requests to one server, sent again where that does no harm. */
export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    // In a browser, a path is enough.
    if (!/^(https?:\/)?\//.test(options.url)) {
      throw new InvalidInputError('must begin with http://, https:// or /', 'url');
    }
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  /** The body of the answer as JSON; `undefined` where there is none. */
  async json(method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    return (await this.answer(method, path, options)).body;
  }

  async answer(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { retries = 4, timeoutMs: usual = 10_000 } = this.#options;
    const { timeoutMs = usual, signal: ended } = options;
    for (let tries = 1; ; tries++) {
      try {
        const late = AbortSignal.timeout(timeoutMs);
        const response = await this.send(method, path, options, ended ? AbortSignal.any([ended, late]) : late);
        return { headers: response.headers, body: await bodyOf(response) };
      } catch (error) {
        if (tries > retries || ended?.aborted === true || !mayRepeat(error, options)) throw error;
        await pause(tries, error, ended);
      }
    }
  }

  /** One try, answered well; anything else is a {@link ProblemError}. */
  async send(method: string, path: string, options: RequestOptions, signal: AbortSignal): Promise<Response> {
    const { url, headers, fetch: send = fetch } = this.#options;
    const own = typeof headers === 'function' ? await headers() : headers;
    const response = await send(url + path + queryOf(options.query), {
      method,
      headers: { ...(options.body && { 'Content-Type': 'application/json' }), ...own, ...options.headers },
      ...(options.body && { body: JSON.stringify(options.body) }),
      signal,
    });
    if (response.ok) return response;
    throw new ProblemError(response.status, await problemIn(response), retryAfterMs(response));
  }
}

/** Longer from try to try, not the same for all who wait, and as long as the server asked for, if that is not for long. */
export async function pause(tries: number, error?: unknown, ended?: AbortSignal): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
  const asked = error instanceof ProblemError ? Math.min(error.retryAfterMs ?? 0, MOST_PATIENCE_MS) : 0;
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

/** Something on the way may answer in the server's place, with a page for people. */
async function bodyOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new ProblemError(response.status, {
      detail: 'The answer is no JSON. Is this the address of the routes of sessions?',
    });
  }
}

function mayRepeat(error: unknown, { isRepeatable = false }: RequestOptions): boolean {
  if (!(error instanceof ProblemError)) return isRepeatable;
  // Whom a server turns away at the door, it did nothing for.
  const isHarmless = isRepeatable || error.status === 429;
  return isHarmless && error.isTemporary && (error.retryAfterMs ?? 0) <= MOST_PATIENCE_MS;
}

function retryAfterMs({ headers }: Response): number | undefined {
  const seconds = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

function queryOf(query: RequestOptions['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

async function problemIn(response: Response): Promise<Record<string, unknown>> {
  try {
    return (await response.json()) as Record<string, unknown>;
  } catch {
    return {};
  }
}
