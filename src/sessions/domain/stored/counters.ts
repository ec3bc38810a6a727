import { isAnySummary, isByUser, isRewind, listEventTexts } from '../event/event-inspection.js';
import type { EventInput } from '../event/event.js';
import { isCount } from '../values/input-checks.js';

/**
 * Counters of a session. The store only adds to them, so that writers never overwrite each other. A new one is a line here, the last one of
 * `NO_COUNTS`, and a line of `countEvent` and `addCounters`. Sessions from before have 0 of it, which the doctor finds and mends.
 */
export interface Counters {
  /** Events by the user with text: `conversationCount`. */
  readonly turns: number;
  readonly events: number;
  /** Characters of text. */
  readonly contentLength: number;
  /** Tokens that `usageMetadata` reports. */
  readonly tokens: number;
}

export const NO_COUNTS: Counters = { turns: 0, events: 0, contentLength: 0, tokens: 0 };

/** All counters, in the order in which records store them. */
export const COUNTERS = Object.keys(NO_COUNTS) as readonly (keyof Counters)[];

/** The counters with these values. What was stored before a counter was added lacks it; its default counts. */
export function countersWith(valueOf: (name: keyof Counters) => number | undefined): Counters {
  const counters: Record<keyof Counters, number> = { ...NO_COUNTS };
  for (const name of COUNTERS) counters[name] = valueOf(name) ?? NO_COUNTS[name];
  return counters;
}

/** Counters that were stored as JSON, perhaps by an older version. */
export function storedCounters(stored: Partial<Counters>): Counters {
  return countersWith((name) => stored[name]);
}

/** Larger reports are ignored: no model reports them, and sums of them would exceed the integers of some stores. */
const MOST_TOKENS = 1e9;

/** What one event adds. Summaries and rewinds add nothing. */
export function countEvent(event: EventInput): Counters {
  if (isAnySummary(event) || isRewind(event)) return NO_COUNTS;
  const contentLength = measureContent(event);
  const tokens = event.usageMetadata?.totalTokenCount;
  return {
    turns: isByUser(event) && contentLength > 0 ? 1 : 0,
    events: 1,
    contentLength,
    tokens: isCount(tokens) && tokens <= MOST_TOKENS ? tokens : 0,
  };
}

/** A redacted event counts as it did before. */
function measureContent(event: EventInput): number {
  const before = event.redaction?.contentLength;
  if (isCount(before)) return before;
  let length = 0;
  for (const text of listEventTexts(event)) length += text.length;
  return length;
}

// Field by field, since these are called at every append.
export function addCounters(a: Counters, b: Counters): Counters {
  return {
    turns: a.turns + b.turns,
    events: a.events + b.events,
    contentLength: a.contentLength + b.contentLength,
    tokens: a.tokens + b.tokens,
  };
}

export function subtractCounters(a: Counters, b: Counters): Counters {
  return countersWith((name) => a[name] - b[name]);
}
