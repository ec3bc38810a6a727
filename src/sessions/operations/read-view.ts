import { ByteBudget, eventBytes, nextViewBatchSize } from '../domain/byte-budget.js';
import type { StoredEvent } from '../domain/commit.js';
import { SessionNotFoundError } from '../domain/errors.js';
import type { SessionKey } from '../domain/ids.js';
import { type LoadedConversation, NOTHING_OMITTED, type ViewSource, placeOf } from '../domain/loaded-view.js';
import { type SeqRange, countOf, isInRanges, newestOf } from '../domain/seq-ranges.js';
import type { SessionRecord } from '../domain/session-record.js';
import { MAX_PULL_BACK } from '../domain/tool-pairs.js';
import { type GetSessionConfig, lastOmitted, narrowView } from '../domain/view-config.js';
import { type ViewItem, isAnchorItem, viewItem } from '../domain/view-item.js';
import { type Conversation, type ViewFilter, cutView, isFiltering, tailPlaces } from '../domain/view.js';
import { rangesAbove, rangesBelow, visibleRanges } from '../domain/visible-ranges.js';
import type { EventWindow, ReadRequest, SessionStorage, StoredSession } from '../storage/session-storage.js';

/** A session with the view that its reader asked for. */
export interface ReadView {
  readonly stored: StoredSession;
  readonly view: readonly ViewItem[];
  readonly source: ViewSource;
  /** Whether older events were left out since they did not fit. */
  readonly isTruncated?: boolean;
}

/** How a view is read. */
export interface ViewReadingOptions {
  readonly config?: GetSessionConfig | undefined;
  /** Whether appends have another filter, which is to leave out what this one does. */
  readonly isForOneRead?: boolean | undefined;
  /** Bytes of events in the view; what it needs to begin with comes on top. No limit unless given. */
  readonly maxBytes?: number | undefined;
}

/**
 * Reads a session and as little of its log as the view needs: the newest events in one go with the session;
 * more of them only where rewound stretches or tool calls lie at the cut; the last anchor only where the
 * newest events have none. Of more events than fit, the newest are shown, as if no more had been asked for.
 */
export async function readView(
  storage: SessionStorage,
  key: SessionKey,
  filter: ViewFilter,
  { config = {}, isForOneRead = false, maxBytes = Infinity }: ViewReadingOptions = {},
): Promise<ReadView | undefined> {
  const request = { key, withState: true, withMetadata: true, withSummary: true };
  const window = firstWindow(filter, config);
  if (!window) {
    const stored = await storage.read(request);
    return stored && { stored, view: [], source: sourceWithoutEvents(stored.record, filter, config) };
  }
  const found = await readWindow(storage, { ...request, window }, maxBytes);
  if (!found) return undefined;
  const { stored } = found;

  const reading = new ViewReader(
    storage,
    stored.record,
    {
      conversation: { summary: stored.summary && viewItem(stored.summary), items: [], hasOlder: true },
      unread: visibleRanges(stored.record),
    },
    new ByteBudget(maxBytes),
  );
  reading.add(stored.events, stored.record.lastSeq);
  let { fitting } = found;
  if (fitting === undefined) {
    if (isFiltering(filter)) await reading.readForFilter(filter, stored);
    else await reading.readForConfig(config, stored);
    if (!reading.isFull) return viewOf(stored, reading.read, filter, { config, isForOneRead });
    fitting = reading.read.conversation.items.length;
  }
  const shorter = { ...filter, newest: Math.min(filter.newest || fitting, fitting) };
  const oldest = reading.read.conversation.items.at(-fitting)?.event.seq;
  await reading.readMissing(shorter, stored.now);
  const read = viewOf(stored, reading.read, shorter, { config, isForOneRead: true });
  return { ...read, isTruncated: isCutShort(read.view, oldest, config) };
}

/** Reads what a conversation lacks for its view, if the session is still there: at most some events, and an anchor. */
export async function readMissing(
  storage: SessionStorage,
  session: Pick<SessionRecord, 'appName' | 'userId' | 'sessionId' | 'incarnation'>,
  known: LoadedConversation,
  { filter, now }: { readonly filter: ViewFilter; readonly now: number },
): Promise<LoadedConversation> {
  const reading = new ViewReader(storage, session, known);
  await reading.readMissing(filter, now);
  return reading.read;
}

