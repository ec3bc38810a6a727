import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Controller, Get, Logger, Param, Query, Res, UseFilters, UseGuards } from '@nestjs/common';
import { InvalidInputError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { SessionService } from '../session.service.js';
import { AccessGuard, Needs } from './access.guard.js';
import { EnvelopePipe } from './envelope.pipe.js';
import { StreamQuery, numberOf } from './envelopes.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { ProblemFilter } from './problem.filter.js';
import { problemOf } from '../faces/problems.js';
import type { SessionParams } from './route-params.js';

/** So that nothing on the way takes a quiet connection for a dead one. */
const KEEP_ALIVE_MS = 15_000;

/** Events of a session as they come, as server-sent events whose ids are numbers of the log. */
@Controller('apps/:appName/users/:userId/sessions/:sessionId/events/stream')
@UseGuards(AccessGuard)
@UseFilters(ProblemFilter)
export class EventStreamController {
  readonly #logger = new Logger(EventStreamController.name);

  constructor(private readonly sessions: SessionService) {}

  /** From now on, or after `afterSeq`; a browser that reconnects goes on where it was by `Last-Event-ID`. */
  @Get()
  @Needs('read', 'session')
  async stream(
    @Param() key: SessionParams,
    @Query(new EnvelopePipe(StreamQuery)) query: Readonly<StreamQuery>,
    @Exchange() exchange: CurrentExchange,
    // Says that Nest is not to answer.
    @Res() _response: unknown,
  ): Promise<void> {
    const { lastSeq } = await this.sessions.listEvents({ ...key, limit: 1, order: 'desc' });
    const resumed = lastEventId(exchange);
    const afterSeq = resumed ?? numberOf(query.afterSeq) ?? lastSeq;
    if (afterSeq > lastSeq) {
      const name = resumed === undefined ? 'afterSeq' : 'Last-Event-ID';
      throw new InvalidInputError(`is beyond the last event, ${lastSeq}`, name);
    }
    const response = exchange.takeOver();
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    // Whoever left while the session was looked for is not heard to close any more.
    if (response.socket?.destroyed !== false) gone.abort();
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      // What compresses answers on the way would keep events back until there are enough of them.
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    });
    // A HEAD has its answer by now; what came would never end it, nor let the connection go on.
    if (exchange.request.method === 'HEAD') {
      response.end();
      return;
    }
    response.flushHeaders();
    const keepAlive = setInterval(() => response.write(': still here\n\n'), KEEP_ALIVE_MS);
    try {
      await this.#sendAll(response, this.sessions.watch({ ...key, afterSeq, signal: gone.signal }));
    } finally {
      clearInterval(keepAlive);
      response.end();
    }
  }

  /** No faster than they are read, so that a slow reader holds little memory. */
  async #sendAll(response: ServerResponse, events: AsyncIterable<LoggedEvent>): Promise<void> {
    try {
      for await (const event of events) {
        const isRoom = response.write(`id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`);
        if (!isRoom) await roomIn(response);
      }
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status >= 500) this.#logger.error(problem.detail, error instanceof Error ? error.stack : undefined);
      response.write(`event: problem\ndata: ${JSON.stringify(problem)}\n\n`);
    }
  }
}

/** Until there is room to write, or nobody left to read. */
async function roomIn(response: ServerResponse): Promise<void> {
  if (response.closed) return;
  const settled = new AbortController();
  const { signal } = settled;
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } finally {
    settled.abort();
  }
}

function lastEventId(exchange: CurrentExchange): number | undefined {
  const id = exchange.header('last-event-id')?.trim();
  if (id === undefined || id === '') return undefined;
  if (/^\d{1,15}$/.test(id)) return Number(id);
  throw new InvalidInputError('must be the number of an event', 'Last-Event-ID');
}
