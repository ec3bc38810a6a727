import { epochMilliseconds } from '../process/clock.js';
import { InvalidInputError } from '../errors/errors.js';
import { optionalCount } from '../values/input-checks.js';
import { refuseMisspelled } from '../values/request-fields.js';
import type { ViewItem } from './view-item.js';

/** Narrows a view for one reader: the newest N of the events after a `seq` or a time. */
export interface GetSessionConfig {
  /** Newest events of the view; 0 = none. */
  numRecentEvents?: number | undefined;
  /** Only events of this time or later, in epoch milliseconds. */
  afterTimestamp?: number | undefined;
  /** Only events after this `seq`. */
  afterSeq?: number | undefined;
}

const CONFIG_FIELDS: readonly (keyof GetSessionConfig)[] = ['numRecentEvents', 'afterTimestamp', 'afterSeq'];

export function checkedViewConfig(config: GetSessionConfig | undefined): GetSessionConfig {
  if (config === undefined || config === null) return {};
  // Accepts class instances, which Nest's pipes create.
  if (typeof config !== 'object' || Array.isArray(config)) throw new InvalidInputError('must be an object', 'config');
  refuseMisspelled(config, CONFIG_FIELDS, 'the config of a view', 'config.');
  return {
    numRecentEvents: optionalCount(config.numRecentEvents, 'config.numRecentEvents'),
    afterSeq: optionalCount(config.afterSeq, 'config.afterSeq'),
    afterTimestamp:
      config.afterTimestamp === undefined || config.afterTimestamp === null
        ? undefined
        : epochMilliseconds(config.afterTimestamp, 'config.afterTimestamp'),
  };
}

/** Narrows a view exactly; adds no anchor. */
export function narrowView(view: readonly ViewItem[], config: GetSessionConfig): readonly ViewItem[] {
  const after = itemsAfter(view, config);
  return after.slice(omittedCount(after, config));
}

/** The last event of a view that `numRecentEvents` omits. */
export function lastOmitted(view: readonly ViewItem[], config: GetSessionConfig): ViewItem | undefined {
  const after = itemsAfter(view, config);
  return after[omittedCount(after, config) - 1];
}

function itemsAfter(view: readonly ViewItem[], config: GetSessionConfig): readonly ViewItem[] {
  return view.filter((item) => isAfter(item, config));
}

/** Whether the event is after `afterSeq` and `afterTimestamp`. Looks at the event only if it has to. */
export function isAfter(item: ViewItem, { afterSeq = 0, afterTimestamp = 0 }: GetSessionConfig): boolean {
  return item.seq > afterSeq && (afterTimestamp === 0 || item.event.timestamp >= afterTimestamp);
}

function omittedCount({ length }: readonly ViewItem[], { numRecentEvents = length }: GetSessionConfig): number {
  return Math.max(0, length - numRecentEvents);
}
