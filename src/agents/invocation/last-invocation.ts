import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import { invocationOfMessage, isControlEvent } from '../turn/control-events.js';

/** An invocation among other events. */
interface FoundInvocation {
  readonly invocationId: string;
  /** Its first message. */
  readonly messageSeq: number;
  readonly events: readonly LoggedEvent[];
}

/** The last invocation in a view, if its message came through `AgentSessions`. */
export function lastInvocation(events: readonly LoggedEvent[]): FoundInvocation | undefined {
  const invocationId = lastSaid(events)?.invocationId;
  if (!invocationId) return undefined;
  const own = events.filter((event) => event.invocationId === invocationId);
  const message = own.find((event) => invocationOfMessage(event) !== undefined);
  return message && { invocationId, messageSeq: message.seq, events: own };
}

/** Whether events before these cannot change what {@link lastInvocation} finds. */
export function showsLastInvocation(events: readonly LoggedEvent[]): boolean {
  const last = lastSaid(events);
  return last !== undefined && (!last.invocationId || lastInvocation(events) !== undefined);
}

function lastSaid(events: readonly LoggedEvent[]): LoggedEvent | undefined {
  return events.findLast((event) => !isControlEvent(event) && event.author !== 'system');
}
