import { ByteBudget, eventBytes, MOST_PER_READ } from '../domain/stored/byte-budget.js';
import type { StoredEvent } from '../domain/stored/commit.js';
import { SessionNotFoundError } from '../domain/errors/errors.js';
import type { SessionKey } from '../domain/values/ids.js';
import {
  type LoadedConversation,
  NOTHING_OMITTED,
  type ViewSource,
  toViewPosition,
} from '../domain/view/loaded-view.js';
import { type SeqRange, countSeqNumbers, isInRanges, newestOf } from '../domain/values/seq-ranges.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import type { StateLimits } from '../domain/stored/state-size.js';
import { MAX_PULL_BACK } from '../domain/view/tool-pairs.js';
import { type ViewItem, isAnchorItem, unparsedViewItem, viewItem } from '../domain/view/view-item.js';
import { rangesAbove, rangesBelow } from '../domain/values/seq-ranges.js';
import { visibleRanges } from '../domain/stored/view-marks.js';
import { type GetSessionConfig, lastOmitted, narrowView } from '../domain/view/view-config.js';
import {
  type Conversation,
  type Cut,
  type ViewFilter,
  cutView,
  isFiltering,
  tailPlaces,
} from '../domain/view/cut-view.js';
import type { EventWindow, ReadRequest, SessionStorage, StoredSession } from '../storage/session-storage.js';

/** What a read of a view or a log needs of a store. */
export type SessionReader = Pick<SessionStorage, 'read' | 'isInProcess'>;

/** A session with the requested view. */
export interface ReadView {
  readonly stored: StoredSession;
  readonly view: readonly ViewItem[];
  readonly source: ViewSource;
  /** How the view was cut; missing if the config asks for no events. */
  readonly cut?: Cut | undefined;
  /** Whether older events were omitted because they did not fit. */
  readonly isTruncated?: boolean;
}

/** How a view is read. */
export interface ViewReadingOptions {
  readonly config?: GetSessionConfig | undefined;
  /** Whether later appends must also omit the events that this filter omits. */
  readonly isForOneRead?: boolean | undefined;
  /** Maximum bytes of events in the view, not counting a tool call or an anchor that it needs. Default: no limit. */
  readonly maxBytes?: number | undefined;
  /** How large the state of each scope may be. Without it, no state is read. */
  readonly maxStateBytes?: StateLimits | undefined;
}

/**
 * Reads a session and as little of its log as the view needs: the newest events in the same request as the session,
 * more of them only if rewound ranges or tool calls are at the cut, and the last anchor only if the newest events
 * have none. If not all events fit, the view has the newest ones that do.
 */
export async function readView(
  storage: SessionReader,
  key: SessionKey,
  filter: ViewFilter,
  { config = {}, isForOneRead = false, maxBytes = Infinity, maxStateBytes }: ViewReadingOptions = {},
): Promise<ReadView | undefined> {
  const withState = maxStateBytes !== undefined;
  const request = { key, withState, maxStateBytes, withMetadata: true, withSummary: true };
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
      conversation: { summary: stored.summary && itemReader(storage)(stored.summary), items: [], hasOlder: true },
      unread: visibleRanges(stored.record),
    },
    new ByteBudget(maxBytes),
  );
  reading.add(stored.events, stored.record.lastSeq);
  let { fitting } = found;
  if (fitting === undefined) {
    if (isFiltering(filter)) await reading.readForFilter(filter, stored);
    else await reading.readForConfig(config, stored);
    if (!reading.isFull) return cutReadView(stored, reading.read, filter, { config, isForOneRead });
    fitting = reading.read.conversation.items.length;
  }
  const shorter = { ...filter, newest: Math.min(filter.newest || fitting, fitting) };
  const oldest = reading.read.conversation.items.at(-fitting)?.event.seq;
  await reading.readMissing(shorter, stored.now);
  const read = cutReadView(stored, reading.read, shorter, { config, isForOneRead: true });
  return { ...read, isTruncated: isCutShort(read.view, oldest, config) };
}

/** Reads the events and the anchor that the view still lacks. Throws if the session does not exist any more. */
export async function readMissing(
  storage: SessionReader,
  session: Pick<SessionRecord, 'appName' | 'userId' | 'sessionId' | 'incarnation'>,
  known: LoadedConversation,
  { filter, now }: { readonly filter: ViewFilter; readonly now: number },
): Promise<LoadedConversation> {
  const reading = new ViewReader(storage, session, known);
  await reading.readMissing(filter, now);
  return reading.read;
}

