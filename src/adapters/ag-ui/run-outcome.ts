import { type Event, EventType, type Interrupt, type RunFinishedOutcome } from '@ag-ui/core';
import { approvalMarksIn, isApprovalEvent } from '../../agents/approvals.js';
import type { RunResult } from '../../agents/run-request.js';
import { getFunctionCalls } from '../../sessions/domain/event-inspection.js';
import type { EventInput } from '../../sessions/domain/event.js';
import { isPlainObject } from '../../sessions/domain/json-value.js';
import type { Session } from '../../sessions/domain/session.js';
import { answeredCalls, callKey, longRunningCallsIn } from '../../sessions/domain/tool-pairs.js';

/** What the agents of a session wait for. */
export function interruptsOf(session: Session): Interrupt[] {
  const calls = new Map(session.events.flatMap(getFunctionCalls).map((call) => [call.id, call] as const));
  return [...approvalMarksIn(session.id, session.metadata)].map(([id, { tool, hint }]) => {
    const { originalFunctionCall, toolConfirmation } = calls.get(id)?.args ?? {};
    const toolCallId = isPlainObject(originalFunctionCall) ? originalFunctionCall.id : undefined;
    const payload = isPlainObject(toolConfirmation) ? toolConfirmation.payload : undefined;
    return {
      id,
      reason: tool === undefined ? 'confirmation' : 'tool_call',
      ...(hint !== undefined && { message: hint }),
      ...(typeof toolCallId === 'string' && { toolCallId }),
      metadata: { ...(tool !== undefined && { tool }), ...(payload !== undefined && { payload }) },
    };
  });
}

/** How a run ended, for the one who began it. */
export function outcomeOf({
  status,
  events,
  session,
}: Pick<RunResult, 'status' | 'events' | 'session'>): RunFinishedOutcome {
  if (status === 'waiting') return waitingOutcome(session);
  return status === 'completed' ? successOf(events) : { type: 'cancelled' };
}

/** How it ended, for those who watched it. */
export function outcomeInLog(events: readonly EventInput[], session: Session): RunFinishedOutcome | 'failed' {
  const last = events.at(-1);
  if (last?.errorCode === 'FAILED' || last?.errorCode === 'DIED') return 'failed';
  if (last?.errorCode !== undefined && last.interrupted === true) return { type: 'cancelled' };
  return last?.actions?.awaitsApproval ? waitingOutcome(session) : successOf(events);
}

export function waitingOutcome(session: Session): RunFinishedOutcome {
  const interrupts = interruptsOf(session);
  return interrupts.length > 0 ? { type: 'interrupt', interrupts } : { type: 'success' };
}

/** A run that called tools of the client ends, and the client sends the results. */
function successOf(all: readonly EventInput[]): RunFinishedOutcome {
  const events = all.filter((event) => !isApprovalEvent(event));
  const open = new Set(events.flatMap((event) => [...longRunningCallsIn(event)]));
  for (const key of events.flatMap((event) => [...answeredCalls(event)])) open.delete(key);
  const calls = events.flatMap(getFunctionCalls).filter((call) => open.has(callKey(call)));
  const ids = calls.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return { type: 'success', ...(ids.length > 0 && { pendingToolCallIds: ids }) };
}

export function started(threadId: string, runId: string): Event {
  return { type: EventType.RUN_STARTED, threadId, runId };
}

export function finished(threadId: string, runId: string, outcome: RunFinishedOutcome): Event {
  return { type: EventType.RUN_FINISHED, threadId, runId, outcome };
}
