import { ByteBudget, eventBytes } from '../domain/stored/byte-budget.js';
import type { StoredEvent } from '../domain/stored/commit.js';
import { readableEvent } from '../domain/stored/damaged-event.js';
import { type GroupSearch, toEventGroup, groupOfInvocation } from '../domain/event/event-group.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { type SeqRange, isInRanges } from '../domain/values/seq-ranges.js';
import type { IncarnationReads } from './incarnation-reads.js';

/** Neighbours that are read with an event. Most invocations are one stretch of the log, and short. */
const WINDOW = 32;
/** Where a page ends in a store that cannot find events of an invocation, so that a page never reads a whole log. */
const MOST_WINDOWS = 32;

/** Some events of an invocation. */
interface InvocationEvents {
  readonly events: readonly LoggedEvent[];
  readonly bytes: number;
  /** What of the range is left. `undefined` if it has no more of them. */
  readonly rest: SeqRange | undefined;
}

/** Finds the events of an invocation in a log, without reading what others wrote between them. Rewinds belong to none. */
export class InvocationReader {
  readonly #group: string;

  constructor(
    private readonly reads: IncarnationReads,
    private readonly invocationId: string,
    private readonly order: 'asc' | 'desc',
  ) {
    this.#group = groupOfInvocation(invocationId);
  }

  /**
   * The first events of the range, in the order of the page.
   *
   * @param isNear whether the range probably begins with one. Then no look-up comes before the first read.
   */
  async read(wanted: SeqRange, limit: number, maxBytes: number, isNear: boolean): Promise<InvocationEvents> {
    const budget = new ByteBudget(maxBytes);
    const events: LoggedEvent[] = [];
    let bytes = 0;
    let rest = isNear ? wanted : this.#restAt((await this.reads.read({ find: this.#searchIn(wanted) })).found, wanted);
    for (let windows = 0; rest && events.length < limit && windows < MOST_WINDOWS; windows++) {
      const range = rest;
      const part = await this.#readWindow(range, Math.min(limit, WINDOW), budget.left);
      for (const stored of part.events) {
        const event = readableEvent(stored);
        if (event.invocationId !== this.invocationId || toEventGroup(event) !== this.#group) continue;
        const size = eventBytes(stored);
        if (events.length === limit || !budget.take(size))
          return { events, bytes, rest: this.#from(stored.seq, range) };
        events.push(event);
        bytes += size;
      }
      rest = part.rest;
    }
    return { events, bytes, rest };
  }

  /** Reads the beginning of a range, and looks where the next one is. */
  async #readWindow(
    range: SeqRange,
    size: number,
    maxBytes: number,
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly rest: SeqRange | undefined }> {
    const { from, to } = range;
    const isAscending = this.order === 'asc';
    const window = isAscending
      ? { from, to: Math.min(to, from + size - 1) }
      : { from: Math.max(from, to - size + 1), to };
    const after = isAscending ? { from: window.to + 1, to } : { from, to: window.from - 1 };
    const isLast = after.from > after.to;
    const read = await this.reads.read({
      window: { ranges: [window], limit: size, keep: isAscending ? 'oldest' : 'newest', maxBytes },
      ...(!isLast && { find: this.#searchIn(after) }),
    });
    const found = read.events.filter(({ seq }) => isInRanges(seq, [window]));
    const events = isAscending ? found : found.toReversed();
    const end = events.at(-1)?.seq;
    if (read.isCut && end !== undefined) return { events, rest: this.#from(end + (isAscending ? 1 : -1), range) };
    return { events, rest: isLast ? undefined : this.#restAt(read.found, after) };
  }

  /** The range from the event that was found; all of it if the store could not tell. */
  #restAt(found: number | undefined, range: SeqRange): SeqRange | undefined {
    const { firstSeq, lastSeq } = this.reads.record;
    const kept = { from: Math.max(range.from, firstSeq), to: Math.min(range.to, lastSeq) };
    if (found !== undefined) return isInRanges(found, [kept]) ? this.#from(found, kept) : undefined;
    return kept.from <= kept.to ? kept : undefined;
  }

  #from(seq: number, { from, to }: SeqRange): SeqRange {
    return this.order === 'asc' ? { from: seq, to } : { from, to: seq };
  }

  #searchIn({ from, to }: SeqRange): GroupSearch {
    return this.order === 'asc'
      ? { group: this.#group, direction: 'next', from }
      : { group: this.#group, direction: 'previous', from: to };
  }
}
