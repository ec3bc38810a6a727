import { SessionNotFoundError } from '../domain/errors.js';
import type { SessionKey } from '../domain/ids.js';
import { type GetSessionConfig, narrowView } from '../domain/narrowing.js';
import { type SeqRange, countOf, isInRanges, newestOf } from '../domain/seq-ranges.js';
import type { ViewSource } from '../domain/session-knowledge.js';
import { MAX_PULL_BACK, callsMissingInFront } from '../domain/tool-pairs.js';
import { type ViewItem, isAnchorItem, viewItem } from '../domain/view-item.js';
import { type ViewFilter, cutView, filterView, isFiltering, lacksAnchor, tailOf } from '../domain/view.js';
import { rangesAbove, rangesBelow, visibleRanges } from '../domain/visible-log.js';
import type { EventWindow, SessionStorage, StoredSession } from '../storage/session-storage.js';

/** A session with the view that its reader asked for. */
export interface ReadView {
  readonly stored: StoredSession;
  readonly view: readonly ViewItem[];
  readonly source: ViewSource;
}

/**
 * Reads a session and as little of its log as the view needs: the newest events in one go with the session;
 * more of them only where rewound stretches or tool calls lie at the cut; the last anchor only where the
 * newest events have none.
 */
export async function readView(
  storage: SessionStorage,
  key: SessionKey,
  filter: ViewFilter,
  narrowing: GetSessionConfig = {},
): Promise<ReadView | undefined> {
  const window = firstWindow(filter, narrowing);
  const stored = await storage.read({ key, withState: true, withSummary: true, window });
  if (!stored) return undefined;
  if (!window) return { stored, view: [], source: { items: [] } };

  const reading = new ViewReading(storage, key, stored);
  if (!isFiltering(filter)) {
    const items = await reading.narrowed(narrowing);
    return { stored, view: narrowView(items, narrowing), source: { items } };
  }
  const source = await reading.filtered(filter);
  const whole = filterView(source.items, filter, stored.now, source.anchorBefore);
  const view = narrowView(whole, narrowing);
  return { stored, view, source: view.length === whole.length ? source : { items: view } };
}

/** What to read together with the session; nothing for a reader who wants no events. */
function firstWindow(filter: ViewFilter, narrowing: GetSessionConfig): EventWindow | undefined {
  const { numRecentEvents, afterSeq, afterTimestamp } = narrowing;
  if (numRecentEvents === 0) return undefined;
  return isFiltering(filter)
    ? { inView: true, limit: filter.newest || undefined, maxAgeMs: filter.maxAgeMs || undefined }
    : { inView: true, limit: numRecentEvents, afterSeq, since: afterTimestamp };
}

class ViewReading {
  readonly #visible: readonly SeqRange[];
  readonly #summary: ViewItem | undefined;
  /** Visible events that were read, without gaps. */
  #items: ViewItem[];
  /** Visible stretches before them. */
  #unread: readonly SeqRange[];

  constructor(
    private readonly storage: SessionStorage,
    private readonly key: SessionKey,
    private readonly stored: StoredSession,
  ) {
    this.#visible = visibleRanges(stored.record);
    this.#summary = stored.summary && viewItem(stored.summary);
    this.#items = this.#visibleItems(stored);
    this.#unread = rangesBelow(this.#visible, stored.events[0]?.seq ?? stored.record.lastSeq + 1);
  }

  /** As much of the conversation as `filter` looks at. */
  async filtered(filter: ViewFilter): Promise<ViewSource> {
    const { now } = this.stored;
    if (this.#endedBy(filter.newest)) {
      const missing = (): number => filter.newest - tailOf(this.#items, filter, now).length;
      await this.#readWhileMissing(missing, { maxAgeMs: filter.maxAgeMs || undefined }, MAX_PULL_BACK);
    }
    await this.#readAsFarAsCallsMayBe(filter);

    const items = this.#withSummaryIfNext(filter);
    const anchorBefore = lacksAnchor(cutView(items, filter, now)) ? await this.#lastUnreadAnchor() : undefined;
    return { items, anchorBefore: anchorBefore ?? this.#summary };
  }

  /** As much of the conversation as a narrowing without any filter looks at. */
  async narrowed(narrowing: GetSessionConfig): Promise<readonly ViewItem[]> {
    const { numRecentEvents = 0, afterSeq = 0, afterTimestamp } = narrowing;
    if (this.#endedBy(numRecentEvents)) {
      this.#unread = rangesAbove(this.#unread, afterSeq);
      const missing = (): number => numRecentEvents - narrowView(this.#items, narrowing).length;
      await this.#readWhileMissing(missing, { since: afterTimestamp });
    }
    return this.#summary ? [this.#summary, ...this.#items] : this.#items;
  }

  /** Whether the limit, not the beginning of the conversation or of a time window, ended the first read. */
  #endedBy(limit: number): boolean {
    return limit > 0 && this.stored.events.length >= limit;
  }

  /**
   * Reads on towards the beginning until nothing is missing or the time window ends. Once is enough, unless
   * events are older than their place in the log; then it takes longer strides each time.
   */
  async #readWhileMissing(missing: () => number, window: EventWindow, spare = 0): Promise<void> {
    for (let stride = missing() + spare; missing() > 0 && this.#unread.length > 0; stride *= 4) {
      const ranges = newestOf(this.#unread, stride);
      const before = this.#items.length;
      await this.#readMore({ ...window, ranges });
      if (this.#items.length - before < countOf(ranges)) return;
    }
  }

  /** Where the newest events begin with the answer of a tool, its call may lie a little before them. */
  async #readAsFarAsCallsMayBe(filter: ViewFilter): Promise<void> {
    const tail = tailOf(this.#items, filter, this.stored.now);
    if (tail.some(isAnchorItem) || callsMissingInFront(tail).length === 0) return;
    const before = this.#items.indexOf(tail[0] as ViewItem);
    if (before < MAX_PULL_BACK) await this.#readMore({ ranges: newestOf(this.#unread, MAX_PULL_BACK - before) });
  }

  /** The summary stands before everything else, so it counts only if all that follows it was read or is too old. */
  #withSummaryIfNext(filter: ViewFilter): readonly ViewItem[] {
    if (!this.#summary) return this.#items;
    const whole = [this.#summary, ...this.#items];
    const counts = this.#unread.length === 0 || tailOf(whole, filter, this.stored.now).includes(this.#summary);
    return counts ? whole : this.#items;
  }

  async #lastUnreadAnchor(): Promise<ViewItem | undefined> {
    if (this.#unread.length === 0) return undefined;
    return (await this.#read({ ranges: this.#unread, anchorsOnly: true, limit: 1 })).findLast(isAnchorItem);
  }

  async #readMore(window: EventWindow): Promise<void> {
    if (!window.ranges?.length) return;
    const older = await this.#read(window);
    this.#items = [...older, ...this.#items];
    if (older[0]) this.#unread = rangesBelow(this.#unread, older[0].event.seq);
  }

  async #read(window: EventWindow): Promise<ViewItem[]> {
    const more = await this.storage.read({ key: this.key, window });
    if (more?.record.incarnation !== this.stored.record.incarnation) throw new SessionNotFoundError(this.key.sessionId);
    // A store may answer with more than it was asked for.
    return this.#visibleItems(more).filter(({ event }) => isInRanges(event.seq, window.ranges ?? this.#visible));
  }

  #visibleItems({ events }: StoredSession): ViewItem[] {
    return events.filter(({ seq }) => isInRanges(seq, this.#visible)).map(viewItem);
  }
}
