import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers';
import { type ExecutionArgs, type ExecutionResult, execute } from 'graphql';
import { jsonBytes } from '../../domain/stored/byte-budget.js';
import { AnswerMemory, READING_SECONDS } from '../../transport/answer-memory.js';
import { clientOf } from '../../transport/client-address.js';
import { findHttpRequest } from '../access.guard.js';
import { isWork, mostBytesOf } from '../limits/document-answer.js';
import { type GraphqlLimits, limitError } from '../limits/graphql-limits.js';
import { type WebSocketSettings, endStalled } from './web-socket-server.js';

const closings = new WeakMap<Socket, AbortSignal>();

/**
 * Returns `execute` for queries and mutations over WebSockets. An operation waits for the memory of its response, before it begins or
 * when its work is done, and holds it until the connection has sent the response.
 */
export function executeWithin(
  limits: GraphqlLimits,
  addressOf: WebSocketSettings['addressOf'],
): (args: ExecutionArgs) => Promise<ExecutionResult> {
  return async (args) => {
    const request = webSocketRequestOf(args.contextValue);
    if (!request) return execute(args);
    const { socket } = request;
    const done = isWork(args, limits) ? await execute(args) : undefined;
    const share = await AnswerMemory.ofProcess.reserve({
      connection: socket,
      client: clientOf(request, addressOf(request)),
      bytes: done ? jsonBytes(done) : mostBytesOf(args, limits),
      maxBytes: limits.maxBufferedBytes,
      onStall: () => endStalled(request, READING_SECONDS),
      signal: closingOf(socket),
    });
    if (!share) return { errors: [limitError('The connection was closed.')] };
    try {
      return done ?? (await execute(args));
    } finally {
      // The response was written before this, so nothing after it waits.
      setImmediate(() => {
        share.resize(socket.writableLength);
        share.release();
      });
    }
  };
}

/** The request that opened the WebSocket of an operation. */
function webSocketRequestOf(context: unknown): IncomingMessage | undefined {
  if (typeof context !== 'object' || context === null) return undefined;
  const request = findHttpRequest(context) as Partial<IncomingMessage> | undefined;
  return request?.socket ? (request as IncomingMessage) : undefined;
}

/** Aborted when the connection is closed. */
function closingOf(socket: Socket): AbortSignal {
  const known = closings.get(socket);
  if (known) return known;
  const closing = new AbortController();
  // Each operation that waits listens.
  setMaxListeners(Infinity, closing.signal);
  if (socket.destroyed) closing.abort();
  socket.once('close', () => closing.abort());
  closings.set(socket, closing.signal);
  return closing.signal;
}