/** The view of what was read, and what a session object has to know of it. */
export function viewOf(
  stored: StoredSession,
  read: LoadedConversation,
  filter: ViewFilter,
  { config, isForOneRead }: { readonly config: GetSessionConfig; readonly isForOneRead: boolean },
): ReadView {
  const { now, record } = stored;
  const { view: whole, tailStart } = cutView(read.conversation, filter, now);
  const leftOut = lastOmitted(whole, config);
  const fromSeq = isForOneRead ? (read.conversation.items[tailStart]?.event.seq ?? record.lastSeq + 1) : undefined;
  return {
    stored,
    view: narrowView(whole, config),
    source: { ...read, now, config, omittedTo: leftOut ? placeOf(leftOut) : NOTHING_OMITTED, fromSeq },
  };
}

/** Of a reader who wants no events: what comes later is all that is ever shown. */
export function sourceWithoutEvents(
  record: SessionRecord,
  filter: ViewFilter,
  config: GetSessionConfig = {},
): ViewSource {
  const unread = visibleRanges(record);
  return {
    conversation: { items: [], hasOlder: unread.length > 0, olderAnchor: 'none' },
    unread,
    now: record.lastUpdateTime,
    config,
    omittedTo: record.lastSeq,
    fromSeq: isFiltering(filter) ? record.lastSeq + 1 : undefined,
  };
}

/** Whether the reader asked for more than the events that fit. */
function isCutShort(
  view: readonly ViewItem[],
  oldest: number | undefined,
  { numRecentEvents = Infinity, afterSeq = 0 }: GetSessionConfig,
): boolean {
  return view.length < numRecentEvents && (oldest ?? 0) > afterSeq + 1;
}

/** What to read together with the session; nothing for a reader who wants no events. */
function firstWindow(filter: ViewFilter, config: GetSessionConfig): EventWindow | undefined {
  const { numRecentEvents, afterSeq, afterTimestamp } = config;
  if (numRecentEvents === 0) return undefined;
  return isFiltering(filter)
    ? { inView: true, limit: filter.newest || undefined, maxAgeMs: filter.maxAgeMs || undefined }
    : { inView: true, limit: numRecentEvents, afterSeq, since: afterTimestamp };
}

class ViewReader {
  #conversation: Conversation;
  /** Visible stretches before what was read. */
  #unread: readonly SeqRange[];
  /** Whether no more events may be read on. */
  isFull = false;

  constructor(
    private readonly storage: SessionStorage,
    private readonly session: Pick<SessionRecord, 'appName' | 'userId' | 'sessionId' | 'incarnation'>,
    { conversation, unread }: LoadedConversation,
    private readonly budget = new ByteBudget(Infinity),
  ) {
    this.#conversation = conversation;
    this.#unread = unread;
  }

