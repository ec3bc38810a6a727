import { type Entry, isByUser, isSummary, partsOf } from './entries.js';

/** What a reader who is shown everything would see at one point of a log. */
export interface Moment {
  /** The last event said that is not rewound, neither a summary nor a rewind, and what was said before it. */
  readonly said: Said | undefined;
  readonly summary: Entry | undefined;
  readonly conversationCount: number;
}

/** Moments share their past, so that remembering all of them is cheap. */
interface Said {
  readonly last: Entry;
  readonly before: Said | undefined;
}

const BEGINNING: Moment = { said: undefined, summary: undefined, conversationCount: 0 };

/** The moment after the whole log. Walks it from the beginning every time. */
export function momentAfter(log: readonly Entry[]): Moment {
  const moments: Moment[] = [BEGINNING];
  for (const entry of log) moments.push(nextMoment(moments, entry));
  return moments.at(-1) ?? BEGINNING;
}

/** The view before any filter: the summary in force in place of what it covers, then what came after. */
export function wholeView(log: readonly Entry[]): Entry[] {
  const { said, summary } = momentAfter(log);
  const events: Entry[] = [];
  for (let rest = said; rest; rest = rest.before) events.push(rest.last);
  events.reverse();
  return summary ? [summary, ...events.filter(({ seq }) => seq > boundaryOf(summary))] : events;
}

function nextMoment(moments: readonly Moment[], entry: Entry): Moment {
  const before = moments.at(-1) ?? BEGINNING;
  const { rewind } = entry.event.actions ?? {};
  if (rewind) return moments[rewind.toSeq] ?? BEGINNING;
  if (isSummary(entry)) {
    const comesInForce = !before.summary || boundaryOf(entry) >= boundaryOf(before.summary);
    return comesInForce ? { ...before, summary: entry } : before;
  }
  const isTurn = isByUser(entry) && partsOf(entry).some(({ text }) => typeof text === 'string' && text !== '');
  return {
    ...before,
    said: { last: entry, before: before.said },
    conversationCount: before.conversationCount + (isTurn ? 1 : 0),
  };
}

function boundaryOf(summary: Entry): number {
  return summary.event.actions?.compaction?.toSeq ?? 0;
}
