import type { ServerResponse } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { PageShare } from '../operations/watch-session.js';
import { AnswerMemory, READING_SECONDS } from './answer-memory.js';
import { ConnectionCount } from './connection-count.js';

/** The answer of a request over HTTP. */
export interface AnswerRequest {
  readonly response: ServerResponse;
  /** Who asks, see `clientOf`. */
  readonly client: string;
  /** The most that the answer may have. */
  readonly bytes: number;
  readonly limits: AnswerLimits;
  /** What a client is told that gets no memory. Default: that it can ask again. */
  readonly refusal?: string | undefined;
}

/** The limits of the memory of answers; 0 = no limit. */
export interface AnswerLimits {
  /** Bytes that all answers of the process may hold. */
  readonly maxBufferedBytes: number;
  /** How long the reader may read nothing. */
  readonly stallSeconds: number;
}

/** Longer than {@link READING_SECONDS}: by then, readers that do not read are ended. */
const WAIT_MS = 2 * READING_SECONDS * 1000;

/** The `Retry-After` of a refused answer. */
export const RETRY_AFTER_SECONDS = '1';

/** There was no memory for an answer in time. */
export class NoRoomError extends HttpException {
  constructor(detail = 'Answers that are not read yet hold the memory for them, of all clients or of you. Try again.') {
    super(detail, 429);
  }
}

/** For work that is done before its answer finds memory. */
export const WORK_IS_DONE =
  'It is done and stored, but answers that are not read yet hold the memory for this one, of all clients or of you. Read it in the ' +
  'session, or send the same invocationId again.';

/** The client has left, so nobody gets what would be read. */
export class ClientGoneError extends HttpException {
  constructor() {
    // As nginx has it.
    super('The client has closed the connection.', 499);
  }
}

/**
 * Waits for the memory of an answer, before it is read, and holds it until the reader has it. A reader that reads nothing loses its
 * connection. Throws if there is no memory in time, or the client has left.
 *
 * @example await reserveAnswer({ response, client, bytes, limits });
 */
export async function reserveAnswer(request: AnswerRequest): Promise<void> {
  const { response, limits } = request;
  const share = await reserveShare(request);
  whenEnded(response, () => {
    if (limits.stallSeconds > 0) response.setTimeout(limits.stallSeconds * 1000, () => void response.destroy());
    share.resize(response.writableLength);
    share.release();
  });
}

/** The same for an answer in parts: whoever writes it gives the memory back. At the latest, the end of the connection does. */
export async function reserveShare({ response, client, bytes, limits, refusal }: AnswerRequest): Promise<PageShare> {
  const waiting = new AbortController();
  const stop = (): void => waiting.abort();
  if (isGone(response)) stop();
  response.once('close', stop);
  const timer = setTimeout(stop, WAIT_MS);
  const share = await AnswerMemory.ofProcess.reserve({
    connection: response,
    client,
    bytes,
    maxBytes: limits.maxBufferedBytes,
    onStall: () => void response.destroy(),
    signal: waiting.signal,
  });
  clearTimeout(timer);
  response.off('close', stop);
  if (!share) throw isGone(response) ? new ClientGoneError() : new NoRoomError(refusal);
  response.once('close', () => share.release());
  return share;
}

/** Open streams of server-sent events, of all apps in the process. */
const openStreams = new ConnectionCount();

/** Counts a stream of a client until its connection closes. Throws if the client has too many. @param most 0 = no limit */
export function countStream(response: ServerResponse, client: string, most: number): void {
  if (openStreams.refusalFor(client, { maxConnections: 0, maxConnectionsPerAddress: most })) {
    throw new NoRoomError(`You have ${most} streams open already (streams.maxStreamsPerClient). Close one first.`);
  }
  // A client that has left emits no `close` any more.
  if (!response.destroyed) response.once('close', openStreams.add(client));
}

function isGone({ destroyed, socket }: ServerResponse): boolean {
  return destroyed || socket?.destroyed === true;
}

/** Calls `done` when the whole answer was written, which does not mean sent. */
function whenEnded(response: ServerResponse, done: () => void): void {
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.end = (...args: unknown[]): ServerResponse => {
    end(...args);
    done();
    return response;
  };
}
