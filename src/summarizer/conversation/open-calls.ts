import { isByUser } from '../../sessions/domain/event-inspection.js';
import type { LoggedEvent } from '../../sessions/domain/event.js';
import { answeredCalls, callsIn, longRunningCallsIn } from '../../sessions/domain/tool-pairs.js';

interface OpenCall {
  readonly place: number;
  readonly event: LoggedEvent;
}

/** The calls that no later event answers for good, each with the place of its event. */
export function openCalls(events: readonly LoggedEvent[]): Map<string, number> {
  const open = new Map<string, OpenCall>();
  for (const [place, event] of events.entries()) {
    for (const key of answeredCalls(event)) {
      const call = open.get(key);
      if (call && !isReceipt(event, key, call.event)) open.delete(key);
    }
    for (const key of callsIn(event)) open.set(key, { place, event });
  }
  return new Map(Array.from(open, ([key, { place }]) => [key, place]));
}

/** Of the calls that `events` leave open, those that `later` answers; reads no more of it than it takes to know. */
export async function answeredLater(
  events: readonly LoggedEvent[],
  later: AsyncIterable<LoggedEvent>,
): Promise<ReadonlySet<string>> {
  const open = openCalls(events);
  const answered = new Set<string>();
  if (open.size === 0) return answered;
  for await (const event of later) {
    for (const key of answeredCalls(event)) if (open.delete(key)) answered.add(key);
    for (const key of callsIn(event)) open.delete(key);
    if (open.size === 0) break;
  }
  return answered;
}

/** What a long-running tool answers while the agent is still at it only says that it began; what it comes to follows. */
function isReceipt(answer: LoggedEvent, key: string, call: LoggedEvent): boolean {
  if (!longRunningCallsIn(call).includes(key)) return false;
  return !isByUser(answer) && answer.invocationId === call.invocationId;
}
