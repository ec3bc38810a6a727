import type { SessionKey, UserKey } from '../../sessions/domain/values/ids.js';
import { PAGE } from '../../sessions/surface/ids-and-pages.js';
import { EVENT, EVENT_EXAMPLE } from '../../sessions/surface/event-shapes.js';
import { type RoutedOperation, providedBy, rowOf, surface } from '../../sessions/surface/operation.js';
import { SESSION, USER } from '../../sessions/surface/paths.js';
import { flag, json, listOf, optional, shape, text } from '../../sessions/surface/shape.js';
import { AgentRegistry } from '../agent-registry.js';
import { AgentSessions } from '../agent-sessions.js';
import type { ApprovalAnswer } from '../invocation/approval-requests.js';
import type { RunResult } from '../ask/run-request.js';
import { APPROVES, RUNS, STOPS } from '../run-writes.js';
import { AGENT_RUN, APPROVAL_PAGE, MESSAGE_EXAMPLE, PAYLOAD, RUN, type RunMessage } from './agent-shapes.js';

const STOPPED = shape<{ stopped: boolean }>('Stopped', {
  example: { stopped: true },
  fields: {
    stopped: flag(
      'Whether there was a run to stop, also one that waits for approvals, or a waiting message to take back.',
    ),
  },
});

/** What may go wrong with a run. */
export const RUN_PROBLEMS = {
  404: {
    code: 'AGENT_NOT_FOUND',
    description:
      'No agent answers messages of this app; or, with the code `SESSION_NOT_FOUND`, there is no such session.',
  },
  409: { code: 'TURN_HELD', description: 'Another turn runs, and the policy is `reject`.' },
  429: {
    code: 'RUN_LIMIT_REACHED',
    description:
      'Too many runs at once, or too much waits: send the message again. Or, with the code `BUDGET_EXCEEDED`, a budget is used up.',
  },
  503: {
    code: 'AGENTS_CLOSING',
    description:
      'This instance closes: send the request again with the same `invocationId`. Or, with the code `STORE_UNAVAILABLE`, the store ' +
      'did not answer.',
  },
} as const;

const APPROVAL_PROBLEMS = {
  404: { code: 'APPROVAL_NOT_FOUND', description: 'The session waits for no such approval.' },
  409: {
    code: 'APPROVAL_ANSWERED',
    description:
      'The approval has another answer already; or, with the code `APPROVAL_EXPIRED` or `APPROVAL_WITHDRAWN`, nobody can answer it any more.',
  },
};

const RUN_BODY = {
  name: 'RunAgent',
  example: { newMessage: MESSAGE_EXAMPLE, policy: 'enqueue', invocationId: 'inv-7' },
};

/** REST answers the events alone. */
const EVENTS = listOf(EVENT);
const eventsOf = ({ events }: RunResult): RunResult['events'] => events;

type AnswerRequest = SessionKey & ApprovalAnswer & { readonly approvalId: string };

export const SERVED_REGISTRY = providedBy('AgentsModule', AgentRegistry);
const SERVED_AGENTS = providedBy('AgentsModule', AgentSessions);
/** The agents that routes and fields serve. */
export const AGENT_PROVIDERS = [SERVED_REGISTRY, SERVED_AGENTS];

const row = rowOf<{ registry: AgentRegistry; agents: AgentSessions }>();

