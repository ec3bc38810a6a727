import type { IncomingMessage, ServerResponse } from 'node:http';
import { KeyedQueue } from '../../components/keyed-queue.js';
import { InvalidInputError, LimitExceededError, SessionsError } from '../../sessions/domain/errors.js';
import { type SessionKey, type UserKey, checkedSessionKey, sessionNameOf } from '../../sessions/domain/ids.js';
import type { SessionService } from '../../sessions/session.service.js';
import { forkStream } from './fork-stream.js';
import { getStream, headStream } from './read-stream.js';
import { StreamRefusal } from './stream-errors.js';
import { HEADERS, RequestHeaders } from './stream-headers.js';
import { send, setCommonHeaders } from './stream-response.js';
import { StreamSessions, isGone } from './stream-session.js';
import { postStream, putStream } from './write-stream.js';

/** What {@link DurableStreams} needs. */
export interface DurableStreamsOptions {
  readonly sessions: SessionService;
  /** Whose streams a request may use, or `undefined` to refuse it with 401. Sign users in here. */
  readonly owner: (request: IncomingMessage) => UserKey | undefined | Promise<UserKey | undefined>;
  /** The origin of pages on other hosts that may use the streams. Default: none. */
  readonly allowOrigin?: string | undefined;
  /** How long a long-poll waits. Default: 20 seconds. */
  readonly longPollMs?: number | undefined;
  /** How long a response of server-sent events lasts. Default: 60 seconds. */
  readonly sseMs?: number | undefined;
  /** The longest body, in bytes. Default: 1,000,000. */
  readonly maxBodyBytes?: number | undefined;
}

const MOST_IGNORED_BYTES = 64_000_000;
const ALLOW = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';

/**
 * Answers requests of the Durable Streams protocol: a stream is a session of the user who is signed in, and its path is the id.
 *
 * @example
 * const streams = new DurableStreams({ sessions, owner: (request) => userOf(request) });
 * createServer((request, response) => streams.handle(request, response, '/v1/stream/')).listen(4437);
 */
export class DurableStreams {
  readonly #streams: StreamSessions;
  readonly #options: DurableStreamsOptions;
  readonly #queue = new KeyedQueue();

  constructor(options: DurableStreamsOptions) {
    this.#options = options;
    this.#streams = new StreamSessions(options.sessions);
  }

  /** @param base the path before the names of streams, as it is in `request.url` */
  async handle(request: IncomingMessage, response: ServerResponse, base = '/'): Promise<void> {
    setCommonHeaders(response, this.#options.allowOrigin);
    try {
      if (request.method === 'OPTIONS') return send(response, { status: 204, headers: { Allow: ALLOW } });
      const owner = await this.#options.owner(request);
      if (!owner) throw new StreamRefusal(401, 'Sign in first.');
      const url = new URL(request.url ?? '/', 'http://stream');
      await this.#answer(request, response, keyOf(owner, url.pathname, base), url, base);
    } catch (error) {
      try {
        refuse(response, error);
      } catch {
        response.destroy();
      }
    }
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    key: SessionKey,
    url: URL,
    base: string,
  ): Promise<void> {
    const streams = this.#streams;
    const headers = new RequestHeaders(request.headers);
    const { longPollMs = 20_000, sseMs = 60_000, maxBodyBytes = 1_000_000 } = this.#options;
    const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => this.#queue.run(sessionNameOf(key), work);
    switch (request.method) {
      case 'GET': {
        const times = { longPollMs, sseMs };
        return getStream({ streams, key, headers, query: url.searchParams, response, times });
      }
      case 'HEAD':
        return send(response, await headStream(streams, key));
      case 'PUT': {
        const body = await bodyOf(request, maxBodyBytes);
        const source = headers.get(HEADERS.forkedFrom);
        assertForkHeaders(headers);
        const answer = await inTurn(() =>
          source === undefined
            ? putStream(streams, key, headers, body)
            : forkStream(streams, keyOf(key, new URL(source, 'http://stream').pathname, base), key, headers, body),
        ).catch((error: unknown) => {
          throw isGone(error) && new StreamRefusal(409, 'The stream was deleted, and has forks: delete these first.');
        });
        const location = answer.status === 201 ? locationOf(request, url) : undefined;
        return send(response, { ...answer, headers: { ...answer.headers, Location: location } });
      }
      case 'POST': {
        const body = await bodyOf(request, maxBodyBytes);
        return send(response, await inTurn(() => postStream(streams, key, headers, body)));
      }
      case 'DELETE':
        return send(response, await inTurn(() => this.#delete(key)));
      default:
        throw new StreamRefusal(405, 'The protocol has no such method.', { Allow: ALLOW });
    }
  }

  async #delete(key: SessionKey): Promise<{ status: number }> {
    const stream = await this.#streams.open(key);
    if (!stream) throw new StreamRefusal(404, 'There is no such stream.');
    if (stream.isReadOnly) throw new StreamRefusal(405, 'A conversation is only read here.', { Allow: 'GET, HEAD' });
    await this.#streams.delete(stream);
    return { status: 204 };
  }
}

/** The session of a path. */
function keyOf({ appName, userId }: UserKey, pathname: string, base: string): SessionKey {
  if (!pathname.startsWith(base)) throw new StreamRefusal(404, 'There is no such stream.');
  let sessionId: string;
  try {
    sessionId = decodeURIComponent(pathname.slice(base.length));
  } catch {
    throw new InvalidInputError('must be encoded as UTF-8', 'path');
  }
  return checkedSessionKey({ appName, userId, sessionId });
}

function assertForkHeaders(headers: RequestHeaders): void {
  const { forkedFrom, forkOffset, forkSubOffset } = HEADERS;
  if (headers.get(forkedFrom) !== undefined) return;
  for (const name of [forkOffset, forkSubOffset]) {
    if (headers.get(name) !== undefined) throw new InvalidInputError(`is only for forks: set ${forkedFrom}`, name);
  }
}

function locationOf({ headers: { host = 'localhost' }, socket }: IncomingMessage, { pathname }: URL): string {
  return `${'encrypted' in socket ? 'https' : 'http'}://${host}${pathname}`;
}

/** A body that is too large is read to its end, as far as that is reasonable, so that the client reads the answer. */
async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= most) chunks.push(chunk);
    else if (bytes > most + MOST_IGNORED_BYTES) break;
  }
  if (bytes > most) throw new StreamRefusal(413, `The body has more than ${most} bytes.`);
  return Buffer.concat(chunks);
}

/** Says what is wrong, as far as the response allows. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
  if (error instanceof StreamRefusal) {
    return send(response, { status: error.status, headers: { ...headers, ...error.headers }, body: error.message });
  }
  const known = error instanceof SessionsError ? error : undefined;
  const status = error instanceof LimitExceededError ? 413 : (known?.status ?? 500);
  send(response, { status, headers, body: known?.publicMessage ?? 'Something went wrong.' });
}
