import type { EventInput } from '../sessions/domain/event.js';
import { awaitsApproval } from './approvals.js';
import type { RunStatus } from './run-request.js';

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
