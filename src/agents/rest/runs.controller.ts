import { HttpCode, Logger, Param, Post, Res } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import { DtoPipe } from '../../sessions/rest/dto.pipe.js';
import { AnswersWithWork, OpensStream } from '../../sessions/rest/answer.interceptor.js';
import { ApiIds, ApiProblems, ApiResult } from '../../sessions/rest/api-responses.js';
import { EVENT_EXAMPLE, type EventDto } from '../../sessions/rest/dto/event.dto.js';
import { type CurrentExchange, Exchange } from '../../sessions/rest/http-exchange.js';
import { JsonBody, type SessionParams, SessionRoutes } from '../../sessions/rest/session-routes.js';
import { AccessChecks } from '../../sessions/transport/access-checks.js';
import { RequireAccess } from '../../sessions/transport/session-access.js';
import { AgentRegistry } from '../agent-registry.js';
import type { AgentRun, RunEvent } from '../agent-run.js';
import { AgentSessions } from '../agent-sessions.js';
import { ApiEventStream, ApiEvents, ApiRunProblems } from './agent-responses.js';
import { RunBody, StopBody, StoppedDto } from './agent.dto.js';
import { RUNS, STOPS } from '../run-writes.js';
import { sendRuns } from './sent-runs.js';

/** Runs the agent of an app in a session. The agent goes on if the client leaves. */
@ApiTags('agents')
@SessionRoutes('apps/:appName/users/:userId/sessions/:sessionId')
export class RunsController {
  readonly #logger = new Logger(RunsController.name);

  constructor(
    private readonly registry: AgentRegistry,
    private readonly agents: AgentSessions,
    private readonly access: AccessChecks,
  ) {}

  @Post('run')
  @HttpCode(200)
  @RequireAccess('write', 'session', RUNS)
  @AnswersWithWork()
  @ApiOperation({ operationId: 'runAgent', summary: 'Answers a message, and returns the events of the answer' })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: RunBody })
  @ApiEvents('The stored events, without the message.')
  @ApiRunProblems()
  async run(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(RunBody)) body: Readonly<RunBody>,
  ): Promise<readonly EventDto[]> {
    const { events } = await this.#start(key, body).result;
    return events;
  }

  @Post('run_sse')
  @HttpCode(200)
  @RequireAccess('write', 'session', RUNS)
  @OpensStream()
  @ApiOperation({
    operationId: 'streamAgent',
    summary: 'Answers a message, and streams the events of the answer',
    description:
      'Server-sent events, each an `Event` as JSON in `data`; stored ones have their number as `id`. With `streaming`, partial ' +
      'events come as well. A failure is a last event of the type `problem`. The agent goes on if the connection breaks: ' +
      'send the same `invocationId` again, or read the events of the session.',
  })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: RunBody })
  @ApiEventStream(`id: 1\ndata: ${JSON.stringify(EVENT_EXAMPLE)}\n\n`)
  @ApiRunProblems()
  async stream(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(RunBody)) body: Readonly<RunBody>,
    @Exchange() exchange: CurrentExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const sent = { key, withPartials: body.streaming === true, textOf };
    await sendRuns([() => this.#start(key, body)], sent, exchange, this.access, this.#logger);
  }

  @Post('stop')
  @HttpCode(200)
  @RequireAccess('write', 'session', STOPS)
  @ApiOperation({
    operationId: 'stopAgent',
    summary: 'Stops the run of a session, wherever it runs, or takes a waiting message back',
  })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: StopBody })
  @ApiResult(200, 'Whether there was something to stop.', { type: StoppedDto })
  @ApiProblems(403, 404, 413, 415)
  async stop(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(StopBody)) { invocationId }: Readonly<StopBody>,
  ): Promise<StoppedDto> {
    return { stopped: await this.agents.stop({ ...key, invocationId }) };
  }

  #start(key: SessionParams, body: Readonly<RunBody>): AgentRun {
    const { newMessage, policy, quietMs, invocationId, retry, stateDelta } = body;
    return this.registry.run({ ...key, newMessage, policy, quietMs, invocationId, retry, stateDelta, create: false });
  }
}

function textOf(event: RunEvent): string {
  const id = 'seq' in event ? `id: ${String(event.seq)}\n` : '';
  return `${id}data: ${JSON.stringify(event)}\n\n`;
}
