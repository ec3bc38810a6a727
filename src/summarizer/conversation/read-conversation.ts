import { SessionNotFoundError } from '../../sessions/domain/errors.js';
import type { LoggedEvent } from '../../sessions/domain/event.js';
import { type SessionKey, sessionKeyOf } from '../../sessions/domain/ids.js';
import { type SeqRange, countOf, isInRanges, oldestOf } from '../../sessions/domain/seq-ranges.js';
import type { SessionRecord } from '../../sessions/domain/session-record.js';
import { loggedEvent } from '../../sessions/domain/logged-event.js';
import { rangesAbove, rangesBelow, visibleRanges } from '../../sessions/domain/visible-log.js';
import type { EventWindow, SessionStorage } from '../../sessions/storage/session-storage.js';
import { CutPlaces, PATIENCE } from './cut-places.js';
import { linesOf } from './conversation-lines.js';
import { answeredLater } from './open-calls.js';

/** What a summary is to stand for: the oldest of what is visible, cut at a good place. */
export interface Stretch {
  readonly record: SessionRecord;
  /** The summary that was in force, which the next one takes in. */
  readonly previous: LoggedEvent | undefined;
  readonly events: readonly LoggedEvent[];
  /** How many visible events it leaves over. */
  readonly left: number;
  /** Whether more could be summarised than is taken at once. */
  readonly isPart: boolean;
}

export interface StretchLimits {
  /** How many of the newest events stay as they are, at least. */
  readonly keepRecentEvents: number;
  /** About how many characters of conversation are taken at once. */
  readonly maxInputLength: number;
  /** Told where a call that waits for its answer leaves nothing to summarise, at the latest until that event. */
  readonly onHeld?: ((record: SessionRecord, untilSeq: number) => void) | undefined;
}

/** As far back as calls are waited for; that is enough to find the beginning of a turn in most conversations. */
const MARGIN = PATIENCE;
const PAGE = 200;
/** A call may be answered thousands of events later: a look at each of them would take the square of that. */
const MORE_BEFORE_NEXT_LOOK = 1.125;

/**
 * Reads what there is to summarise, if anything: the newest events to see where to cut, then the oldest ones, as many
 * as fit. However long the log is, little of it is held. Nothing is kept alive by it.
 */
export async function readStretch(
  storage: SessionStorage,
  key: SessionKey,
  limits: StretchLimits,
): Promise<Stretch | undefined> {
  const read = await storage.read({ key, withSummary: true });
  if (!read) return undefined;
  const reading = new StretchReading(storage, read.record, limits);
  const part = await reading.read();
  if (!part) return undefined;
  const previous = read.summary && loggedEvent(read.summary);
  const left = countOf(visibleRanges(read.record)) - part.events.length;
  return { record: read.record, previous, left, ...part };
}

class StretchReading {
  readonly #visible: readonly SeqRange[];

  constructor(
    private readonly storage: SessionStorage,
    private readonly record: SessionRecord,
    private readonly limits: StretchLimits,
  ) {
    this.#visible = visibleRanges(record);
  }

  async read(): Promise<Pick<Stretch, 'events' | 'isPart'> | undefined> {
    const toSeq = await this.#lastToCover();
    return toSeq === undefined ? undefined : this.#oldestUpTo(toSeq);
  }

  /** Looks at the newest events, and at more of them only where they hold no good place to cut. */
  async #lastToCover(): Promise<number | undefined> {
    const { keepRecentEvents, onHeld } = this.limits;
    const count = countOf(this.#visible);
    if (count <= keepRecentEvents) return undefined;
    for (let newest = keepRecentEvents + MARGIN; ; newest *= 4) {
      const events = await this.#read({ inView: true, limit: newest });
      const isWhole = events.length >= count;
      const places = new CutPlaces(events, { isWhole });
      const wanted = events.length - keepRecentEvents;
      const place = places.lastUpTo(wanted);
      if (place > 0) return events[place - 1]?.seq;
      if (isWhole) onHeld?.(this.record, this.record.lastSeq + places.eventsToWait(wanted));
      // Fewer than there were: some of them were trimmed meanwhile, so it is for another time.
      if (isWhole || newest > this.record.lastSeq) return undefined;
    }
  }

  /** As much as fits, from the beginning on. */
  async #oldestUpTo(toSeq: number): Promise<Pick<Stretch, 'events' | 'isPart'>> {
    const ranges = rangesBelow(this.#visible, toSeq + 1);
    const events: LoggedEvent[] = [];
    let length = 0;
    /** Events at the beginning in which a model has nothing to read. */
    let silent = 0;
    let lookAgainAt = 0;
    for await (const event of this.#oldest(ranges)) {
      events.push(event);
      length += linesOf([event]).reduce((sum, { text }) => sum + text.length, 0);
      if (length === 0) silent = events.length;
      if (length <= this.limits.maxInputLength || events.length < lookAgainAt) continue;
      const place = await this.#lastWithin(events, rangesAbove(ranges, event.seq));
      if (place > silent) return { events: events.slice(0, place), isPart: true };
      lookAgainAt = events.length * MORE_BEFORE_NEXT_LOOK;
    }
    return { events, isPart: false };
  }

  /** Where to cut so that the last of these events is left for later. */
  async #lastWithin(events: readonly LoggedEvent[], unread: readonly SeqRange[]): Promise<number> {
    if (events.length === 1) return 0;
    const answered = await answeredLater(events, this.#oldest(unread));
    return new CutPlaces(events, { isWhole: true, answeredLater: answered }).lastUpTo(events.length - 1);
  }

  async *#oldest(ranges: readonly SeqRange[]): AsyncGenerator<LoggedEvent> {
    for (let unread = ranges; unread.length > 0;) {
      const page = oldestOf(unread, PAGE);
      yield* await this.#read({ ranges: page });
      unread = rangesAbove(unread, page.at(-1)?.to ?? Infinity);
    }
  }

  async #read(window: EventWindow): Promise<LoggedEvent[]> {
    const { sessionId, incarnation } = this.record;
    const read = await this.storage.read({ key: sessionKeyOf(this.record), window });
    if (read?.record.incarnation !== incarnation) throw new SessionNotFoundError(sessionId);
    // A store may answer with more than it was asked for, and with what was appended meanwhile.
    return read.events.filter(({ seq }) => isInRanges(seq, window.ranges ?? this.#visible)).map(loggedEvent);
  }
}
