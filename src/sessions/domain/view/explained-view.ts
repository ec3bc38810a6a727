import type { ViewReason } from './view-reason.js';
import type { ViewMarks } from '../stored/view-marks.js';
import type { ViewItem } from './view-item.js';
import { type GetSessionConfig, isAfter } from './view-config.js';
import { isRewind } from '../event/event-inspection.js';
import { type Choice, type Conversation, type ViewFilter, isFiltering, isYoung } from './cut-view.js';

/** What decided about an event of the log. */
export interface ViewDecision {
  readonly reason: ViewReason;
  /** The event that decided: the summary, the rewind, the response, or the event with which the view begins. */
  readonly by?: number | undefined;
}

/** A view, with everything that decided about it. */
export interface DecidedView {
  readonly marks: ViewMarks;
  readonly conversation: Conversation;
  readonly filter: ViewFilter;
  readonly config: GetSessionConfig;
  readonly now: number;
  /** The events of the view before the config narrowed it; missing if the config asks for no events. */
  readonly whole?: readonly ViewItem[] | undefined;
  readonly choice?: Choice | undefined;
  readonly view: readonly ViewItem[];
  /** Whether events were left out because they did not fit. */
  readonly isTruncated: boolean;
}

/**
 * Decides for each event of a log why it is in a view, or not. The limits decide in the order in which they cut: summary and rewinds, age,
 * number, anchor, tool calls, and then the config.
 *
 * @example new ViewDecisions(decided).of(item).reason // 'tooOld'
 */
export class ViewDecisions {
  readonly #decided: DecidedView;
  readonly #shown: ReadonlySet<number>;
  readonly #whole: ReadonlySet<number>;
  /** The index of each loaded item, by its `seq`. */
  readonly #places: ReadonlyMap<number, number>;
  readonly #tail: ReadonlySet<number>;
  readonly #wanted: ReadonlySet<number>;

  constructor(decided: DecidedView) {
    this.#decided = decided;
    this.#shown = toSeqSet(decided.view);
    this.#whole = toSeqSet(decided.whole ?? []);
    this.#places = new Map(decided.conversation.items.map(({ seq }, place) => [seq, place]));
    this.#tail = new Set(decided.choice?.tail);
    this.#wanted = new Set(decided.choice?.wanted);
  }

  of(item: ViewItem): ViewDecision {
    const { marks, whole } = this.#decided;
    const hidden = this.#hiddenBy(item);
    if (hidden) return hidden;
    if (!whole) return { reason: 'notAsked' };
    if (this.#whole.has(item.seq)) return this.#shown.has(item.seq) ? this.#inView(item) : { reason: 'notAsked' };
    return item.seq === marks.summarySeq ? this.#tooOldOrBytes(item) : this.#outOfView(item);
  }

  /** Whether a summary or a rewind removed the event for every reader. */
  #hiddenBy({ seq, event }: ViewItem): ViewDecision | undefined {
    const { hidden, summarySeq, viewFromSeq } = this.#decided.marks;
    if (seq === summarySeq) return undefined;
    const range = hidden.find(({ from, to }) => seq >= from && seq <= to);
    // A rewound range ends with its rewind, and a superseded summary is a range of its own.
    const isSuperseded = range && range.from === range.to && !isRewind(event);
    if (seq <= viewFromSeq || isSuperseded) return { reason: 'summarised', by: summarySeq };
    return range && { reason: 'rewound', by: range.to };
  }

  #inView({ seq }: ViewItem): ViewDecision {
    const { marks, choice, conversation } = this.#decided;
    if (seq === marks.summarySeq) return { reason: 'summary' };
    const place = this.#places.get(seq);
    if (!choice || (place !== undefined && this.#wanted.has(place))) return { reason: 'kept' };
    const pull = choice.pulls.find(({ from, to }) => place !== undefined && place >= from && place <= to);
    return pull ? { reason: 'calledFor', by: conversation.items[pull.by]?.seq } : { reason: 'anchor' };
  }

  #outOfView(item: ViewItem): ViewDecision {
    const { conversation, choice, filter } = this.#decided;
    const place = this.#places.get(item.seq);
    if (place === undefined || !this.#tail.has(place)) {
      return isFiltering(filter) ? this.#tooOldOrBytes(item) : this.#unread(item);
    }
    if (this.#wanted.has(place)) return { reason: 'unpaired' };
    const [begin] = choice?.wanted ?? [];
    return { reason: 'beforeAnchor', by: begin === undefined ? undefined : conversation.items[begin]?.seq };
  }

  /** Without limits, an event that was not read is one that was not asked for, or does not fit. */
  #unread(item: ViewItem): ViewDecision {
    const { config, view, isTruncated } = this.#decided;
    const { numRecentEvents = Infinity } = config;
    const isAsked = isAfter(item, config) && view.length < numRecentEvents;
    return { reason: isTruncated && isAsked ? 'overBytes' : 'notAsked' };
  }

  #tooOldOrBytes(item: ViewItem): ViewDecision {
    const { filter, now, isTruncated } = this.#decided;
    if (!isYoung(item, filter, now)) return { reason: 'tooOld' };
    const isFull = filter.newest > 0 && this.#tail.size >= filter.newest;
    return { reason: isTruncated && !isFull ? 'overBytes' : 'overLimit' };
  }
}

function toSeqSet(items: readonly ViewItem[]): ReadonlySet<number> {
  return new Set(items.map(({ seq }) => seq));
}
