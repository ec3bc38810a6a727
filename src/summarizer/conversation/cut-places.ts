import { isAnchor, isByUser } from '../../sessions/domain/event-inspection.js';
import type { LoggedEvent } from '../../sessions/domain/event.js';
import { answeredCalls, callsIn } from '../../sessions/domain/tool-pairs.js';
import { openCalls } from './open-calls.js';

/** So many events after it, nobody waits any more for the answer to a call. */
export const PATIENCE = 100;

export interface CutPlacesOptions {
  /** Whether there are no events before these; else calls may be there. */
  readonly isWhole: boolean;
  /** Of the calls that these events leave open, those that are answered; not known where what comes is not there yet. */
  readonly answeredLater?: ReadonlySet<string> | undefined;
}

/**
 * Where a conversation may be cut in two: place `n` lies before event `n`. Best between turns; where there is no such
 * place, anywhere but between a tool's call and its answer.
 */
export class CutPlaces {
  readonly #events: readonly LoggedEvent[];
  readonly #isWhole: boolean;
  /** For each place whether it lies between a call and its answer. */
  readonly #isTorn: readonly boolean[];
  readonly #open: ReadonlyMap<string, number>;
  readonly #answeredLater: ReadonlySet<string> | undefined;

  constructor(events: readonly LoggedEvent[], { isWhole, answeredLater }: CutPlacesOptions) {
    this.#events = events;
    this.#isWhole = isWhole;
    this.#isTorn = tornPlaces(events, isWhole);
    this.#open = openCalls(events);
    this.#answeredLater = answeredLater;
  }

  /** The last good place up to this one; 0 where there is none, or none is known. */
  lastUpTo(wanted: number): number {
    const place = Math.min(wanted, this.#firstAwaitedCall(wanted));
    for (let at = place; at > 0; at--) if (this.#isBetweenTurns(at)) return at;
    // There may be one between turns further back, or it is just too early for the one that comes.
    if (!this.#isWhole || this.#hasTurnsAfter(place)) return 0;
    for (let at = place; at > 0; at--) if (!this.#isTorn[at]) return at;
    return 0;
  }

  /** Where it is an awaited call that leaves no place: with how many more events nobody waits for it any more. Else 0. */
  eventsToWait(wanted: number): number {
    const call = this.#firstAwaitedCall(wanted);
    return call <= wanted ? call + PATIENCE - wanted + 1 : 0;
  }

  /** A call that still waits for its answer is not cut off from it, whatever was said meanwhile. */
  #firstAwaitedCall(wanted: number): number {
    const isAwaited = (key: string, place: number): boolean =>
      this.#answeredLater ? this.#answeredLater.has(key) : place >= wanted - PATIENCE;
    const awaited = [...this.#open].flatMap(([key, place]) => (isAwaited(key, place) ? [place] : []));
    return Math.min(Infinity, ...awaited);
  }

  #hasTurnsAfter(place: number): boolean {
    return this.#events.slice(place + 1).some(isAnchor);
  }

  #isBetweenTurns(place: number): boolean {
    if (this.#isTorn[place]) return false;
    const [last, next] = [this.#events[place - 1], this.#events[place]];
    // What the user said last waits for an answer.
    return next ? isAnchor(next) : last !== undefined && !isByUser(last);
  }
}

function tornPlaces(events: readonly LoggedEvent[], isWhole: boolean): boolean[] {
  const calledAt = new Map<string, number>();
  /** How many pairs more, or fewer, lie across this place than across the one before it. */
  const changes = Array.from({ length: events.length + 2 }, () => 0);
  for (const [index, event] of events.entries()) {
    for (const key of answeredCalls(event)) {
      // Where the call is not here it is further back, unless nothing is.
      const call = calledAt.get(key) ?? (isWhole ? index : -1);
      changes[call + 1] = (changes[call + 1] ?? 0) + 1;
      changes[index + 1] = (changes[index + 1] ?? 0) - 1;
    }
    for (const key of callsIn(event)) calledAt.set(key, index);
  }
  let across = 0;
  return changes.map((change) => (across += change) > 0);
}
