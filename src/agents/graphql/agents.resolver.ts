import { Args, Info, Mutation, Query, Subscription } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { InvalidInputError } from '../../sessions/domain/errors.js';
import type { SessionKey, UserKey } from '../../sessions/domain/ids.js';
import { checkedLimit } from '../../sessions/domain/paging.js';
import { CurrentRequest, SessionFields, type SubscriptionRequest } from '../../sessions/graphql/access.guard.js';
import { EventStream } from '../../sessions/graphql/event-stream.js';
import { graphqlErrorOf } from '../../sessions/graphql/graphql-errors.js';
import { AnswersWithWork } from '../../sessions/graphql/limits/document-cost.js';
import { ResponseBudget, costOf } from '../../sessions/graphql/limits/response-budget.js';
import { omitNulls } from '../../sessions/graphql/types/arguments.js';
import { pageInfoOf } from '../../sessions/graphql/types/object-types.js';
import type { SessionFilter } from '../../sessions/domain/submitted-metadata.js';
import { AccessChecks } from '../../sessions/transport/access-checks.js';
import { AccessFilter } from '../../sessions/transport/access-filter.js';
import { RequireAccess } from '../../sessions/transport/session-access.js';
import { AgentRegistry } from '../agent-registry.js';
import type { AgentRun, RunEvent } from '../agent-run.js';
import { AgentSessions } from '../agent-sessions.js';
import { RunReading } from '../run-reading.js';
import { APPROVES, RUNS, STOPS } from '../run-writes.js';
import {
  AgentRunObject,
  AnswerApprovalArguments,
  PendingApprovalConnectionObject,
  PendingApprovalsArguments,
  RunAgentArguments,
  RunEventObject,
  type RunFieldRequest,
  StopAgentArguments,
  StreamAgentArguments,
  runEventNode,
  runNode,
} from './agent.types.js';

interface AnswerFieldRequest extends SessionKey {
  readonly approvalId: string;
  readonly confirmed: boolean;
  readonly payload?: unknown;
}

interface PageRequest extends UserKey {
  readonly first?: number | undefined;
  readonly after?: string | undefined;
}

/** The agents of an app: run, stop, approvals. */
@SessionFields()
export class AgentsResolver {
  constructor(
    private readonly registry: AgentRegistry,
    private readonly agents: AgentSessions,
    private readonly access: AccessChecks,
  ) {}

  @Query(() => PendingApprovalConnectionObject, { description: 'The approvals of a user that wait for an answer.' })
  @RequireAccess('list', 'sessions')
  async pendingApprovals(
    @Args({ type: () => PendingApprovalsArguments }) args: PageRequest,
    @AccessFilter() filter: SessionFilter | undefined,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PendingApprovalConnectionObject> {
    const { first, after, ...user } = omitNulls(args);
    const request = { ...user, limit: checkedLimit(first, 'first'), cursor: after, filter };
    const { approvals, nextCursor } = await ResponseBudget.of(info).read(
      () => this.agents.pendingApprovals(request),
      (page) => costOf(page.approvals, info, 'nodes'),
    );
    return { nodes: approvals, pageInfo: pageInfoOf(nextCursor) };
  }

  @Mutation(() => AgentRunObject, { description: 'Answers a message with the agent of the app.' })
  @AnswersWithWork()
  @RequireAccess('write', 'session', RUNS)
  async runAgent(
    @Args({ type: () => RunAgentArguments }) args: RunFieldRequest,
    @Info() info: GraphQLResolveInfo,
  ): Promise<AgentRunObject> {
    return this.#resultOf(() => this.#start(args), info);
  }

  @Mutation(() => AgentRunObject, {
    description: 'Answers an approval, and goes on with the agent. Safe to repeat with the same answer.',
  })
  @AnswersWithWork()
  @RequireAccess('write', 'session', APPROVES)
  async answerApproval(
    @Args({ type: () => AnswerApprovalArguments }) args: AnswerFieldRequest,
    @Info() info: GraphQLResolveInfo,
  ): Promise<AgentRunObject> {
    const { confirmed, payload, ...key } = omitNulls(args);
    const answer = { confirmed, ...(payload !== undefined && { payload }) };
    return this.#resultOf(() => this.registry.answerApproval({ ...key, answer }), info);
  }

  @Mutation(() => Boolean, {
    description: 'Stops a run, wherever it runs, or takes a waiting message back. Whether there was one.',
  })
  @RequireAccess('write', 'session', STOPS)
  async stopAgent(
    @Args({ type: () => StopAgentArguments }) args: SessionKey & { readonly invocationId?: string },
  ): Promise<boolean> {
    return this.agents.stop(omitNulls(args));
  }

  @Subscription(() => RunEventObject, {
    description:
      'Answers a message, and streams the events of the answer. The agent goes on if the connection breaks: repeat it with ' +
      'the same invocationId.',
    resolve: arrived,
  })
  @RequireAccess('write', 'session', RUNS)
  async agentRun(
    @Args({ type: () => StreamAgentArguments }) args: RunFieldRequest & { readonly streaming?: boolean },
    @CurrentRequest() request: SubscriptionRequest,
  ): Promise<EventStream<RunEvent>> {
    const { streaming = false, ...run } = omitNulls(args);
    const { appName, userId, sessionId } = run;
    const reading = await RunReading.open([() => this.#start(run)], streaming);
    const asked = { action: 'read', target: 'session', appName, userId, sessionId, request } as const;
    const access = this.access.followStream(asked);
    access.signal.addEventListener('abort', () => void reading.return());
    return new EventStream(reading, access, true);
  }

  #start(args: RunFieldRequest): AgentRun {
    return this.registry.run({ ...omitNulls(args), create: false });
  }

  /** What it wrote is in the log, even if it is too large for an answer. */
  async #resultOf(start: () => AgentRun, info: GraphQLResolveInfo): Promise<AgentRunObject> {
    const result = await ResponseBudget.of(info).read(
      () => start().result,
      ({ events }) => costOf(events, info, 'events'),
    );
    return runNode(result);
  }
}

/** Over HTTP, Apollo runs a subscription like a query, without an event. */
function arrived(event: RunEvent | undefined): RunEventObject {
  if (event) return runEventNode(event);
  throw graphqlErrorOf(new InvalidInputError('is a subscription: ask for it over graphql-ws', 'agentRun'));
}
