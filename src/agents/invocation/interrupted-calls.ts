import type { EventInput, LoggedEvent } from '../../sessions/domain/event.js';
import { getFunctionCalls, isByUser } from '../../sessions/domain/event-inspection.js';
import { problemResponses } from '../../sessions/domain/open-calls.js';
import type { Session } from '../../sessions/domain/session.js';
import { approvalMarksIn, questionsIn } from './approvals.js';
import type { InvocationTail } from './invocation-tail.js';

/**
 * Responses to the open calls of an invocation whose tools may have begun: nobody may call them again. If it waits, each tool is
 * done, or has not passed what it asks. If a process has left it in the middle, that is known only of calls that still ask.
 *
 * @param tail what the events leave behind
 */
export function interruptedResponses(
  invocationId: string,
  events: readonly LoggedEvent[],
  tail: Pick<InvocationTail, 'isWaiting' | 'openCalls'>,
  session: Pick<Session, 'id' | 'metadata'>,
): EventInput[] {
  if (tail.isWaiting) return [];
  const marks = approvalMarksIn(session.id, session.metadata);
  const asking = new Set<string | undefined>();
  for (const event of events.filter((each) => !isByUser(each))) {
    // A later call may have the same id.
    for (const { id } of getFunctionCalls(event)) asking.delete(id);
    for (const [approvalId, { call }] of questionsIn(event)) if (call && marks.has(approvalId)) asking.add(call.id);
  }
  const interrupted = tail.openCalls.filter(({ call: { id } }) => id === undefined || !asking.has(id));
  return problemResponses(interrupted, invocationId, 'The tool was interrupted.');
}
