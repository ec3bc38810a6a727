import { isSummary } from '../event/event-inspection.js';
import type { SeqRange } from '../values/seq-ranges.js';
import { MAX_PULL_BACK } from './tool-pairs.js';
import { type ViewItem, isAnchorItem } from './view-item.js';
import { type GetSessionConfig, isAfter } from './view-config.js';
import { type Conversation, type Cut, type ViewFilter, cutView, isFiltering } from './cut-view.js';

/** The part of a conversation that was read, and the visible ranges that were not. */
export interface LoadedConversation {
  readonly conversation: Conversation;
  readonly unread: readonly SeqRange[];
}

/** The data and the parameters of a view. */
export interface ViewSource extends LoadedConversation {
  /** The store's time when it was read. */
  readonly now: number;
  readonly config: GetSessionConfig;
  /** The position of the last event that `numRecentEvents` omitted; see {@link toViewPosition}. */
  readonly omittedTo: number;
  /** First `seq` of the view's tail, if later appends must keep omitting earlier events. */
  readonly fromSeq?: number | undefined;
}

export const NOTHING_OMITTED = -1;

/** Items kept before the tail. Appends that complete out of order may cut a little earlier. */
const KEPT_BEFORE_TAIL = 5 * MAX_PULL_BACK;

/** The source of a new session's view. */
export const EMPTY_SOURCE: ViewSource = {
  conversation: { items: [], hasOlder: false },
  unread: [],
  now: 0,
  config: {},
  omittedTo: NOTHING_OMITTED,
};

/** The position in a view: the summary first, then events by `seq`. */
export function toViewPosition({ event, seq }: ViewItem): number {
  return isSummary(event) ? 0 : seq;
}

/**
 * The conversation that a session object holds: loaded events and events appended through it, as far back as a
 * later view can reach.
 */
export class LoadedView {
  #conversation: Conversation;
  #unread: readonly SeqRange[];
  /** Items up to here were dropped. */
  #forgottenTo = 0;
  /** The time of the view. Never decreases, even if appends complete out of order. */
  #now: number;

  constructor(private readonly source: ViewSource) {
    this.#now = source.now;
    this.#conversation = source.conversation;
    this.#unread = source.unread;
  }

  get config(): GetSessionConfig {
    return this.source.config;
  }

  get fromSeq(): number | undefined {
    return this.source.fromSeq;
  }

  get now(): number {
    return this.#now;
  }

  get loaded(): LoadedConversation {
    return { conversation: this.#conversation, unread: this.#unread };
  }

  /** The append filter for this object. */
  filterOf(filter: ViewFilter): ViewFilter {
    return { ...filter, fromSeq: this.source.fromSeq };
  }

  /** Whether the reader's config includes the event. */
  includes(item: ViewItem): boolean {
    return isAfter(item, this.source.config);
  }

  itemsAfter(seq: number): readonly ViewItem[] {
    return this.#conversation.items.filter((item) => item.seq > seq);
  }

  insert(item: ViewItem, now: number): void {
    this.#now = Math.max(this.#now, now);
    const { items, olderAnchor } = this.#conversation;
    const { seq } = item.event;
    if (seq > this.#forgottenTo) {
      const place = items.findLastIndex(({ event }) => event.seq < seq) + 1;
      this.#conversation = { ...this.#conversation, items: items.toSpliced(place, 0, item) };
      return;
    }
    const isLater = !olderAnchor || olderAnchor === 'none' || olderAnchor.event.seq < seq;
    if (isAnchorItem(item) && isLater) this.#conversation = { ...this.#conversation, olderAnchor: item };
  }

  /** Cuts the current view, and says what has to be read for it. */
  cut(filter: ViewFilter): Cut {
    const cut = cutView(this.#conversation, this.filterOf(filter), this.#now);
    this.#forgetBefore(cut.tailStart - KEPT_BEFORE_TAIL);
    const { config, omittedTo: leftOut } = this.source;
    return { ...cut, view: cut.view.filter((item) => isAfter(item, config) && toViewPosition(item) > leftOut) };
  }

  /** Adds the events that were read beyond `before`, unless they are present or no longer needed. */
  mergeOlder(before: LoadedConversation, after: LoadedConversation): void {
    const isLate = this.#unread !== before.unread || (this.#forgottenTo > 0 && after.unread !== before.unread);
    if (isLate) return;
    const known = this.#conversation;
    const { items, hasOlder, olderAnchor } = after.conversation;
    const older = items.slice(0, items.length - before.conversation.items.length);
    this.#conversation = {
      ...known,
      items: [...older, ...known.items],
      hasOlder: this.#forgottenTo > 0 || hasOlder,
      olderAnchor: after.unread === before.unread ? (known.olderAnchor ?? olderAnchor) : olderAnchor,
    };
    this.#unread = after.unread;
  }

  /** Drops items that no later view needs. */
  #forgetBefore(place: number): void {
    if (place <= 0) return;
    const { items, olderAnchor } = this.#conversation;
    const gone = items.slice(0, place);
    this.#forgottenTo = Math.max(this.#forgottenTo, gone.at(-1)?.event.seq ?? 0);
    this.#conversation = {
      ...this.#conversation,
      items: items.slice(place),
      olderAnchor: gone.findLast(isAnchorItem) ?? (this.#conversation.hasOlder ? olderAnchor : 'none'),
      hasOlder: true,
    };
  }
}

/** Whether the view is shortened, so that each append may change its beginning. */
export function isCutting(view: LoadedView, filter: ViewFilter): boolean {
  return isFiltering(filter) || view.fromSeq !== undefined;
}
