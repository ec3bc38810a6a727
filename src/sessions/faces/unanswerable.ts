import type { Duplex } from 'node:stream';
import { PROBLEM_TYPE, type Problem, titleOf } from './problems.js';

type Refusal = Pick<Problem, 'status' | 'code' | 'detail'>;

const NO_HTTP: Refusal = { status: 400, code: 'INVALID_INPUT', detail: 'This is no HTTP request that can be read.' };

/** By what the parser of Node calls them. */
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
 * Answers what never became a request, such as headers that are too large, with a problem body (RFC 9457), and ends the connection.
 * `FASTIFY_OPTIONS` have it already.
 *
 * @example app.getHttpServer().on('clientError', answerUnreadable); // on Express
 */
export function answerUnreadable(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || isAnswering(socket)) socket.destroy();
  else answerAndEnd(socket, REFUSALS[error.code ?? ''] ?? NO_HTTP);
}

/** Writes to a connection for which there is no response. */
export function answerAndEnd(socket: Duplex, { status, code, detail }: Refusal): void {
  const title = titleOf(status);
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, code } satisfies Problem);
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** A second answer in the middle of the first would be taken for a part of it; Node asks the same of its sockets. */
function isAnswering(socket: Duplex): boolean {
  const response = Reflect.get(socket, '_httpMessage') as { readonly headersSent: boolean } | null | undefined;
  return response?.headersSent === true;
}
