import { Inject, Logger, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { type CurrentExchange, Exchange } from '../../sessions/rest/http-exchange.js';
import { requestReader } from '../../sessions/rest/read-request.js';
import { Route } from '../../sessions/rest/route.js';
import { SessionRoutes } from '../../sessions/rest/session-routes.js';
import { AccessChecks } from '../../sessions/transport/access-checks.js';
import type { AgentRegistry } from '../agent-registry.js';
import type { RunEvent } from '../turn/run-events.js';
import { STREAM_AGENT, SERVED_REGISTRY } from '../surface/agent-operations.js';
import type { RunMessage } from '../surface/agent-shapes.js';
import { sendRuns } from './sent-runs.js';

const readRequest = requestReader<SessionKey & RunMessage>(STREAM_AGENT);

/** Streams the run of an agent. The agent goes on if the client leaves. */
@ApiTags('agents')
@SessionRoutes('')
export class RunStreamController {
  readonly #logger = new Logger(RunStreamController.name);

  constructor(
    @Inject(SERVED_REGISTRY.provide) private readonly registry: AgentRegistry,
    private readonly access: AccessChecks,
  ) {}

  @Route('streamAgent', STREAM_AGENT)
  async streamAgent(
    @Exchange() exchange: CurrentExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const { streaming = false, ...run } = readRequest(exchange);
    const { appName, userId, sessionId } = run;
    const sent = { key: { appName, userId, sessionId }, withPartials: streaming, textOf: formatStreamEvent, textOfEnd };
    await sendRuns([() => this.registry.run({ ...run, create: false })], sent, exchange, this.access, this.#logger);
  }
}

/** A proxy may end the stream of a server that is gone as if it was complete. */
const textOfEnd = 'event: end\ndata: {}\n\n';

function formatStreamEvent(event: RunEvent): string {
  const id = 'seq' in event ? `id: ${String(event.seq)}\n` : '';
  return `${id}data: ${JSON.stringify(event)}\n\n`;
}
