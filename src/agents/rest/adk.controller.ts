import { randomUUID } from 'node:crypto';
import { Controller, Get, HttpCode, Inject, Logger, Post, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { ApiProblem, ApiResult, PROBLEMS } from '../../sessions/rest/api-responses.js';
import { DtoPipe } from '../../sessions/rest/dto.pipe.js';
import { EVENT_EXAMPLE } from '../../sessions/surface/event-shapes.js';
import { AnswersWithWork, OpensStream } from '../../sessions/rest/answer.interceptor.js';
import { type CurrentExchange, Exchange } from '../../sessions/rest/http-exchange.js';
import { JsonBody, SessionRoutes } from '../../sessions/rest/session-routes.js';
import { AccessChecks } from '../../sessions/transport/access-checks.js';
import type { Problem } from '../../sessions/transport/problems.js';
import { RequireAccess } from '../../sessions/transport/session-access.js';
import type { AgentRegistry } from '../agent-registry.js';
import { SERVED_REGISTRY } from '../surface/agent-operations.js';
import type { AgentRun } from '../ask/agent-run.js';
import type { RunEvent } from '../turn/run-events.js';
import type { ApprovalAnswer } from '../invocation/approval-requests.js';
import { beginInOrder, withoutRepeated } from '../ask/run-reading.js';
import { ApiRunStream, ApiEvents, ApiRunProblems } from './agent-responses.js';
import { AdkNamesPipe, AdkProblemFilter } from './adk-conventions.js';
import { type AdkRun, AdkRunBody, RUNS_AS_ADK, adkAnswers, adkPlace } from './adk-requests.js';
import { ForeignSiteGuard } from './foreign-site.guard.js';
import { sendRuns } from './sent-runs.js';

/** The routes by which ADK's web UI and clients find and run agents. */
@ApiTags('agents')
@Controller()
@UseGuards(ForeignSiteGuard)
@UseFilters(AdkProblemFilter)
export class AdkAppsController {
  constructor(
    @Inject(SERVED_REGISTRY.provide) private readonly registry: AgentRegistry,
    private readonly access: AccessChecks,
  ) {}

  @Get('list-apps')
  @ApiOperation({
    operationId: 'listApps',
    summary: 'Lists the apps that have an agent, as ADK does',
    description: 'Only those in which the caller may list sessions.',
  })
  @ApiResult(200, 'The names of the apps.', {
    schema: { type: 'array', items: { type: 'string' } },
    example: ['shop'],
  })
  @ApiProblem(401, PROBLEMS[401])
  @ApiProblem(429, PROBLEMS[429])
  @ApiProblem(500, PROBLEMS[500])
  async list(@Exchange() exchange: CurrentExchange): Promise<readonly string[]> {
    exchange.setSecurityHeaders();
    return this.access.appsOf(await this.registry.listApps(), exchange.request);
  }
}

/** ADK's routes that run an agent. The ids are in the body. */
@ApiTags('agents')
// The filter above is asked first.
@UseFilters(AdkProblemFilter)
@SessionRoutes('')
@UseGuards(ForeignSiteGuard)
export class AdkRunsController {
  readonly #logger = new Logger(AdkRunsController.name);

  constructor(
    @Inject(SERVED_REGISTRY.provide) private readonly registry: AgentRegistry,
    private readonly access: AccessChecks,
  ) {}

  @Post('run')
  @HttpCode(200)
  @RequireAccess('write', 'session', RUNS_AS_ADK, adkPlace)
  @AnswersWithWork()
  @ApiOperation({
    operationId: 'runAsAdk',
    summary: "Answers a message, as ADK's `/run`",
    description: 'A message that consists of responses of `adk_request_confirmation` answers approvals.',
  })
  @ApiBody({ type: AdkRunBody })
  @ApiEvents('The stored events, without the message.')
  @ApiRunProblems()
  async run(
    @JsonBody(new AdkNamesPipe(), new DtoPipe(AdkRunBody)) body: Readonly<AdkRun>,
  ): Promise<readonly LoggedEvent[]> {
    const events: LoggedEvent[] = [];
    for (const begun of beginInOrder(this.#starts(body))) events.push(...(await (await begun).result).events);
    return events.filter(withoutRepeated());
  }

  @Post('run_sse')
  @HttpCode(200)
  @RequireAccess('write', 'session', RUNS_AS_ADK, adkPlace)
  @OpensStream()
  @ApiOperation({
    operationId: 'streamAsAdk',
    summary: "Answers a message, and streams the answer as ADK's `/run_sse`",
    description:
      'Server-sent events of one line, `data` with an `Event` as JSON. With `streaming`, partial events come as well. A failure ' +
      'is a last event with `error`. The agent goes on if the connection breaks.',
  })
  @ApiBody({ type: AdkRunBody })
  @ApiRunStream(`data: ${JSON.stringify(EVENT_EXAMPLE)}\n\n`)
  @ApiRunProblems()
  async stream(
    @JsonBody(new AdkNamesPipe(), new DtoPipe(AdkRunBody)) body: Readonly<AdkRun>,
    @Exchange() exchange: CurrentExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const sent = {
      key: toSessionKey(body),
      withPartials: body.streaming === true,
      textOf: formatAdkEvent,
      textOfProblem,
    };
    await sendRuns(this.#starts(body), sent, exchange, this.access, this.#logger);
  }

  /** One run for a message, or for each answer. */
  #starts(body: Readonly<AdkRun>): (() => AgentRun)[] {
    const key = toSessionKey(body);
    const answers = adkAnswers({ ...body });
    if (answers.length > 0) {
      return answers.map(([approvalId, answer]) => () => {
        return this.registry.answerApproval({ ...key, approvalId, answer: answer as ApprovalAnswer });
      });
    }
    const { newMessage, policy, quietMs, invocationId, retry, stateDelta } = body;
    const run = { ...key, newMessage, policy, quietMs, invocationId, retry, stateDelta, create: false };
    return [() => this.registry.run(run)];
  }
}

function toSessionKey({ appName, userId, sessionId }: Readonly<AdkRun>): SessionKey {
  return { appName, userId, sessionId };
}

/** Clients of ADK expect one line, and an id and actions in each event. */
function formatAdkEvent(event: RunEvent): string {
  return `data: ${JSON.stringify({ id: randomUUID(), timestamp: Date.now(), actions: {}, ...event })}\n\n`;
}

function textOfProblem(problem: Problem): string {
  return `data: ${JSON.stringify({ error: problem.detail, ...problem })}\n\n`;
}