/** Cuts the view of the events that were read, and returns it with the data that a session object needs. */
export function cutReadView(
  stored: StoredSession,
  read: LoadedConversation,
  filter: ViewFilter,
  { config, isForOneRead }: { readonly config: GetSessionConfig; readonly isForOneRead: boolean },
): ReadView {
  const { now, record } = stored;
  const cut = cutView(read.conversation, filter, now);
  const { view: whole, tailStart } = cut;
  const leftOut = lastOmitted(whole, config);
  const fromSeq = isForOneRead ? (read.conversation.items[tailStart]?.event.seq ?? record.lastSeq + 1) : undefined;
  return {
    stored,
    view: narrowView(whole, config),
    source: { ...read, now, config, omittedTo: leftOut ? toViewPosition(leftOut) : NOTHING_OMITTED, fromSeq },
    cut,
  };
}

/** For `numRecentEvents: 0`: the session object shows only events appended later. */
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

/** Whether the reader requested more events than fit. */
function isCutShort(
  view: readonly ViewItem[],
  oldest: number | undefined,
  { numRecentEvents = Infinity, afterSeq = 0 }: GetSessionConfig,
): boolean {
  return view.length < numRecentEvents && (oldest ?? 0) > afterSeq + 1;
}

/** The events to read together with the session; none for `numRecentEvents: 0`. */
function firstWindow(filter: ViewFilter, config: GetSessionConfig): EventWindow | undefined {
  const { numRecentEvents, afterSeq, afterTimestamp } = config;
  if (numRecentEvents === 0) return undefined;
  return isFiltering(filter)
    ? { inView: true, limit: filter.newest || undefined, maxAgeMs: filter.maxAgeMs || undefined }
    : { inView: true, limit: numRecentEvents, afterSeq, since: afterTimestamp };
}

/** Text from outside this process may be damaged, which a read has to report. */
function itemReader({ isInProcess }: SessionReader): (stored: StoredEvent) => ViewItem {
  return isInProcess ? unparsedViewItem : viewItem;
}

class ViewReader {
  #conversation: Conversation;
  /** Visible ranges before the events that were read. */
  #unread: readonly SeqRange[];
  readonly #itemOf: (stored: StoredEvent) => ViewItem;
  /** Whether the byte limit is reached. */
  isFull = false;

  constructor(
    private readonly storage: SessionReader,
    private readonly session: Pick<SessionRecord, 'appName' | 'userId' | 'sessionId' | 'incarnation'>,
    { conversation, unread }: LoadedConversation,
    private readonly budget = new ByteBudget(Infinity),
  ) {
    this.#conversation = conversation;
    this.#unread = unread;
    this.#itemOf = itemReader(storage);
  }

