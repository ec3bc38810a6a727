import type { EventInput } from '../sessions/domain/event.js';
import { AgentFailedError } from './agent-failed-error.js';
import { awaitsApproval } from './approvals.js';
import { failureIn } from './failure-reason.js';
import type { CheckedRun, RunStatus } from './run-request.js';

/** How a run ended, by the events of its invocation. Throws the failure that ended it. */
export function endOf(
  events: readonly EventInput[],
  invocationId: string,
  { key, agentName }: Pick<CheckedRun, 'key' | 'agentName'>,
): RunStatus {
  const failure = failureIn(events.at(-1) ?? {});
  if (failure) {
    const run = { ...key, invocationId, agentName };
    throw new AgentFailedError(failure.reason, { retryable: failure.retryable, run });
  }
  return statusOf(events);
}

/** How an invocation ended, by its last events. */
export function statusOf(events: readonly EventInput[]): RunStatus {
  const last = events.at(-1);
  if (last?.interrupted === true) return last.errorCode === 'STOPPED' ? 'stopped' : 'interrupted';
  return last && awaitsApproval(last) ? 'waiting' : 'completed';
}

/** Whether nothing ended the answer before it was done. */
export function isWhole(status: RunStatus): boolean {
  return status === 'completed' || status === 'waiting';
}
