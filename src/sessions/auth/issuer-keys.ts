import { Logger } from '@nestjs/common';
import type * as jose from 'jose';
import type { JWTVerifyGetKey } from 'jose';
import { IssuerUnavailableError } from './auth-errors.js';

/** Which parts of `jose` are used here. It is loaded by whoever makes the keys. */
type Jose = Pick<typeof jose, 'createLocalJWKSet' | 'errors'>;
type Header = Parameters<JWTVerifyGetKey>[0];
type Token = Parameters<JWTVerifyGetKey>[1];

/** How long keys are used without asking. */
const FRESH_MS = 600_000;
/** How long they are used while the issuer does not answer: its failure should not sign everybody out. */
const USABLE_MS = 3_600_000;
/** How long nobody asks after an answer, whatever keys tokens name: strangers choose those. */
const COOLDOWN_MS = 30_000;
/** The same after a failure. */
const RETRY_MS = 5_000;
const TIME_LIMIT_MS = 5_000;
const MOST_BYTES = 262_144;

/** The keys of an issuer, by their address. There is one request at a time, and a limit of how often. */
export class IssuerKeys {
  readonly #logger = new Logger('Auth');
  #keys: JWTVerifyGetKey | undefined;
  #loadedAt = -Infinity;
  #nextTryAt = -Infinity;
  #hasFailed = false;
  #loading: Promise<void> | undefined;

  constructor(
    private readonly address: URL,
    private readonly library: Jose,
    private readonly now: () => number,
  ) {}

  /**
   * The key that a token names.
   *
   * @throws IssuerUnavailableError if nobody can say
   */
  async find(header: Header, token: Token): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> {
    if (this.#age >= FRESH_MS) await this.#ask();
    try {
      return await this.#known(header, token);
    } catch (error) {
      if (!(error instanceof this.library.errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have a new key.
      if (this.#mayAsk) await this.#ask();
      // Nobody knows whether it has.
      if (this.#hasFailed) throw new IssuerUnavailableError();
      return this.#known(header, token);
    }
  }

  get #age(): number {
    return this.now() - this.#loadedAt;
  }

  get #mayAsk(): boolean {
    return this.#loading !== undefined || this.now() >= this.#nextTryAt;
  }

  async #known(header: Header, token: Token): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> {
    if (!this.#keys || this.#age >= USABLE_MS) throw new IssuerUnavailableError();
    return this.#keys(header, token);
  }

  async #ask(): Promise<void> {
    if (this.#mayAsk) await (this.#loading ??= this.#load().finally(() => (this.#loading = undefined)));
  }

  async #load(): Promise<void> {
    try {
      const set = JSON.parse(await fetchText(this.address)) as Parameters<Jose['createLocalJWKSet']>[0];
      this.#keys = this.library.createLocalJWKSet(set);
      this.#loadedAt = this.now();
      this.#hasFailed = false;
      this.#nextTryAt = this.now() + COOLDOWN_MS;
    } catch (error) {
      this.#hasFailed = true;
      this.#nextTryAt = this.now() + RETRY_MS;
      const { origin, pathname } = this.address;
      this.#logger.error(`The keys of the issuer cannot be read from ${origin}${pathname}: ${reasonIn(error)}`);
    }
  }
}

async function fetchText(address: URL): Promise<string> {
  // Another address than the one of the settings would decide who may sign in.
  const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(TIME_LIMIT_MS) });
  if (response.status !== 200) throw new Error(`the answer has the status ${response.status}`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > MOST_BYTES) throw new Error(`the answer is longer than ${MOST_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** `fetch failed` says nothing; its cause does. */
function reasonIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SyntaxError) return 'the answer is not JSON';
  return error.cause instanceof Error ? `${error.message}, ${error.cause.message}` : error.message;
}