  get read(): LoadedConversation {
    return { conversation: this.#conversation, unread: this.#unread };
  }

  /** Prepends unread events up to `lastSeq`. */
  add(events: StoredSession['events'], lastSeq: number): void {
    const items = events.filter(({ seq }) => isInRanges(seq, this.#unread)).map(this.#itemOf);
    const unread = rangesBelow(this.#unread, events[0]?.seq ?? lastSeq + 1);
    this.#extend(items, unread);
  }

  /** Reads the events that `filter` needs. */
  async readForFilter(filter: ViewFilter, { events, now }: StoredSession): Promise<void> {
    if (filter.newest > 0 && events.length >= filter.newest) {
      const missing = (): number => filter.newest - tailPlaces(this.#conversation.items, filter, now).length;
      await this.#readWhileMissing(missing, { maxAgeMs: filter.maxAgeMs || undefined }, MAX_PULL_BACK);
    }
    await this.readMissing(filter, now);
  }

  /** Reads the events that a config needs if there is no filter. */
  async readForConfig(config: GetSessionConfig, { events }: StoredSession): Promise<void> {
    const { numRecentEvents = 0, afterSeq = 0, afterTimestamp } = config;
    if (numRecentEvents === 0 || events.length < numRecentEvents) return;
    const missing = (): number => numRecentEvents - narrowView(this.#conversation.items, config).length;
    await this.#readWhileMissing(missing, { since: afterTimestamp }, 0, afterSeq);
  }

  /** Reads the calls that tool responses need, then the anchor before them. Each takes at most one read. */
  async readMissing(filter: ViewFilter, now: number): Promise<void> {
    const { lacks, tailStart } = cutView(this.#conversation, filter, now);
    if (lacks === 'calls') {
      const ranges = newestOf(this.#unread, MAX_PULL_BACK - tailStart);
      const older = await this.#readEvents({ ranges });
      this.#extend(older.map(this.#itemOf), rangesBelow(this.#unread, ranges[0]?.from ?? 0));
    }
    if (lacks && cutView(this.#conversation, filter, now).lacks === 'anchor') await this.#readLastAnchor();
  }

  /**
   * Reads older events until nothing is missing or the time window ends. One read is enough, unless
   * events are older than their place in the log. Then each read is larger than the one before.
   */
  async #readWhileMissing(missing: () => number, window: EventWindow, spare: number, afterSeq = 0): Promise<void> {
    for (let stride = missing() + spare; missing() > 0 && !this.isFull; stride *= 4) {
      const ranges = newestOf(rangesAbove(this.#unread, afterSeq), Math.min(stride, MOST_PER_READ));
      if (ranges.length === 0) return;
      const { events, isCut } = await this.#readWindow({ ...window, ranges, maxBytes: this.budget.left });
      this.isFull = !events.every((event) => this.budget.take(eventBytes(event)));
      this.#extend(events.map(this.#itemOf), rangesBelow(this.#unread, events[0]?.seq ?? Infinity));
      if (!isCut && events.length < countSeqNumbers(ranges)) return;
    }
  }

  async #readLastAnchor(): Promise<void> {
    const anchors = await this.#readEvents({ ranges: this.#unread, anchorsOnly: true, limit: 1 });
    const olderAnchor = anchors.map(this.#itemOf).findLast(isAnchorItem) ?? 'none';
    this.#conversation = { ...this.#conversation, olderAnchor };
  }

  #extend(older: readonly ViewItem[], unread: readonly SeqRange[]): void {
    this.#unread = unread;
    const { items, olderAnchor } = this.#conversation;
    this.#conversation = {
      ...this.#conversation,
      items: [...older, ...items],
      hasOlder: unread.length > 0,
      // If it is among the items now, the last anchor before them is unknown again.
      olderAnchor: older.some(isAnchorItem) && olderAnchor !== 'none' ? undefined : olderAnchor,
    };
  }

  async #readEvents(window: EventWindow): Promise<StoredSession['events']> {
    return window.ranges?.length ? (await this.#readWindow(window)).events : [];
  }

  async #readWindow(window: EventWindow): Promise<Pick<StoredSession, 'events' | 'isCut'>> {
    const { appName, userId, sessionId, incarnation } = this.session;
    const more = await this.storage.read({ key: { appName, userId, sessionId }, window });
    if (more?.record.incarnation !== incarnation) throw new SessionNotFoundError(sessionId);
    // A store may return more events than requested.
    return { isCut: more.isCut, events: more.events.filter(({ seq }) => isInRanges(seq, window.ranges ?? [])) };
  }
}

/** A session with the newest events of a window. */
export interface ReadWindow {
  readonly stored: StoredSession;
  /** How many visible events fit; missing if all of them do. */
  readonly fitting?: number;
}

/**
 * Reads the newest events of a window, up to a number of bytes, but at least one event. One read is enough, unless the store
 * ends it early.
 */
async function readWindow(
  storage: SessionReader,
  { window, ...request }: ReadRequest & { readonly window: EventWindow },
  maxBytes: number,
): Promise<ReadWindow | undefined> {
  const { limit = Infinity, afterSeq = 0, since, maxAgeMs } = window;
  const budget = new ByteBudget(maxBytes);
  let asked = Math.min(limit, MOST_PER_READ);
  const stored = await storage.read({ ...request, window: { ...window, limit: asked, maxBytes } });
  if (!stored) return undefined;

  const visible = rangesAbove(visibleRanges(stored.record), afterSeq);
  /** Newest first. */
  const kept: StoredEvent[] = [];
  let portion: Pick<StoredSession, 'events' | 'isCut'> = stored;
  for (;;) {
    const { events, isCut } = portion;
    for (const event of events.toReversed()) {
      const isVisible = isInRanges(event.seq, visible);
      if (isVisible && !budget.take(eventBytes(event))) {
        const fitting = kept.filter(({ seq }) => isInRanges(seq, visible)).length;
        return { stored: { ...stored, events: kept.toReversed() }, fitting };
      }
      kept.push(event);
    }
    const oldest = events[0];
    const size = Math.min(limit - kept.length, MOST_PER_READ);
    const isEnd = !isCut && events.length < asked;
    if (!oldest || isEnd || size <= 0) break;
    const ranges = newestOf(rangesBelow(visible, oldest.seq), size);
    if (ranges.length === 0) break;
    const rest = { ranges, since, maxAgeMs, maxBytes: budget.left };
    const more = await storage.read({ key: request.key, window: rest });
    if (more?.record.incarnation !== stored.record.incarnation) throw new SessionNotFoundError(request.key.sessionId);
    portion = { isCut: more.isCut, events: more.events.filter(({ seq }) => isInRanges(seq, ranges)) };
    asked = countSeqNumbers(ranges);
  }
  return { stored: { ...stored, events: kept.toReversed() } };
}
