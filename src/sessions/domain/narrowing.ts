import { InvalidInputError } from './errors.js';
import { optionalCount } from './optional-count.js';
import { epochMilliseconds } from './timestamps.js';
import type { ViewItem } from './view-item.js';

/** What one reader wants of a view: the newest N of the events after a place or a time. */
export interface GetSessionConfig {
  /** Newest events of the view; 0 = none. */
  numRecentEvents?: number | undefined;
  /** Only events of this time or later, in epoch milliseconds. */
  afterTimestamp?: number | undefined;
  /** Only events after this `seq`. */
  afterSeq?: number | undefined;
}

export function checkedNarrowing(config: GetSessionConfig | undefined): GetSessionConfig {
  if (config === undefined || config === null) return {};
  // Instances of a class as well, as pipes of Nest make them.
  if (typeof config !== 'object' || Array.isArray(config)) throw new InvalidInputError('must be an object', 'config');
  return {
    numRecentEvents: optionalCount(config.numRecentEvents, 'config.numRecentEvents'),
    afterSeq: optionalCount(config.afterSeq, 'config.afterSeq'),
    afterTimestamp:
      config.afterTimestamp === undefined || config.afterTimestamp === null
        ? undefined
        : epochMilliseconds(config.afterTimestamp, 'config.afterTimestamp'),
  };
}

/** The part of a view that was asked for, exactly: no anchor is added. */
export function narrowView(view: readonly ViewItem[], narrowing: GetSessionConfig): readonly ViewItem[] {
  const { numRecentEvents, afterTimestamp = 0, afterSeq = 0 } = narrowing;
  const after = view.filter(({ event }) => event.seq > afterSeq && event.timestamp >= afterTimestamp);
  return numRecentEvents === undefined ? after : after.slice(after.length - Math.min(numRecentEvents, after.length));
}
