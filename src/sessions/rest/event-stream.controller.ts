import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Get, Logger, Param, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { InvalidInputError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { SessionService } from '../session.service.js';
import { AccessChecks } from '../transport/access-checks.js';
import { RequireAccess } from '../transport/session-access.js';
import { NO_EVENTS, type StreamAccess, StreamExpired, StreamStalled } from '../transport/stream-access.js';
import { ApiResult, ApiIds, ApiProblems } from './api-responses.js';
import { DtoPipe } from './dto.pipe.js';
import { EVENT_EXAMPLE } from './dto/event.dto.js';
import { StreamQuery, numberOf } from './dto/query.dto.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { problemOf } from '../transport/problems.js';
import { type SessionParams, SessionRoutes } from './session-routes.js';

/** Keeps proxies from closing a quiet connection. */
const KEEP_ALIVE_MS = 15_000;

/** How long a stalled reader has to read the reason. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Streams the events of a session as server-sent events. Their ids are the numbers in the log. */
@ApiTags('events')
@SessionRoutes('apps/:appName/users/:userId/sessions/:sessionId/events/stream')
export class EventStreamController {
  readonly #logger = new Logger(EventStreamController.name);

  constructor(
    private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  /** Streams from now on, or after `afterSeq`. Browsers resume with `Last-Event-ID`. */
  @Get()
  @RequireAccess('read', 'session')
  @ApiOperation({
    operationId: 'streamEvents',
    summary: 'Streams the events of the log as they come',
    description:
      'Server-sent events, each an `Event` as JSON in `data` with its number as `id`. The stream begins after ' +
      '`Last-Event-ID` or `afterSeq`, or with the next event. With `stateDeltas=true`, each event has `statePatch`. A comment every 15 seconds keeps the connection alive. When ' +
      'the session is deleted or expires, or you may not read it any more, a last event of the type `problem` holds a ' +
      '`Problem`. A stream that ends without one has reached its maximum age: connect again. A stream that is not read ends with the ' +
      'problem `STREAM_STALLED`.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description:
      'The last event that you know; browsers send it when they reconnect. It takes precedence over `afterSeq`.',
    schema: { type: 'string', pattern: '^\\d{1,15}$' },
  })
  @ApiQuery({ type: StreamQuery })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'A stream that does not end.', {
    content: {
      'text/event-stream': {
        schema: { type: 'string' },
        example: `id: 1\ndata: ${JSON.stringify(EVENT_EXAMPLE)}\n\n`,
      },
    },
  })
  @ApiProblems(404)
  async stream(
    @Param() key: SessionParams,
    @Query(new DtoPipe(StreamQuery)) query: Readonly<StreamQuery>,
    @Exchange() exchange: CurrentExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const { lastSeq } = await this.sessions.listEvents({ ...key, ...NO_EVENTS });
    const resumed = lastEventId(exchange);
    const afterSeq = resumed ?? numberOf(query.afterSeq) ?? lastSeq;
    if (afterSeq > lastSeq) {
      const name = resumed === undefined ? 'afterSeq' : 'Last-Event-ID';
      throw new InvalidInputError(`is beyond the last event, ${lastSeq}`, name);
    }
    const response = exchange.takeOver();
    const gone = new AbortController();
    response.on('close', () => gone.abort());
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
      response.end();
      return;
    }
    response.flushHeaders();
    const keepAlive = setInterval(() => keepAliveIn(response), KEEP_ALIVE_MS);
    const { request } = exchange;
    const access = this.access.followStream({ action: 'read', target: 'session', ...key, request });
    const signal = AbortSignal.any([gone.signal, access.signal]);
    try {
      await this.#sendAll(
        response,
        this.sessions.watch({ ...key, afterSeq, signal, gate: access.gateTo(response), ...stateDeltasIn(query) }),
        access,
      );
    } finally {
      clearInterval(keepAlive);
      access.close();
      response.end();
      if (access.signal.reason instanceof StreamStalled) terminateAfterClose(response);
    }
  }

  /** Waits for a slow reader, to limit memory. */
  async #sendAll(response: ServerResponse, events: Events, access: StreamAccess): Promise<void> {
    const { signal } = access;
    try {
      // Not `for await`: its variable would keep the last event in memory while the next one is waited for.
      while (await sendNext(response, events, access));
      // A reader reconnects by itself after the maximum age.
      if (signal.aborted && !(signal.reason instanceof StreamExpired)) throw signal.reason;
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status >= 500 && !(error instanceof StreamStalled))
        this.#logger.error(problem.detail, error instanceof Error ? error.stack : undefined);
      response.write(`event: problem\ndata: ${JSON.stringify(problem)}\n\n`);
    } finally {
      await events.return?.();
    }
  }
}

type Events = AsyncIterableIterator<LoggedEvent>;

/** Returns false when there are no more events, or the reader may not have them. */
async function sendNext(response: ServerResponse, events: Events, access: StreamAccess): Promise<boolean> {
  const { done, value: event } = await events.next();
  if (done === true || access.signal.aborted) return false;
  const isRoom = response.write(`id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`);
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

function stateDeltasIn({ stateDeltas }: StreamQuery): { readonly stateDeltas?: boolean } {
  return stateDeltas === undefined ? {} : { stateDeltas: stateDeltas === 'true' };
}

function lastEventId(exchange: CurrentExchange): number | undefined {
  const id = exchange.header('last-event-id')?.trim();
  if (id === undefined || id === '') return undefined;
  if (/^\d{1,15}$/.test(id)) return Number(id);
  throw new InvalidInputError('must be the number of an event', 'Last-Event-ID');
}
