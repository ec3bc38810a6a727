import { isSummary } from '../sessions/domain/event-inspection.js';
import type { SessionKey } from '../sessions/domain/ids.js';
import { loggedEvent } from '../sessions/domain/logged-event.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type SessionSummary, summaryOf } from './session-summary.js';

/** Which summaries of which session. */
export interface ListSummariesRequest extends SessionKey {
  /** Only those after this event. */
  readonly afterSeq?: number | undefined;
  /** The first so many; all of them unless given. */
  readonly limit?: number | undefined;
}

const PAGE = 500;

/** Summaries that the log keeps, oldest first, those that are not in force any more included. */
export async function listSummaries(
  storage: SessionStorage,
  { afterSeq = 0, limit = Infinity, ...key }: ListSummariesRequest,
): Promise<SessionSummary[] | undefined> {
  const summaries: SessionSummary[] = [];
  for (let after = afterSeq; ;) {
    const window = { afterSeq: after, anchorsOnly: true, limit: PAGE, keep: 'oldest' } as const;
    const read = await storage.read({ key, window });
    if (!read) return undefined;
    const anchors = read.events.filter(({ seq, payload }) => seq > after && payload !== null).map(loggedEvent);
    const { summarySeq } = read.record.marks;
    summaries.push(...anchors.filter(isSummary).map((event) => summaryOf(key.sessionId, event, summarySeq)));
    const last = read.events.at(-1)?.seq ?? 0;
    const isEnd = last <= after || read.events.length < PAGE;
    if (isEnd || summaries.length >= limit) return summaries.slice(0, limit);
    after = last;
  }
}
