import { isAnchor, isByUser } from '../../sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import { answeredCalls, callsIn, longRunningCallsIn } from '../../sessions/domain/view/tool-pairs.js';

/** A tool call without a response counts as pending for this many events after it. */
export const MAX_PENDING_EVENTS = 100;

export interface CutPointsOptions {
  /** Whether there are no events before these. Otherwise calls may be there. */
  readonly isWhole: boolean;
  /** The open calls of these events that later events answer; `undefined` if there are no later events yet. */
  readonly answeredLater?: ReadonlySet<string> | undefined;
  /** Whether the summary was requested with `force`. */
  readonly isForced?: boolean | undefined;
}

/**
 * Where a conversation may be cut: cut point `n` is before event `n`. A cut between turns is preferred, else anywhere but
 * between a tool call and its response.
 *
 * An automatic summary is delayed if that allows a better cut: until the next turn is longer, or until the last message
 * of the user is answered. A forced summary is not delayed.
 */
export class CutPoints {
  readonly #events: readonly LoggedEvent[];
  readonly #isWhole: boolean;
  /** For each cut point, whether it is between a call and its response. */
  readonly #splitsCall: readonly boolean[];
  readonly #open: ReadonlyMap<string, number>;
  readonly #answeredLater: ReadonlySet<string> | undefined;
  readonly #isForced: boolean;

  constructor(events: readonly LoggedEvent[], { isWhole, answeredLater, isForced = false }: CutPointsOptions) {
    this.#events = events;
    this.#isWhole = isWhole;
    this.#isForced = isForced;
    this.#splitsCall = pointsThatSplitCalls(events, isWhole);
    this.#open = openCalls(events);
    this.#answeredLater = answeredLater;
  }

  /** The last valid cut point up to `wanted`; 0 if there is none. */
  lastUpTo(wanted: number): number {
    const last = Math.min(wanted, this.#firstPendingCall(wanted));
    for (let point = last; point > 0; point--) if (this.#isBetweenTurns(point)) return point;
    // Earlier events may contain a cut between turns.
    if (!this.#isWhole) return 0;
    // The next cut between turns is not reached yet.
    if (!this.#isForced && this.#hasTurnsAfter(last)) return 0;
    for (let point = last; point > 0; point--) if (!this.#splitsCall[point]) return point;
    return 0;
  }

  /** If a pending call prevents the cut, how many more events until it no longer counts as pending; else 0. */
  eventsToWait(wanted: number): number {
    const call = this.#firstPendingCall(wanted);
    return call <= wanted ? call + MAX_PENDING_EVENTS - wanted + 1 : 0;
  }

  /** The cut stays before a pending call, also if the conversation continued. */
  #firstPendingCall(wanted: number): number {
    const isPending = (key: string, index: number): boolean =>
      this.#answeredLater ? this.#answeredLater.has(key) : index >= wanted - MAX_PENDING_EVENTS;
    const pending = [...this.#open].flatMap(([key, index]) => (isPending(key, index) ? [index] : []));
    return Math.min(Infinity, ...pending);
  }

  #hasTurnsAfter(point: number): boolean {
    return this.#events.slice(point + 1).some(isAnchor);
  }

  #isBetweenTurns(point: number): boolean {
    if (this.#splitsCall[point]) return false;
    const [last, next] = [this.#events[point - 1], this.#events[point]];
    if (next) return isAnchor(next);
    // The last message of the user is not answered yet.
    return last !== undefined && (this.#isForced || !isByUser(last));
  }
}

function pointsThatSplitCalls(events: readonly LoggedEvent[], isWhole: boolean): boolean[] {
  const calledAt = new Map<string, number>();
  /** For each cut point, how many more (or fewer) call-response pairs it splits than the one before. */
  const changes = Array.from({ length: events.length + 2 }, () => 0);
  for (const [index, event] of events.entries()) {
    for (const key of answeredCalls(event)) {
      // A call that is not among these events is before them, unless there are none.
      const call = calledAt.get(key) ?? (isWhole ? index : -1);
      changes[call + 1] = (changes[call + 1] ?? 0) + 1;
      changes[index + 1] = (changes[index + 1] ?? 0) - 1;
    }
    for (const key of callsIn(event)) calledAt.set(key, index);
  }
  let split = 0;
  return changes.map((change) => (split += change) > 0);
}

interface OpenCall {
  readonly index: number;
  readonly event: LoggedEvent;
}

/** The calls that no later event answers, each with the index of its event. */
export function openCalls(events: readonly LoggedEvent[]): Map<string, number> {
  const open = new Map<string, OpenCall>();
  for (const [index, event] of events.entries()) {
    for (const key of answeredCalls(event)) {
      const call = open.get(key);
      if (call && !isReceipt(event, key, call.event)) open.delete(key);
    }
    for (const key of callsIn(event)) open.set(key, { index, event });
  }
  return new Map(Array.from(open, ([key, { index }]) => [key, index]));
}

/** The open calls of `events` that `later` answers. Stops to read `later` as soon as the result is known. */
export async function callsAnsweredIn(
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

/** The first response of a long-running tool, within the same invocation, only confirms that the tool has started. */
function isReceipt(response: LoggedEvent, key: string, call: LoggedEvent): boolean {
  if (!longRunningCallsIn(call).includes(key)) return false;
  return !isByUser(response) && response.invocationId === call.invocationId;
}
