import { epochMilliseconds } from './clock.js';
import type { StoredEvent } from './commit.js';
import { InvalidInputError } from './errors.js';
import { isAnchor } from './event-inspection.js';
import type { LoggedEvent } from './event.js';
import { optionalCount, refuseMisspelled } from './input-checks.js';
import { type SeqRange, rangesOutside } from './seq-ranges.js';
import type { SessionRecord } from './session-record.js';
import { readableEvent } from './damaged-event.js';
import { loggedEvent } from './stored-json.js';

/** An event of a view, with the time from which its age is computed. */
export interface ViewItem {
  readonly seq: number;
  readonly event: LoggedEvent;
  /** The earlier of the event's timestamp and the time of its append. */
  readonly time: number;
}

export function viewItem(stored: StoredEvent): ViewItem {
  return viewItemOf(readableEvent(stored), stored.appendedAt);
}

export function viewItemOf(event: LoggedEvent, appendedAt: number): ViewItem {
  return { seq: event.seq, event, time: Math.min(event.timestamp, appendedAt) };
}

/** For text that this process wrote: it is parsed when somebody looks at the event. */
export function unparsedViewItem(stored: UnparsedEvent): ViewItem {
  return new UnparsedItem(stored);
}

/** A stored event that is parsed later. */
export type UnparsedEvent = Pick<StoredEvent, 'seq' | 'payload' | 'appendedAt'>;

class UnparsedItem implements ViewItem {
  #stored: UnparsedEvent;
  #event: LoggedEvent | undefined;

  constructor(stored: UnparsedEvent) {
    this.#stored = stored;
  }

  get seq(): number {
    return this.#stored.seq;
  }

  get event(): LoggedEvent {
    if (this.#event) return this.#event;
    this.#event = loggedEvent(this.#stored);
    // The text is not needed any more.
    const { seq, appendedAt } = this.#stored;
    this.#stored = { seq, appendedAt, payload: null };
    return this.#event;
  }

  get time(): number {
    return Math.min(this.event.timestamp, this.#stored.appendedAt);
  }
}

export function isAnchorItem({ event }: ViewItem): boolean {
  return isAnchor(event);
}

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

/**
 * The visible ranges of the log: neither summarised nor rewound. Exact without reading events, since `seq` has no gaps.
 */
export function visibleRanges(record: SessionRecord): SeqRange[] {
  const { hidden, summarySeq, viewFromSeq } = record.marks;
  const whole = { from: Math.max(viewFromSeq + 1, record.firstSeq), to: record.lastSeq };
  return rangesOutside(whole, [...hidden, { from: summarySeq, to: summarySeq }]);
}

/** The part of `ranges` below `seq`. */
export function rangesBelow(ranges: readonly SeqRange[], seq: number): SeqRange[] {
  return ranges.filter(({ from }) => from < seq).map(({ from, to }) => ({ from, to: Math.min(to, seq - 1) }));
}

/** The part of `ranges` above `seq`. */
export function rangesAbove(ranges: readonly SeqRange[], seq: number): SeqRange[] {
  return ranges.filter(({ to }) => to > seq).map(({ from, to }) => ({ from: Math.max(from, seq + 1), to }));
}
