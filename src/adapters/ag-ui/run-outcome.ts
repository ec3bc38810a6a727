import { type Event, EventType, type Interrupt, type RunFinishedOutcome } from '@ag-ui/core';
import { approvalsIn, isApprovalEvent, type RunResult, waitingCalls } from '../../agents/index.js';
import type { EventLike, Session, SessionService } from '../../index.js';

/** What the agents of a session wait for. */
function interruptsOf(sessions: SessionService, session: Session): Interrupt[] {
  return approvalsIn(sessions, session).map(({ approvalId, tool, hint, expiresAt, call, payload, schema }) => ({
    id: approvalId,
    reason: tool === undefined ? 'confirmation' : 'tool_call',
    ...(hint !== undefined && { message: hint }),
    ...(call?.id !== undefined && { toolCallId: call.id }),
    ...(schema && { responseSchema: schema }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    metadata: { ...(tool !== undefined && { tool }), ...(payload !== undefined && { payload }) },
  }));
}

/** How a run ended, for the one who began it. */
export function toRunOutcome(
  sessions: SessionService,
  { status, events, session }: Pick<RunResult, 'status' | 'events' | 'session'>,
): RunFinishedOutcome {
  if (status === 'waiting') return waitingOutcome(sessions, session);
  return status === 'completed' ? successOf(events) : { type: 'cancelled' };
}

/** How it ended, for those who watched it. */
export function outcomeInLog(
  events: readonly EventLike[],
  sessions: SessionService,
  session: Session,
): RunFinishedOutcome | 'failed' {
  const last = events.at(-1);
  if (last?.errorCode === 'FAILED' || last?.errorCode === 'DIED') return 'failed';
  if (last?.errorCode !== undefined && last.interrupted === true) return { type: 'cancelled' };
  return last?.actions?.awaitsApproval ? waitingOutcome(sessions, session) : successOf(events);
}

export function waitingOutcome(sessions: SessionService, session: Session): RunFinishedOutcome {
  const interrupts = interruptsOf(sessions, session);
  return interrupts.length > 0 ? { type: 'interrupt', interrupts } : { type: 'success' };
}

/** A run that called tools of the client ends, and the client sends the results. */
function successOf(all: readonly EventLike[]): RunFinishedOutcome {
  const calls = waitingCalls(all.filter((event) => !isApprovalEvent(event)));
  const ids = calls.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return { type: 'success', ...(ids.length > 0 && { pendingToolCallIds: ids }) };
}

export function started(threadId: string, runId: string): Event {
  return { type: EventType.RUN_STARTED, threadId, runId };
}

export function finished(threadId: string, runId: string, outcome: RunFinishedOutcome): Event {
  return { type: EventType.RUN_FINISHED, threadId, runId, outcome };
}
