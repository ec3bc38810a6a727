import { type Entry, isByUser, isSummary, partsOf } from './entries.js';

/** The unfiltered view at one point of a log. */
export interface Moment {
  /** The last visible event that is neither a summary nor a rewind, linked to the visible events before it. */
  readonly visible: VisibleEvents | undefined;
  readonly summary: Entry | undefined;
  readonly conversationCount: number;
}

/** A linked list, so that moments share their past and all of them can be kept. */
interface VisibleEvents {
  readonly last: Entry;
  readonly before: VisibleEvents | undefined;
}

const START: Moment = { visible: undefined, summary: undefined, conversationCount: 0 };

/** The moment after the whole log, computed from the start each time. */
export function momentAfter(log: readonly Entry[]): Moment {
  const moments: Moment[] = [START];
  for (const entry of log) moments.push(nextMoment(moments, entry));
  return moments.at(-1) ?? START;
}

/** The view before any filter: the current summary instead of what it covers, then the later events. */
export function wholeView(log: readonly Entry[]): Entry[] {
  const { visible, summary } = momentAfter(log);
  const events: Entry[] = [];
  for (let rest = visible; rest; rest = rest.before) events.push(rest.last);
  events.reverse();
  return summary ? [summary, ...events.filter(({ seq }) => seq > boundaryOf(summary))] : events;
}

function nextMoment(moments: readonly Moment[], entry: Entry): Moment {
  const before = moments.at(-1) ?? START;
  const { rewind } = entry.event.actions ?? {};
  if (rewind) return moments[rewind.toSeq] ?? START;
  if (isSummary(entry)) {
    const isCurrent = !before.summary || boundaryOf(entry) >= boundaryOf(before.summary);
    return isCurrent ? { ...before, summary: entry } : before;
  }
  const isTurn = isByUser(entry) && partsOf(entry).some(({ text }) => typeof text === 'string' && text !== '');
  return {
    ...before,
    visible: { last: entry, before: before.visible },
    conversationCount: before.conversationCount + (isTurn ? 1 : 0),
  };
}

function boundaryOf(summary: Entry): number {
  return summary.event.actions?.compaction?.toSeq ?? 0;
}