/** The agents of an app: run, stop, approvals. The agent goes on if the client leaves. */
export const AGENTS = surface({
  tag: 'agents',
  services: { registry: SERVED_REGISTRY.provide, agents: SERVED_AGENTS.provide },
  operations: {
    runAgent: row({
      summary: 'Answers a message, and returns the events of the answer',
      access: ['write', 'session', RUNS],
      request: RUN,
      result: EVENTS,
      run: ({ streaming: _ofStreams, ...request }: SessionKey & RunMessage, { services }) =>
        services.registry.run({ ...request, create: false }).result,
      route: {
        at: `POST ${SESSION}/run`,
        status: 200,
        answers: 'The stored events, without the message.',
        example: [EVENT_EXAMPLE],
        body: RUN_BODY,
        holds: 'what it did',
        reply: eventsOf,
        problems: RUN_PROBLEMS,
      },
      graphql: {
        type: 'mutation',
        name: 'runAgent',
        summary: 'Answers a message with the agent of the app',
        result: AGENT_RUN,
        isWork: true,
        counts: 'events',
      },
    }),
    stopAgent: row({
      summary: 'Stops the run of a session, wherever it runs, or takes a waiting message back',
      access: ['write', 'session', STOPS],
      request: { invocationId: optional(text('The run to stop. Default: the one that runs.')) },
      result: STOPPED,
      run: async (request: SessionKey & { readonly invocationId?: string }, { services }) => ({
        stopped: await services.agents.stop(request),
      }),
      route: {
        at: `POST ${SESSION}/stop`,
        status: 200,
        answers: 'Whether there was something to stop.',
        holds: 'little',
        body: { name: 'StopAgent', example: { invocationId: 'inv-7' } },
      },
      graphql: {
        type: 'mutation',
        name: 'stopAgent',
        summary:
          'Stops the run of a session, wherever it runs, or takes a waiting message back. False if there was nothing to stop',
        result: flag(),
        node: ({ stopped }: { readonly stopped: boolean }) => stopped,
      },
    }),
    listApprovals: row({
      summary: 'Lists the approvals of a user that wait for an answer',
      access: ['list', 'sessions'],
      isFiltered: true,
      request: { ...PAGE, limit: { ...PAGE.limit, description: 'Sessions per page.' } },
      result: APPROVAL_PAGE,
      run: (request: UserKey & { readonly limit?: number; readonly cursor?: string }, { services, within }) =>
        services.agents.pendingApprovals({ ...request, filter: within }),
      route: { at: `GET ${USER}/approvals`, answers: 'The pending approvals of a page of sessions.' },
      graphql: { type: 'query', name: 'pendingApprovals' },
    }),
    answerApproval: row({
      summary: 'Answers an approval, and goes on with the agent',
      description: 'Safe to repeat with the same answer.',
      access: ['write', 'session', APPROVES],
      request: {
        confirmed: flag('Whether the user approves.'),
        payload: optional(json('What the approval asks for, if it asks for more than a yes.', PAYLOAD)),
      },
      result: EVENTS,
      run({ confirmed, payload, ...approval }: AnswerRequest, { services }) {
        const answer = { confirmed, ...(payload !== undefined && { payload }) };
        return services.registry.answerApproval({ ...approval, answer }).result;
      },
      route: {
        at: `POST ${SESSION}/approvals/:approvalId`,
        status: 200,
        answers: 'The events that follow the answer.',
        example: [EVENT_EXAMPLE],
        body: { name: 'Answer', example: { confirmed: true, payload: { amount: 5 } } },
        holds: 'what it did',
        reply: eventsOf,
        problems: APPROVAL_PROBLEMS,
      },
      graphql: { type: 'mutation', name: 'answerApproval', result: AGENT_RUN, isWork: true, counts: 'events' },
    }),
  },
});

/** The stream of a run, see `RunStreamController`. */
export const STREAM_AGENT = {
  summary: 'Answers a message, and streams the events of the answer',
  description:
    'Server-sent events, each an `Event` as JSON in `data`; stored ones have their number as `id`. With `streaming`, partial ' +
    'events come as well. The last event is of the type `end`, or `problem` after a failure. Without either, the connection broke, and the agent goes on: ' +
    'send the same `invocationId` again, or read the events of the session.',
  access: ['write', 'session', RUNS],
  request: RUN,
  route: {
    at: `POST ${SESSION}/run_sse`,
    status: 200,
    answers: 'A stream that ends with the answer.',
    example: `id: 1\ndata: ${JSON.stringify(EVENT_EXAMPLE)}\n\n`,
    body: RUN_BODY,
    holds: 'a stream',
    problems: RUN_PROBLEMS,
  },
} as const satisfies RoutedOperation;
