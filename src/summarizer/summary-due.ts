import { LONGEST_DELAY_MS } from '../sessions/domain/background/agenda-limits.js';
import { subtractCounters } from '../sessions/domain/stored/counters.js';
import { isAnySummary, isBranchSummary, isRewind } from '../sessions/domain/event/event-inspection.js';
import type { StoredEvent } from '../sessions/domain/stored/commit.js';
import type { LoggedEvent } from '../sessions/domain/event/event.js';
import type { SessionKey } from '../sessions/domain/values/ids.js';
import { readableEvent } from '../sessions/domain/stored/damaged-event.js';
import type { SessionStorage, StoredSession } from '../sessions/storage/session-storage.js';
import { type DueTrigger, isInForce } from './summary-agenda.js';
import { callWithin } from '../sessions/domain/process/timeouts.js';
import { isFinalSummary } from './session-summary.js';
import type { Dueness, ThresholdState } from './summary-outlook.js';
import { type SummaryFacts, type Threshold, isPromise, recheckTimesOf, singleThresholds } from './thresholds.js';

export interface DueCheckOptions {
  readonly storage: SessionStorage;
  readonly threshold: Threshold;
  readonly keepRecentEvents: number;
  /** How many events of its own a branch may have without a summary; 0 = any number. */
  readonly branchEvents: number;
  /** Timeout of a custom condition. */
  readonly timeoutMs: number;
}

/** Checks whether a session needs a summary. */
export class DueCheck {
  constructor(private readonly options: DueCheckOptions) {}

  /** Compares counters only, unless there is a custom condition. */
  isDue(facts: SummaryFacts, signal?: AbortSignal): boolean | Promise<boolean> {
    return this.hasEnough(facts) && this.#isMet(this.options.threshold, facts, signal);
  }

  /** Whether a branch needs a summary: by the number of its own events, or by the thresholds of what it sees. */
  isBranchDue(
    { facts, own }: { readonly facts: SummaryFacts; readonly own: number },
    signal?: AbortSignal,
  ): boolean | Promise<boolean> {
    const { branchEvents } = this.options;
    return (branchEvents > 0 && own > branchEvents) || this.isDue(facts, signal);
  }

  /** Whether there are more events than `keepRecentEvents`. */
  hasEnough({ since }: SummaryFacts): boolean {
    return since.events > this.options.keepRecentEvents;
  }

  /** Reads the current facts; `undefined` if the session is gone, or nothing was appended since its last summary. */
  async factsOf(key: SessionKey): Promise<SummaryFacts | undefined> {
    const read = await this.#readNewest(key);
    return read && !isComplete(read) ? factsOf(key, read, newestIn(read)) : undefined;
  }

  /** Whether a summary is due, and how far each threshold is; `undefined` if the session is gone. */
  async dueness(key: SessionKey): Promise<Dueness | undefined> {
    const read = await this.#readNewest(key);
    if (!read) return undefined;
    const facts = factsOf(key, read, newestIn(read));
    const thresholds = await this.#statesOf(facts);
    return { isDue: !isComplete(read) && (await this.isDue(facts)), thresholds };
  }

  /** The same of a branch. */
  async branchDueness(branch: { readonly facts: SummaryFacts; readonly own: number }): Promise<Dueness> {
    const thresholds = await this.#statesOf(branch.facts);
    const { branchEvents: limit } = this.options;
    if (limit > 0) thresholds.push({ kind: 'branchEvents', value: branch.own, limit, isMet: branch.own > limit });
    return { isDue: await this.isBranchDue(branch), thresholds };
  }

  async #statesOf(facts: SummaryFacts): Promise<ThresholdState[]> {
    const thresholds: ThresholdState[] = [];
    for (const threshold of singleThresholds(this.options.threshold)) {
      const isMet = await this.#isMet(threshold, facts);
      const { measure } = threshold;
      if (measure) thresholds.push({ kind: measure.kind, value: measure.read(facts), limit: measure.limit, isMet });
      else thresholds.push({ kind: 'custom', isMet });
    }
    return thresholds;
  }

  /** Reads the current facts if the session is still due because of `trigger`. */
  async factsSince(key: SessionKey, trigger: DueTrigger): Promise<SummaryFacts | undefined> {
    const read = await this.#readNewest(key);
    const facts = read && isInForce(trigger, read.record) ? factsOf(key, read, newestIn(read)) : undefined;
    return facts && this.hasEnough(facts) ? facts : undefined;
  }

  /** Reads the session again: another process may have written the summary. */
  async isStillDue(key: SessionKey, signal: AbortSignal, trigger?: DueTrigger): Promise<boolean> {
    const read = await this.#readNewest(key);
    if (!read || isComplete(read)) return false;
    const facts = factsOf(key, read, newestIn(read));
    return trigger && isInForce(trigger, read.record) ? this.hasEnough(facts) : this.isDue(facts, signal);
  }

  /** When the session may become due without a further event, by idle time alone; `undefined` if never. */
  nextCheckIn(facts: SummaryFacts): number | undefined {
    const times = recheckTimesOf(this.options.threshold).filter((time) => time >= facts.idleMs);
    if (times.length === 0 || !this.hasEnough(facts)) return undefined;
    return Math.min(LONGEST_DELAY_MS, Math.floor(Math.min(...times) - facts.idleMs) + 1);
  }

  #isMet(threshold: Threshold, facts: SummaryFacts, signal?: AbortSignal): boolean | Promise<boolean> {
    const isMet: unknown = threshold(facts);
    return isPromise(isMet)
      ? callWithin({ limitMs: this.options.timeoutMs, signal }, async () => Boolean(await isMet))
      : Boolean(isMet);
  }

  /** The session with its newest event. Summaries of branches do not count: they say nothing of the conversation. */
  async #readNewest(key: SessionKey): Promise<StoredSession | undefined> {
    const { storage } = this.options;
    const read = await storage.read({ key, window: { limit: 1 } });
    if (!read?.events.some(isOfBranchAlone)) return read;
    const more = await storage.read({ key, window: { limit: MOST_BRANCHES + 1 } });
    return more && { ...more, events: more.events.filter((event) => !isOfBranchAlone(event)) };
  }
}

/** As many branches may get a summary after one of the whole conversation. */
const MOST_BRANCHES = 32;

function isOfBranchAlone(stored: StoredEvent): boolean {
  return stored.payload !== undefined && isBranchSummary(readableEvent(stored));
}

export function factsOf(
  key: SessionKey,
  { record, now }: Pick<StoredSession, 'record' | 'now'>,
  event: LoggedEvent | undefined,
): SummaryFacts {
  const since = subtractCounters(record.counters, record.marks.covered);
  return { key, since, idleMs: now - record.lastUpdateTime, event };
}

/**
 * Whether the newest event is a summary of all that could be summarised. It leaves, for example, a long last turn. A
 * condition that is still met, such as idle time, must not cut that turn.
 */
function isComplete({ events }: StoredSession): boolean {
  const newest = events.at(-1);
  return newest?.payload !== undefined && isFinalSummary(readableEvent(newest));
}

/** Conditions never get a summary or a rewind. */
function newestIn({ events }: StoredSession): LoggedEvent | undefined {
  const newest = events.at(-1);
  if (!newest?.payload) return undefined;
  const event = readableEvent(newest);
  return isAnySummary(event) || isRewind(event) ? undefined : event;
}
