import { hasEnded, invocationOfMessage, isControlEvent } from '../../agents/index.js';
import { isRewind, isSummary, limitsOf, readPages, withoutRewound } from '../../adapter.js';
import type { LoggedEvent, SessionKey, SessionService } from '../../index.js';

const PAGE = 500;

/** The newest events of the log, oldest first: as many as a view may have bytes. */
export async function newestEvents(sessions: SessionService, key: SessionKey, limit: number): Promise<LoggedEvent[]> {
  const { maxViewBytes } = limitsOf(sessions);
  let bytes = 0;
  const events: LoggedEvent[] = [];
  const request = { ...key, order: 'desc' } as const;
  const pages = readPages((cursor) =>
    sessions.listEvents({ ...request, limit: Math.min(PAGE, limit - events.length), cursor }),
  );
  for await (const page of pages) {
    for (const event of page.events) {
      bytes += Buffer.byteLength(JSON.stringify(event));
      if (bytes > maxViewBytes && events.length > 0) return events.toReversed();
      events.push(event);
    }
    if (events.length >= limit) break;
  }
  return events.toReversed();
}

/** Looks from the end of the log back. Holds two pages, and the rewinds that follow. */
export async function searchLog<Found>(
  sessions: SessionService,
  key: SessionKey,
  look: (log: readonly LoggedEvent[], isWhole: boolean) => Found | undefined,
): Promise<Found | undefined> {
  let next: readonly LoggedEvent[] = [];
  const rewinds: LoggedEvent[] = [];
  const request = { ...key, order: 'desc', limit: PAGE } as const;
  for await (const page of readPages((cursor) => sessions.listEvents({ ...request, cursor }))) {
    const events = page.events.toReversed();
    const found = look([...events, ...next, ...rewinds], page.nextCursor === undefined);
    if (found) return found;
    rewinds.unshift(...next.filter(isRewind));
    next = events;
  }
  return undefined;
}

/** Whether the log has the whole answer to a message: nobody stopped it, it did not fail, and no rewind took it back. */
export async function hasWholeAnswer(
  sessions: SessionService,
  key: SessionKey,
  { seq, invocationId }: LoggedEvent,
): Promise<boolean> {
  const since: LoggedEvent[] = [];
  const request = { ...key, afterSeq: seq, limit: PAGE };
  for await (const { events } of readPages((cursor) => sessions.listEvents({ ...request, cursor }))) {
    since.push(...events.filter((event) => event.invocationId === invocationId || isRewind(event)));
  }
  const answer = withoutRewound(since).filter(
    (event) => !isControlEvent(event) && invocationOfMessage(event) === undefined,
  );
  return hasEnded(answer) && answer.at(-1)?.interrupted !== true;
}

/** What pages show of a log, also if the view leaves it out. */
export function shownIn(log: readonly LoggedEvent[]): LoggedEvent[] {
  return withoutRewound(log).filter((event) => !isSummary(event));
}
