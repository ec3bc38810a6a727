import { isApiKey } from './api-keys.js';
import { NotSignedInError } from './auth-errors.js';
import { credentialInCookie } from './sign-in-cookie.js';

/** What is read of a request: of Express, Fastify, or a WebSocket with the parameters of its connection. */
export interface SignInRequest {
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  readonly url?: string;
  readonly originalUrl?: string;
  /** Of a WebSocket: browsers cannot set its headers. */
  readonly connectionParams?: Readonly<Record<string, unknown>> | undefined;
  /** What a guard of the app has set. */
  readonly user?: unknown;
}

const TWO = 'Send one sign-in: Authorization or X-API-Key.';
const IN_ADDRESS = 'A token in an address ends up in logs and histories. Send it as Authorization: Bearer.';
const QUERY_NAMES = new Set(['access_token', 'api_key', 'apikey']);

/** A token or an API key, and whether a browser has sent it by itself. */
export interface Credential {
  readonly text: string;
  readonly isCookie: boolean;
}

/**
 * The token or API key of a request. Undefined if there is none.
 *
 * @throws NotSignedInError if it is where others may read it, or if there are two
 */
export function readCredential(request: SignInRequest): Credential | undefined {
  refuseInAddress(request.originalUrl ?? request.url ?? '');
  const params = Object.entries(request.connectionParams ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const sent = readFrom(Object.fromEntries(params) as Record<string, unknown>) ?? readFrom(request.headers ?? {});
  if (sent !== undefined) return { text: sent, isCookie: false };
  const kept = credentialInCookie(request.headers?.cookie);
  return kept === undefined ? undefined : { text: kept, isCookie: true };
}

function readFrom(named: Readonly<Record<string, unknown>>): string | undefined {
  const key = named['x-api-key'];
  const token = bearerIn(named.authorization);
  if (key === undefined) return token;
  if (token !== undefined || typeof key !== 'string') throw new NotSignedInError(TWO, 'invalid_request');
  return key.trim();
}

/** Undefined for other schemes, which may be for somebody in front of the app. */
function bearerIn(header: unknown): string | undefined {
  return typeof header === 'string' ? /^Bearer +(\S+) *$/i.exec(header)?.[1] : undefined;
}

function refuseInAddress(address: string): void {
  const start = address.indexOf('?');
  if (start < 0) return;
  for (const [name, value] of new URLSearchParams(address.slice(start + 1))) {
    if (QUERY_NAMES.has(name.toLowerCase()) || isApiKey(value) || isToken(value)) {
      throw new NotSignedInError(IN_ADDRESS, 'invalid_request');
    }
  }
}

/** A JWT: the header begins with `{"`. */
function isToken(text: string): boolean {
  return /^(Bearer )?eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(text);
}
