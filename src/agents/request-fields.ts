import { fieldNames, requestCheck } from '../sessions/domain/values/request-fields.js';
import type { ExpireApprovalsRequest } from './ask/expired-approvals.js';
import type { AnswerRequest, RunRequest, StopRunRequest } from './ask/run-request.js';
import type { CloseAgentsOptions } from './agent-options.js';
import type { PendingApprovalsRequest } from './invocation/list-pending-approvals.js';

const OWNER = { appName: true, userId: true } as const;
const SESSION = { ...OWNER, sessionId: true } as const;
const OUTPUT = { outputKey: true, outputSchema: true, onMismatch: true } as const;

/** The fields of the requests of `AgentSessions`, by its methods. */
const AGENT_REQUEST_FIELDS = {
  run: fieldNames<RunRequest>({
    ...SESSION,
    ...OUTPUT,
    newMessage: true,
    policy: true,
    invocationId: true,
    retry: true,
    agentName: true,
    stateDelta: true,
    customMetadata: true,
    rewindTo: true,
    state: true,
    create: true,
    config: true,
    signal: true,
    quietMs: true,
  }),
  stop: fieldNames<StopRunRequest>({ ...SESSION, invocationId: true }),
  pendingApprovals: fieldNames<PendingApprovalsRequest>({ ...OWNER, limit: true, cursor: true, filter: true }),
  answerApproval: fieldNames<AnswerRequest>({
    ...SESSION,
    ...OUTPUT,
    approvalId: true,
    answer: true,
    schema: true,
    schemas: true,
    policy: true,
    config: true,
    signal: true,
  }),
  expireApprovals: fieldNames<ExpireApprovalsRequest>({ ...OWNER, ...OUTPUT }),
  close: fieldNames<CloseAgentsOptions>({ drainMs: true }),
} as const;

/**
 * Checks the request of a method of `AgentSessions`.
 *
 * @example checkedAgentRequest('run', { ...key, newMessage: 'Hello', polcy: 'enqueue' }); // throws: `did you mean policy?`
 */
export const checkedAgentRequest = requestCheck(AGENT_REQUEST_FIELDS);
