import type { Counters } from '../sessions/domain/counters.js';
import type { EventInput, LoggedEvent } from '../sessions/domain/event.js';
import type { SessionKey } from '../sessions/domain/ids.js';
import { textsOf } from '../sessions/domain/event-inspection.js';

/** What there is to decide by whether a session needs a summary. No event had to be read for it. */
export interface SummaryFacts {
  readonly key: SessionKey;
  /** What the events count that no summary stands for yet. */
  readonly since: Counters;
  /** How long nothing was appended. */
  readonly idleMs: number;
  /** The newest event: the one that was just appended. */
  readonly event?: LoggedEvent | undefined;
}

/** Says whether it is time for a summary. */
export interface Threshold {
  (facts: SummaryFacts): boolean | Promise<boolean>;
  /** After so much idleness it may say something else, without an event that came: one time, or several. */
  readonly recheckMs?: number | readonly number[] | undefined;
  /** It never looks at the event, so that whoever asks later is told the same, and nothing has to be remembered. */
  readonly isOfCounts?: boolean | undefined;
}

/**
 * More turns of the user than this.
 *
 * @example SummarizerModule.forRoot({ when: turnsOver(50) });
 */
export function turnsOver(limit: number): Threshold {
  return ofCounts(({ since }) => since.turns > limit);
}

/**
 * More events than this.
 *
 * @example SummarizerModule.forRoot({ when: eventsOver(40) });
 */
export function eventsOver(limit: number): Threshold {
  return ofCounts(({ since }) => since.events > limit);
}

/**
 * More characters of text than this.
 *
 * @example SummarizerModule.forRoot({ when: contentOver(40_000) });
 */
export function contentOver(limit: number): Threshold {
  return ofCounts(({ since }) => since.contentLength > limit);
}

/**
 * More tokens than this, as far as `usageMetadata` reports them.
 *
 * @example SummarizerModule.forRoot({ when: tokensOver(4_000) });
 */
export function tokensOver(limit: number): Threshold {
  return ofCounts(({ since }) => since.tokens > limit);
}

/**
 * Nothing was appended for longer than this.
 *
 * @example SummarizerModule.forRoot({ when: anyOf(turnsOver(50), idleOver(3_600)) });
 */
export function idleOver(seconds: number): Threshold {
  const recheckMs = seconds * 1000;
  return Object.assign(
    ofCounts(({ idleMs }) => idleMs > recheckMs),
    { recheckMs },
  );
}

/**
 * The newest event has a part with more text than this.
 *
 * @example SummarizerModule.forRoot({ when: importantOver(2_000) });
 */
export function importantOver(limit: number): Threshold {
  return ({ event }) => event !== undefined && longestText(event) > limit;
}

/**
 * Met as soon as one of them is.
 *
 * @example SummarizerModule.forRoot({ when: anyOf(turnsOver(50), allOf(eventsOver(30), tokensOver(4_000))) });
 */
export function anyOf(...thresholds: readonly Threshold[]): Threshold {
  const isAnyMet = (facts: SummaryFacts): boolean | Promise<boolean> => doesOneSay(true, thresholds, facts);
  return Object.assign(isAnyMet, commonOf(thresholds));
}

/**
 * Met when all of them are; of no threshold at all, none is met.
 *
 * @example SummarizerModule.forRoot({ when: allOf(eventsOver(30), idleOver(600)) });
 */
export function allOf(...thresholds: readonly Threshold[]): Threshold {
  const areAllMet = (facts: SummaryFacts): boolean | Promise<boolean> => {
    const isOneMissing = doesOneSay(false, thresholds, facts);
    if (typeof isOneMissing === 'object') return isOneMissing.then((isMissing) => !isMissing);
    return !isOneMissing && thresholds.length > 0;
  };
  return Object.assign(areAllMet, commonOf(thresholds));
}

function ofCounts(threshold: Threshold): Threshold {
  return Object.assign(threshold, { isOfCounts: true });
}

function commonOf(thresholds: readonly Threshold[]): Pick<Threshold, 'recheckMs' | 'isOfCounts'> {
  return {
    recheckMs: thresholds.flatMap(recheckTimesOf),
    isOfCounts: thresholds.every(({ isOfCounts }) => isOfCounts),
  };
}

/** Asks one after the other until one says so. Nothing is waited for unless one of them has to be. */
function doesOneSay(
  wanted: boolean,
  [first, ...others]: readonly Threshold[],
  facts: SummaryFacts,
): boolean | Promise<boolean> {
  if (!first) return false;
  const goOn = (said: unknown): boolean | Promise<boolean> =>
    Boolean(said) === wanted || doesOneSay(wanted, others, facts);
  const said: unknown = first(facts);
  return isPromise(said) ? said.then(goOn) : goOn(said);
}

/** Without types, a condition may answer anything: `null`, or what it found. */
export function isPromise(said: unknown): said is Promise<unknown> {
  return typeof said === 'object' && said !== null && 'then' in said && typeof said.then === 'function';
}

/** All times of idleness at which a threshold may change its mind. */
export function recheckTimesOf({ recheckMs = [] }: Threshold): readonly number[] {
  return typeof recheckMs === 'number' ? [recheckMs] : recheckMs;
}

function longestText(event: EventInput): number {
  return textsOf(event).reduce((longest, text) => Math.max(longest, text.trim().length), 0);
}
