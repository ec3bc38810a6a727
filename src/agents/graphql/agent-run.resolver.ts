import { Inject } from '@nestjs/common';
import { Args, Subscription } from '@nestjs/graphql';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { CurrentRequest, SessionFields, type SubscriptionRequest } from '../../sessions/graphql/access.guard.js';
import { EventStream } from '../../sessions/graphql/event-stream.js';
import { graphqlErrorOf } from '../../sessions/graphql/graphql-errors.js';
import { argumentsType, objectTypeOf } from '../../sessions/graphql/make-types.js';
import { omitNulls } from '../../sessions/graphql/omit-nulls.js';
import { KEY_FIELDS } from '../../sessions/surface/ids-and-pages.js';
import { AccessChecks } from '../../sessions/transport/access-checks.js';
import { RequireAccess } from '../../sessions/transport/session-access.js';
import type { AgentRegistry } from '../agent-registry.js';
import { SERVED_REGISTRY } from '../surface/agent-operations.js';
import type { RunEvent } from '../turn/run-events.js';
import { RunReading } from '../ask/run-reading.js';
import { RUNS } from '../run-writes.js';
import { RUN, RUN_EVENT, type RunMessage, STREAMING, runEventNode } from '../surface/agent-shapes.js';

const RunEventType = objectTypeOf(RUN_EVENT);
const Run = argumentsType({ ids: Object.keys(KEY_FIELDS), request: { ...RUN, streaming: STREAMING } });

/** Streams the run of an agent. */
@SessionFields()
export class AgentRunResolver {
  constructor(
    @Inject(SERVED_REGISTRY.provide) private readonly registry: AgentRegistry,
    private readonly access: AccessChecks,
  ) {}

  @Subscription(() => RunEventType, {
    description:
      'Answers a message, and streams the events of the answer. The agent goes on if the connection breaks: repeat it with ' +
      'the same invocationId.',
    resolve: arrived,
  })
  @RequireAccess('write', 'session', RUNS)
  async agentRun(
    @Args({ type: () => Run }) args: SessionKey & RunMessage,
    @CurrentRequest() request: SubscriptionRequest,
  ): Promise<EventStream<RunEvent>> {
    const { streaming = false, ...run } = omitNulls(args);
    const { appName, userId, sessionId } = run;
    const reading = await RunReading.open([() => this.registry.run({ ...run, create: false })], streaming);
    const asked = { action: 'read', target: 'session', appName, userId, sessionId, request } as const;
    const access = this.access.followStream(asked);
    access.signal.addEventListener('abort', () => void reading.return());
    return new EventStream(reading, access, true);
  }
}

/** Over HTTP, Apollo runs a subscription like a query, without an event. */
function arrived(event: RunEvent | undefined): object {
  if (event) return runEventNode(event);
  throw graphqlErrorOf(new InvalidInputError('is a subscription: ask for it over graphql-ws', 'agentRun'));
}
