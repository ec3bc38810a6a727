import { type Event, EventType, type Interrupt, type RunFinishedOutcome } from '@ag-ui/core';
import { isApprovalEvent, questionsIn } from '../../agents/approvals.js';
import { answerableMarks } from '../../agents/pending-approvals.js';
import type { RunResult } from '../../agents/run-request.js';
import { getFunctionCalls, isByUser } from '../../sessions/domain/event-inspection.js';
import type { EventLike } from '../../sessions/domain/event.js';
import type { Session } from '../../sessions/domain/session.js';
import type { SessionService } from '../../sessions/session.service.js';
import { answeredCalls, callKey, longRunningCallsIn } from '../../sessions/domain/tool-pairs.js';

/** What the agents of a session wait for. */
function interruptsOf(sessions: SessionService, session: Session): Interrupt[] {
  // A message of the user asks for nothing, whatever it holds.
  const questions = new Map(session.events.filter((event) => !isByUser(event)).flatMap(questionsIn));
  return [...answerableMarks(sessions, session)].map(([id, { tool, hint, expiresAt }]) => {
    const { call, payload, schema } = questions.get(id) ?? {};
    return {
      id,
      reason: tool === undefined ? 'confirmation' : 'tool_call',
      ...(hint !== undefined && { message: hint }),
      ...(call?.id !== undefined && { toolCallId: call.id }),
      ...(schema && { responseSchema: schema }),
      ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
      metadata: { ...(tool !== undefined && { tool }), ...(payload !== undefined && { payload }) },
    };
  });
}

/** How a run ended, for the one who began it. */
export function outcomeOf(
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