  get read(): LoadedConversation {
    return { conversation: this.#conversation, unread: this.#unread };
  }

  /** Adds events to the beginning, of all that are unread up to `lastSeq`. */
  add(events: StoredSession['events'], lastSeq: number): void {
    const items = events.filter(({ seq }) => isInRanges(seq, this.#unread)).map(viewItem);
    const unread = rangesBelow(this.#unread, events[0]?.seq ?? lastSeq + 1);
    this.#extend(items, unread);
  }

  /** As much of the conversation as `filter` looks at. */
  async readForFilter(filter: ViewFilter, { events, now }: StoredSession): Promise<void> {
    if (filter.newest > 0 && events.length >= filter.newest) {
      const missing = (): number => filter.newest - tailPlaces(this.#conversation.items, filter, now).length;
      await this.#readWhileMissing(missing, { maxAgeMs: filter.maxAgeMs || undefined }, MAX_PULL_BACK);
    }
    await this.readMissing(filter, now);
  }

  /** As much of the conversation as a config without any filter looks at. */
  async readForConfig(config: GetSessionConfig, { events }: StoredSession): Promise<void> {
    const { numRecentEvents = 0, afterSeq = 0, afterTimestamp } = config;
    if (numRecentEvents === 0 || events.length < numRecentEvents) return;
    const missing = (): number => numRecentEvents - narrowView(this.#conversation.items, config).length;
    await this.#readWhileMissing(missing, { since: afterTimestamp }, 0, afterSeq);
  }

  /** The calls that answers need, then the anchor before them: each is read once, where it is needed at all. */
  async readMissing(filter: ViewFilter, now: number): Promise<void> {
    const { lacks, tailStart } = cutView(this.#conversation, filter, now);
    if (lacks === 'calls') {
      const ranges = newestOf(this.#unread, MAX_PULL_BACK - tailStart);
      const older = await this.#readEvents({ ranges });
      this.#extend(older.map(viewItem), rangesBelow(this.#unread, ranges[0]?.from ?? 0));
    }
    if (lacks && cutView(this.#conversation, filter, now).lacks === 'anchor') await this.#readLastAnchor();
  }

  /**
   * Reads on towards the beginning until nothing is missing or the time window ends. Once is enough, unless
   * events are older than their place in the log; then it takes longer strides each time.
   */
  async #readWhileMissing(missing: () => number, window: EventWindow, spare: number, afterSeq = 0): Promise<void> {
    for (let stride = missing() + spare; missing() > 0 && !this.isFull; stride *= 4) {
      const ranges = newestOf(rangesAbove(this.#unread, afterSeq), nextViewBatchSize(stride, 0));
      if (ranges.length === 0) return;
      const events = await this.#readEvents({ ...window, ranges });
      this.isFull = !events.every((event) => this.budget.take(eventBytes(event)));
      this.#extend(events.map(viewItem), rangesBelow(this.#unread, events[0]?.seq ?? Infinity));
      if (events.length < countOf(ranges)) return;
    }
  }

  async #readLastAnchor(): Promise<void> {
    const anchors = await this.#readEvents({ ranges: this.#unread, anchorsOnly: true, limit: 1 });
    const olderAnchor = anchors.map(viewItem).findLast(isAnchorItem) ?? 'none';
    this.#conversation = { ...this.#conversation, olderAnchor };
  }

  #extend(older: readonly ViewItem[], unread: readonly SeqRange[]): void {
    this.#unread = unread;
    const { items, olderAnchor } = this.#conversation;
    this.#conversation = {
      ...this.#conversation,
      items: [...older, ...items],
      hasOlder: unread.length > 0,
      // Once it is one of the items, it is not known which one is the last before them.
      olderAnchor: older.some(isAnchorItem) && olderAnchor !== 'none' ? undefined : olderAnchor,
    };
  }

  async #readEvents(window: EventWindow): Promise<StoredSession['events']> {
    if (!window.ranges?.length) return [];
    const { appName, userId, sessionId, incarnation } = this.session;
    const more = await this.storage.read({ key: { appName, userId, sessionId }, window });
    if (more?.record.incarnation !== incarnation) throw new SessionNotFoundError(sessionId);
    // A store may answer with more than it was asked for.
    return more.events.filter(({ seq }) => isInRanges(seq, window.ranges ?? []));
  }
}

/** A session with the newest events of a window. */
export interface ReadWindow {
  readonly stored: StoredSession;
  /** How many visible events fit, where not all of them do. */
  readonly fitting?: number;
}

/**
 * Reads the newest events of a window, portion by portion, up to a number of bytes: at least one. So no more is held in
 * memory than these and one portion, however large the events are.
 */
export async function readWindow(
  storage: SessionStorage,
  { window, ...request }: ReadRequest & { readonly window: EventWindow },
  maxBytes: number,
): Promise<ReadWindow | undefined> {
  const { limit = Infinity, afterSeq = 0, since, maxAgeMs } = window;
  let asked = nextViewBatchSize(limit, 0);
  const stored = await storage.read({ ...request, window: { ...window, limit: asked } });
  if (!stored) return undefined;

  const visible = rangesAbove(visibleRanges(stored.record), afterSeq);
  const budget = new ByteBudget(maxBytes);
  /** Newest first. */
  const kept: StoredEvent[] = [];
  let portion = stored.events;
  for (;;) {
    for (const event of portion.toReversed()) {
      const isVisible = isInRanges(event.seq, visible);
      if (isVisible && !budget.take(eventBytes(event))) {
        const fitting = kept.filter(({ seq }) => isInRanges(seq, visible)).length;
        return { stored: { ...stored, events: kept.toReversed() }, fitting };
      }
      kept.push(event);
    }
    const oldest = portion[0];
    const size = nextViewBatchSize(limit, kept.length);
    if (!oldest || portion.length < asked || size <= 0) break;
    const ranges = newestOf(rangesBelow(visible, oldest.seq), size);
    if (ranges.length === 0) break;
    const more = await storage.read({ key: request.key, window: { ranges, since, maxAgeMs } });
    if (more?.record.incarnation !== stored.record.incarnation) throw new SessionNotFoundError(request.key.sessionId);
    portion = more.events.filter(({ seq }) => isInRanges(seq, ranges));
    asked = countOf(ranges);
  }
  return { stored: { ...stored, events: kept.toReversed() } };
}
