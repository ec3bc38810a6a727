import { ConfigurationError } from '../config/configuration-error.js';
import { kindOf, describeSettingProblem } from '../config/setting.js';
import type { Counters } from '../sessions/domain/stored/counters.js';
import type { EventInput, LoggedEvent } from '../sessions/domain/event/event.js';
import type { SessionKey } from '../sessions/domain/values/ids.js';
import { listEventTexts } from '../sessions/domain/event/event-inspection.js';
import type { MEASURES } from './summary-outlook.js';

/** The state of a session, by which a threshold decides. No event is read for it. */
export interface SummaryFacts {
  readonly key: SessionKey;
  /** Counters of the events that no summary covers yet. */
  readonly since: Counters;
  /** Milliseconds since the last append. */
  readonly idleMs: number;
  /** The newest event, which was just appended. */
  readonly event?: LoggedEvent | undefined;
}

/** Decides whether a summary is due. */
export interface Threshold {
  (facts: SummaryFacts): boolean | Promise<boolean>;
  /** Idle times after which the result may change without a new event. */
  readonly recheckMs?: number | readonly number[] | undefined;
  /** Whether the threshold ignores the event: then a later check gives the same result, and no trigger is stored. */
  readonly isOfCounts?: boolean | undefined;
  /** What it compares, if it compares a number with a limit. */
  readonly measure?: Measure | undefined;
  /** The thresholds that `anyOf` or `allOf` combines. */
  readonly parts?: readonly Threshold[] | undefined;
}

/** What a threshold compares with its limit. */
export interface Measure {
  readonly kind: (typeof MEASURES)[number];
  readonly limit: number;
  readonly read: (facts: SummaryFacts) => number;
}

/**
 * More turns of the user than this.
 *
 * @example SummarizerModule.forRoot({ when: turnsOver(50) });
 */
export function turnsOver(limit: number): Threshold {
  return ofCounts('turnsOver', { kind: 'turns', limit, read: ({ since }) => since.turns });
}

/**
 * More events than this.
 *
 * @example SummarizerModule.forRoot({ when: eventsOver(40) });
 */
export function eventsOver(limit: number): Threshold {
  return ofCounts('eventsOver', { kind: 'events', limit, read: ({ since }) => since.events });
}

/**
 * More characters of text than this.
 *
 * @example SummarizerModule.forRoot({ when: contentOver(40_000) });
 */
export function contentOver(limit: number): Threshold {
  return ofCounts('contentOver', { kind: 'contentLength', limit, read: ({ since }) => since.contentLength });
}

/**
 * More tokens than this, as far as `usageMetadata` reports them.
 *
 * @example SummarizerModule.forRoot({ when: tokensOver(4_000) });
 */
export function tokensOver(limit: number): Threshold {
  return ofCounts('tokensOver', { kind: 'tokens', limit, read: ({ since }) => since.tokens });
}

/**
 * Nothing was appended for longer than this.
 *
 * @example SummarizerModule.forRoot({ when: anyOf(turnsOver(50), idleOver(3_600)) });
 */
export function idleOver(seconds: number): Threshold {
  const threshold = ofCounts('idleOver', { kind: 'idleSeconds', limit: seconds, read: ({ idleMs }) => idleMs / 1000 });
  return Object.assign(threshold, { recheckMs: seconds * 1000 });
}

/**
 * The newest event has a part with more text than this.
 *
 * @example SummarizerModule.forRoot({ when: importantOver(2_000) });
 */
export function importantOver(limit: number): Threshold {
  return measured('importantOver', {
    kind: 'importantLength',
    limit,
    read: ({ event }) => (event ? longestText(event) : 0),
  });
}

/** The threshold of each setting. */
export const THRESHOLDS: { readonly [Kind in Measure['kind']]: (limit: number) => Threshold } = {
  turns: turnsOver,
  events: eventsOver,
  contentLength: contentOver,
  tokens: tokensOver,
  idleSeconds: idleOver,
  importantLength: importantOver,
};

/** Never met. */
export const NEVER: Threshold = Object.assign(() => false, { isOfCounts: true, parts: [] });

