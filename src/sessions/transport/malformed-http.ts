import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PROBLEM_TYPE, type Problem, findReasonPhrase } from './problems.js';

/** Why a request is refused before any route sees it. */
export type Refusal = Pick<Problem, 'status' | 'code' | 'detail'>;

const NOT_HTTP: Refusal = { status: 400, code: 'INVALID_INPUT', detail: 'The request is not valid HTTP.' };

/** Keyed by the error codes of Node's HTTP parser. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'LIMIT_EXCEEDED',
    detail: 'The headers are too large. Send less in them, above all in cookies.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'INVALID_INPUT',
    detail: 'The request did not arrive in time. Send it again, as a whole.',
  },
};

/**
 * Responds to malformed HTTP, such as headers that are too large, with a problem body (RFC 9457), and closes the connection.
 * `FASTIFY_OPTIONS` include it.
 *
 * @example app.getHttpServer().on('clientError', answerMalformedHttp); // on Express
 */
export function answerMalformedHttp(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || isAnswering(socket)) socket.destroy();
  else respondAndClose(socket, REFUSALS[error.code ?? ''] ?? NOT_HTTP);
}

/** The body of a problem. */
export function formatProblemBody({ status, code, detail }: Refusal): string {
  return JSON.stringify({
    type: 'about:blank',
    title: findReasonPhrase(status),
    status,
    detail,
    code,
  } satisfies Problem);
}

/** Responds before the framework sees the request. */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  response.statusCode = refusal.status;
  response.setHeader('Content-Type', PROBLEM_TYPE);
  response.setHeader('Cache-Control', 'no-store');
  response.end(formatProblemBody(refusal));
}

/** Writes a response to a raw socket. */
export function respondAndClose(socket: Duplex, refusal: Refusal): void {
  const { status } = refusal;
  const body = formatProblemBody(refusal);
  const head = [
    `HTTP/1.1 ${status} ${findReasonPhrase(status)}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** A second response inside the first one would be read as part of it. Node checks the same field. */
function isAnswering(socket: Duplex): boolean {
  const response = Reflect.get(socket, '_httpMessage') as { readonly headersSent: boolean } | null | undefined;
  return response?.headersSent === true;
}
