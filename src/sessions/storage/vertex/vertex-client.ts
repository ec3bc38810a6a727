import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { callWithin } from '../../domain/process/timeouts.js';
import { backoffMs } from '../../domain/process/backoff.js';
import { retryAfterMs } from './retry-after.js';
import { VertexError, refusalError, refusesRawEvent } from './vertex-error.js';
import type { AccessTokenSource } from './vertex-options.js';
import { storeClosed } from '../../domain/errors/store-closed.js';

/** A request to the API. */
export interface VertexRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The address, without the query. */
  readonly url: string;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: object | undefined;
  /** Whether the request does the same if it arrives twice. Otherwise it is sent again only if it was refused. */
  readonly isRepeatable: boolean;
  /** Whether the status says all, so that a broken answer is a success. */
  readonly ignoresBody?: boolean | undefined;
  /** The statuses that are returned and not thrown. */
  readonly accepts?: readonly number[] | undefined;
  readonly limitMs?: number | undefined;
}

/** An answer, with the body as JSON. */
export interface VertexReply {
  readonly status: number;
  readonly body: unknown;
  /** Whether an earlier try may have been executed. */
  readonly wasRepeated: boolean;
  readonly refusesRawEvent: boolean;
}

export interface VertexClientOptions {
  readonly tokens: AccessTokenSource;
  readonly timeLimitMs: number;
}

const MAX_TRIES = 6;
const PAUSES = { firstMs: 100, maxMs: 5_000 };
const QUOTA = 429;
const UNAUTHORIZED = 401;

/** Sends requests with a token, a time limit and retries. */
export class VertexClient {
  readonly #closing = new AbortController();

  constructor(private readonly options: VertexClientOptions) {
    // Each request listens. Node would warn of the eleventh at the same time.
    setMaxListeners(Infinity, this.#closing.signal);
  }

  /** Ends all calls; later ones fail. */
  close(): void {
    this.#closing.abort(storeClosed());
  }

  assertOpen(): void {
    this.#closing.signal.throwIfAborted();
  }

  async send(request: VertexRequest): Promise<VertexReply> {
    const limitMs = request.limitMs ?? this.options.timeLimitMs;
    const timeoutError = (): Error =>
      new VertexError(`Vertex AI did not answer within ${limitMs} ms.`, request.method !== 'GET');
    const deadline = Date.now() + limitMs;
    return callWithin({ limitMs, signal: this.#closing.signal, timeoutError }, (signal) =>
      new Tries(this.options, request, deadline, signal).run(),
    );
  }
}

/** The tries of one request. */
class Tries {
  #hasNewToken = false;
  #wasRepeated = false;

  constructor(
    private readonly options: VertexClientOptions,
    private readonly request: VertexRequest,
    private readonly deadline: number,
    private readonly signal: AbortSignal,
  ) {}

  async run(): Promise<VertexReply> {
    for (let tries = 1; ; tries++) {
      const result = await this.#try();
      if (!(result instanceof Failure)) return result;
      const pauseMs = result.waitMs ?? backoffMs(tries, PAUSES, Math.random());
      const isLast = tries === MAX_TRIES || Date.now() + pauseMs >= this.deadline;
      if (!result.canBeRepeated || isLast) throw result.error;
      this.#wasRepeated ||= result.error.outcomeUnknown;
      await sleep(pauseMs, undefined, { signal: this.signal });
    }
  }

  async #try(): Promise<VertexReply | Failure> {
    const { isRepeatable } = this.request;
    const token = await this.#token(false);
    const sent = await this.#fetch(token);
    if (sent instanceof Failure) return sent;
    const response = sent.status === UNAUTHORIZED && !this.#hasNewToken ? await this.#again() : sent;
    if (response instanceof Failure) return response;
    const { status } = response;
    const body = await readBodyOrBroken(response);
    const isGood = response.ok || this.request.accepts?.includes(status) === true;
    if (isGood && (body !== BROKEN || this.request.ignoresBody)) {
      return { status, body, wasRepeated: this.#wasRepeated, refusesRawEvent: refusesRawEvent(body) };
    }
    if (isGood) return new Failure(brokenAnswer(status, !this.#isRead), isRepeatable);
    const waitMs = retryAfterMs(response.headers.get('retry-after'), Date.now());
    const isServerFault = status >= 500;
    const error = refusalError(status, body, isServerFault && !this.#isRead, waitMs);
    return new Failure(error, status === QUOTA || (isServerFault && isRepeatable), waitMs);
  }

  get #isRead(): boolean {
    return this.request.method === 'GET';
  }

  /** Once, with a token that Google has not refused. */
  async #again(): Promise<Response | Failure> {
    this.#hasNewToken = true;
    return this.#fetch(await this.#token(true));
  }

  async #token(isRefused: boolean): Promise<string> {
    try {
      const token: unknown = await this.options.tokens(isRefused);
      if (typeof token === 'string' && token !== '') return token;
      throw new Error('There is no token.');
    } catch (error) {
      if (isMissingPackage(error)) throw error;
      // The message of the library may quote credentials.
      throw new VertexError(
        'No access token for Vertex AI: set GOOGLE_APPLICATION_CREDENTIALS, or run where Google gives credentials.',
        false,
      );
    }
  }

  async #fetch(token: string): Promise<Response | Failure> {
    const { method, url, query = {}, body, isRepeatable } = this.request;
    const address = new URL(url);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, value);
    try {
      return await fetch(address, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        // A redirect would send the token elsewhere.
        redirect: 'error',
        signal: this.signal,
      });
    } catch {
      this.signal.throwIfAborted();
      return new Failure(
        new VertexError(`Vertex AI at ${address.host} cannot be reached.`, !this.#isRead),
        isRepeatable,
      );
    }
  }
}

/** A try that failed. */
class Failure {
  constructor(
    readonly error: VertexError,
    readonly canBeRepeated: boolean,
    readonly waitMs?: number | undefined,
  ) {}
}

const BROKEN = Symbol('broken');

async function readBodyOrBroken(response: Response): Promise<unknown> {
  try {
    const text = await response.text();
    return text === '' ? {} : (JSON.parse(text) as unknown);
  } catch {
    return BROKEN;
  }
}

function brokenAnswer(httpStatus: number, outcomeUnknown: boolean): VertexError {
  return new VertexError('The answer of Vertex AI broke off.', outcomeUnknown, { httpStatus });
}

function isMissingPackage(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
}