/**
 * Met if at least one threshold is met.
 *
 * @example SummarizerModule.forRoot({ when: anyOf(turnsOver(50), allOf(eventsOver(30), tokensOver(4_000))) });
 */
export function anyOf(...thresholds: readonly Threshold[]): Threshold {
  assertConditions('anyOf', thresholds);
  const isAnyMet = (facts: SummaryFacts): boolean | Promise<boolean> => isAny(true, thresholds, facts);
  return Object.assign(isAnyMet, commonOf(thresholds));
}

/**
 * Met if all thresholds are met.
 *
 * @example SummarizerModule.forRoot({ when: allOf(eventsOver(30), idleOver(600)) });
 */
export function allOf(...thresholds: readonly Threshold[]): Threshold {
  assertConditions('allOf', thresholds);
  const areAllMet = (facts: SummaryFacts): boolean | Promise<boolean> => {
    const isOneMissing = isAny(false, thresholds, facts);
    if (typeof isOneMissing === 'object') return isOneMissing.then((isMissing) => !isMissing);
    return !isOneMissing;
  };
  return Object.assign(areAllMet, commonOf(thresholds));
}

const NUMBER = 'a number from 0 on';
const LIMIT = { kind: kindOf(NUMBER, (value) => Number.isFinite(value) && Number(value) >= 0) };

/** A limit that is no number is never exceeded, or always. */
function assertLimit(name: string, limit: unknown): void {
  const problem =
    limit === undefined
      ? `the limit is missing; it must be ${NUMBER}.`
      : describeSettingProblem('the limit', LIMIT, limit);
  if (problem !== undefined) throw new ConfigurationError([`${name}(): ${problem}`]);
}

function assertConditions(name: string, thresholds: readonly unknown[]): void {
  const others = thresholds.findIndex((each) => typeof each !== 'function');
  if (thresholds.length > 0 && others < 0) return;
  const problem = others < 0 ? 'no condition is given' : `condition ${others + 1} is no function`;
  throw new ConfigurationError([`${name}(): ${problem}; give at least one, such as turnsOver(50).`]);
}

function ofCounts(name: string, measure: Measure): Threshold {
  return Object.assign(measured(name, measure), { isOfCounts: true });
}

function measured(name: string, measure: Measure): Threshold {
  assertLimit(name, measure.limit);
  const isOver = (facts: SummaryFacts): boolean => measure.read(facts) > measure.limit;
  return Object.assign(isOver, { measure });
}

function commonOf(thresholds: readonly Threshold[]): Pick<Threshold, 'recheckMs' | 'isOfCounts' | 'parts'> {
  return {
    parts: thresholds,
    recheckMs: thresholds.flatMap(recheckTimesOf),
    isOfCounts: thresholds.every(({ isOfCounts }) => isOfCounts),
  };
}

/** Evaluates thresholds in order until one returns `wanted`. Synchronous if all thresholds are. */
function isAny(
  wanted: boolean,
  [first, ...others]: readonly Threshold[],
  facts: SummaryFacts,
): boolean | Promise<boolean> {
  if (!first) return false;
  const checkNext = (result: unknown): boolean | Promise<boolean> =>
    Boolean(result) === wanted || isAny(wanted, others, facts);
  const result: unknown = first(facts);
  return isPromise(result) ? result.then(checkNext) : checkNext(result);
}

/** A condition in JavaScript may return anything, also `null`. */
export function isPromise(result: unknown): result is Promise<unknown> {
  return typeof result === 'object' && result !== null && 'then' in result && typeof result.then === 'function';
}

/** All idle times after which a threshold may change its result. */
export function recheckTimesOf({ recheckMs = [] }: Threshold): readonly number[] {
  return typeof recheckMs === 'number' ? [recheckMs] : recheckMs;
}

/** The thresholds that a threshold combines, or itself. */
export function singleThresholds(threshold: Threshold): readonly Threshold[] {
  return threshold.parts?.flatMap(singleThresholds) ?? [threshold];
}

function longestText(event: EventInput): number {
  return listEventTexts(event).reduce((longest, text) => Math.max(longest, text.trim().length), 0);
}
