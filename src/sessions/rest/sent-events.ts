import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Logger } from '@nestjs/common';
import { forwardedAbort } from '../domain/process/forwarded-abort.js';
import { type Problem, logProblem, problemOf } from '../transport/problems.js';
import { type StreamAccess, StreamExpired, StreamStalled } from '../transport/stream-access.js';
import type { CurrentExchange } from './http-exchange.js';

/** Keeps proxies from closing a quiet connection. */
const KEEP_ALIVE_MS = 15_000;

/** How long a stalled reader has to read the reason. */
const CLOSE_TIMEOUT_MS = 5_000;

/** The events to send. */
export interface SentEvents<Event> {
  /** Called when the response has begun. `signal` aborts when the reader has left, or may not read any more. */
  readonly open: (response: ServerResponse, signal: AbortSignal) => AsyncIterator<Event>;
  /** The event as text of the stream. */
  readonly textOf: (event: Event) => string;
  /** Whether the end says that there is no more, so that the maximum age of a stream is a failure. */
  readonly hasEnd?: boolean | undefined;
  /** What the stream ends with if nothing failed, so that its reader can tell the end from a broken connection. */
  readonly textOfEnd?: string | undefined;
  /** A failure as text of the stream. Default: an event of the type `problem`. */
  readonly textOfProblem?: ((problem: Problem) => string) | undefined;
}

/** How to end the streams that are open. */
const breaks = new WeakMap<ServerResponse, (failure: BrokenStream) => void>();

/** Something else than the stream has failed, such as an interceptor of the app that limits the time of all answers. */
class BrokenStream extends Error {}

/** Ends a stream by an error, of which its reader learns as of any other. Returns false if the answer is no open stream. */
export function breakStream(response: ServerResponse, cause: unknown): boolean {
  const end = breaks.get(response);
  end?.(new BrokenStream('The stream was ended.', { cause }));
  return end !== undefined;
}

/**
 * Sends server-sent events until they end, the reader leaves, or access ends. Closes `access`. A failure is the last event.
 *
 * @example
 * const access = this.access.followStream({ action: 'read', target: 'session', ...key, request: exchange.request });
 * await sendEvents(exchange, access, this.logger, { open: (_response, signal) => events(signal), textOf });
 */
export async function sendEvents<Event>(
  exchange: CurrentExchange,
  access: StreamAccess,
  logger: Logger,
  events: SentEvents<Event>,
): Promise<void> {
  const response = exchange.takeOver();
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  breaks.set(response, (failure) => gone.abort(failure));
  // The reader may have left during the lookup, and `close` is not emitted again.
  if (response.socket?.destroyed !== false) gone.abort();
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    // Compression would buffer events.
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  // A HEAD request is complete now. A stream would keep the connection busy forever.
  if (exchange.request.method === 'HEAD') {
    access.close();
    response.end();
    return;
  }
  response.flushHeaders();
  const keepAlive = setInterval(() => keepAliveIn(response), KEEP_ALIVE_MS);
  // Node keeps an `AbortSignal.any` for as long as someone listens to it, also after its end.
  const { signal, release } = forwardedAbort([gone.signal, access.signal]);
  try {
    await sendAll(response, events, access, signal, logger);
  } finally {
    breaks.delete(response);
    release();
    clearInterval(keepAlive);
    access.close();
    response.end();
    if (access.signal.reason instanceof StreamStalled) terminateAfterClose(response);
  }
}

/** Waits for a slow reader, to limit memory. */
async function sendAll<Event>(
  response: ServerResponse,
  { open, textOf, hasEnd = false, textOfEnd, textOfProblem = problemText }: SentEvents<Event>,
  access: StreamAccess,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  const events = open(response, signal);
  try {
    // Not `for await`: its variable would keep the last event in memory while the next one is waited for.
    while (await sendNext(response, events, textOf, access));
    if (signal.reason instanceof BrokenStream) throw signal.reason.cause;
    // A reader reconnects by itself after the maximum age.
    const { aborted, reason } = access.signal;
    if (aborted && (hasEnd || !(reason instanceof StreamExpired))) throw reason;
    if (textOfEnd !== undefined && !signal.aborted) response.write(textOfEnd);
  } catch (error) {
    const problem = problemOf(error);
    logProblem(logger, error, problem, access.place);
    response.write(textOfProblem(problem));
  } finally {
    await events.return?.();
  }
}

function problemText(problem: Problem): string {
  return `event: problem\ndata: ${JSON.stringify(problem)}\n\n`;
}

/** Returns false when there are no more events, or the reader may not have them. */
async function sendNext<Event>(
  response: ServerResponse,
  events: AsyncIterator<Event>,
  textOf: (event: Event) => string,
  access: StreamAccess,
): Promise<boolean> {
  const { done, value: event } = await events.next();
  if (done === true || access.signal.aborted) return false;
  const isRoom = response.write(textOf(event));
  if (!isRoom) await roomIn(response, access);
  return true;
}

/** Writes a comment, unless data is already waiting. */
function keepAliveIn(response: ServerResponse): void {
  if (!response.writableNeedDrain) response.write(': still here\n\n');
}

/** Destroys a connection that is not read. */
function terminateAfterClose(response: ServerResponse): void {
  const timer = setTimeout(() => response.destroy(), CLOSE_TIMEOUT_MS);
  response.once('close', () => clearTimeout(timer));
}

/** Waits for room to write, the end of the connection, or the end of access. */
async function roomIn(response: ServerResponse, access: StreamAccess): Promise<void> {
  if (response.closed || access.signal.aborted) return;
  const stopExpecting = access.expectReading();
  const settled = new AbortController();
  const { signal } = settled;
  try {
    await Promise.race([
      once(response, 'drain', { signal }),
      once(response, 'close', { signal }),
      once(access.signal, 'abort', { signal }),
    ]);
  } finally {
    stopExpecting();
    settled.abort();
  }
}
