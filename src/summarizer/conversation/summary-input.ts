import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { type SeqRange, countSeqNumbers } from '../../sessions/domain/values/seq-ranges.js';
import type { SessionRecord } from '../../sessions/domain/stored/session-record.js';
import { loggedEvent } from '../../sessions/domain/stored/stored-json.js';
import { rangesAbove, rangesBelow } from '../../sessions/domain/values/seq-ranges.js';
import { visibleRanges } from '../../sessions/domain/stored/view-marks.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import { coverageOf } from '../session-summary.js';
import type { CoveredEvents } from '../summary-outlook.js';
import { measureEventText } from './conversation-lines.js';
import { CutPoints, MAX_PENDING_EVENTS, callsAnsweredIn } from './cut-points.js';
import { VisibleLog } from './visible-log.js';

/** The input of a summary: the oldest visible events, up to a valid cut point. */
export interface SummaryInput {
  readonly record: SessionRecord;
  /** The current summary. The next one includes and replaces it. */
  readonly previous: LoggedEvent | undefined;
  readonly events: readonly LoggedEvent[];
  /** How many visible events are not part of the input. */
  readonly left: number;
  /** Whether there is more to summarise than `maxInputLength` allows. */
  readonly isPart: boolean;
}

export interface SummaryInputLimits {
  /** At least this many of the newest events are not summarised. */
  readonly keepRecentEvents: number;
  /** Approximate maximum length of the conversation in characters. */
  readonly maxInputLength: number;
  /** Whether the summary was requested with `force`: then it is not delayed for a better cut. */
  readonly isForced?: boolean | undefined;
  /** Called if a pending tool call leaves nothing to summarise, at the latest until `untilSeq`. */
  readonly onPendingCall?: ((record: SessionRecord, untilSeq: number) => void) | undefined;
}

/** Enough to find pending calls, and in most conversations also the beginning of a turn. */
const LOOKBACK = MAX_PENDING_EVENTS;
/** A call may be answered thousands of events later: a check after each event would take quadratic time. */
const GROWTH_BEFORE_NEXT_CHECK = 1.125;

/**
 * Reads the events to summarise, if there are any: first the newest events to find the cut, then the oldest ones up to
 * `maxInputLength`. Memory does not grow with the length of the log. Reading does not extend the expiry of the session.
 */
export async function readSummaryInput(
  storage: SessionStorage,
  key: SessionKey,
  limits: SummaryInputLimits,
): Promise<SummaryInput | undefined> {
  const read = await storage.read({ key, withSummary: true });
  if (!read) return undefined;
  const reader = new SummaryInputReader(storage, read.record, limits);
  const part = await reader.read();
  if (!part) return undefined;
  const previous = read.summary && loggedEvent(read.summary);
  const left = countSeqNumbers(visibleRanges(read.record)) - part.events.length;
  return { record: read.record, previous, left, ...part };
}

class SummaryInputReader {
  readonly #log: VisibleLog;

  constructor(
    storage: SessionStorage,
    private readonly record: SessionRecord,
    private readonly limits: SummaryInputLimits,
  ) {
    this.#log = new VisibleLog(storage, record);
  }

  async read(): Promise<Pick<SummaryInput, 'events' | 'isPart'> | undefined> {
    const toSeq = await this.#lastToCover();
    return toSeq === undefined ? undefined : this.#oldestUpTo(toSeq);
  }

  /** Reads the newest events, and more of them if they contain no valid cut point. */
  async #lastToCover(): Promise<number | undefined> {
    const { keepRecentEvents, isForced, onPendingCall } = this.limits;
    const count = countSeqNumbers(this.#log.ranges);
    if (count <= keepRecentEvents) return undefined;
    for (let newest = keepRecentEvents + LOOKBACK; ; newest *= 4) {
      const events = await this.#log.read({ inView: true, limit: newest });
      const isWhole = events.length >= count;
      const cutPoints = new CutPoints(events, { isWhole, isForced });
      const wanted = events.length - keepRecentEvents;
      const point = cutPoints.lastUpTo(wanted);
      if (point > 0) return events[point - 1]?.seq;
      if (isWhole) onPendingCall?.(this.record, this.record.lastSeq + cutPoints.eventsToWait(wanted));
      // Fewer events than expected: some have been trimmed. A later attempt reads the new state.
      if (isWhole || newest > this.record.lastSeq) return undefined;
    }
  }

  /** The oldest events, as many as `maxInputLength` allows. */
  async #oldestUpTo(toSeq: number): Promise<Pick<SummaryInput, 'events' | 'isPart'>> {
    const ranges = rangesBelow(this.#log.ranges, toSeq + 1);
    const events: LoggedEvent[] = [];
    let length = 0;
    /** How many events at the beginning have no text. */
    let withoutText = 0;
    let nextCheckAt = 0;
    for await (const event of this.#log.oldest(ranges)) {
      events.push(event);
      length += measureEventText(event);
      if (length === 0) withoutText = events.length;
      if (length <= this.limits.maxInputLength || events.length < nextCheckAt) continue;
      const point = await this.#lastCutWithin(events, rangesAbove(ranges, event.seq));
      if (point > withoutText) return { events: events.slice(0, point), isPart: true };
      nextCheckAt = events.length * GROWTH_BEFORE_NEXT_CHECK;
    }
    return { events, isPart: false };
  }

  /** The last cut point before the last of these events. */
  async #lastCutWithin(events: readonly LoggedEvent[], unread: readonly SeqRange[]): Promise<number> {
    if (events.length === 1) return 0;
    const answered = await callsAnsweredIn(events, this.#log.oldest(unread));
    return new CutPoints(events, { isWhole: true, answeredLater: answered }).lastUpTo(events.length - 1);
  }
}

/** What a summary of this input covers. A fork may begin with a summary, which covers no event of its own log. */
export function coveredBy({ events, previous }: Pick<SummaryInput, 'events' | 'previous'>): CoveredEvents {
  const before = previous && coverageOf(previous);
  const fromSeq = Math.max(1, before?.fromSeq ?? events[0]?.seq ?? 0);
  return { fromSeq, toSeq: events.at(-1)?.seq ?? 0, events: events.length };
}
