import type { ServerResponse } from 'node:http';
import { HEADERS } from './stream-headers.js';

/** An answer without live data. */
export interface StreamAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Buffer | string;
}

/** Data of users: nobody guesses its type, and no cache keeps it. */
const SAFE = {
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

const METHODS = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';

/** Headers of all responses. */
export function setCommonHeaders(response: ServerResponse, allowOrigin: string | undefined): void {
  for (const [name, value] of Object.entries(SAFE)) response.setHeader(name, value);
  if (allowOrigin === undefined) return;
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  response.setHeader('Access-Control-Allow-Origin', allowOrigin);
  response.setHeader('Access-Control-Allow-Methods', METHODS);
  const names = Object.values(HEADERS).join(', ');
  response.setHeader('Access-Control-Allow-Headers', `Authorization, Content-Type, If-None-Match, ${names}`);
  response.setHeader('Access-Control-Expose-Headers', `ETag, Location, ${names}`);
}

export function send(response: ServerResponse, { status, headers = {}, body }: StreamAnswer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
  if (body !== undefined) response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
