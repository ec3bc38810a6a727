import { isControlEvent, messageOf } from '../../agents/control-events.js';
import { InvocationTail } from '../../agents/invocation-tail.js';
import { isWhole, statusOf } from '../../agents/run-status.js';
import { withoutRewound } from '../../agents/stored-invocation.js';
import { ByteBudget, jsonBytes } from '../../sessions/domain/byte-budget.js';
import { isRewind, isSummary } from '../../sessions/domain/event-inspection.js';
import type { LoggedEvent } from '../../sessions/domain/event.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import { pagesOf } from '../../sessions/domain/paging.js';
import { limitsOf } from '../../sessions/limits-of.js';
import type { SessionService } from '../../sessions/session.service.js';

const PAGE = 500;

/** The newest events of the log, oldest first: as many as a view may have bytes. */
export async function newestEvents(sessions: SessionService, key: SessionKey, limit: number): Promise<LoggedEvent[]> {
  const { maxViewBytes } = limitsOf(sessions);
  const budget = new ByteBudget(maxViewBytes);
  const events: LoggedEvent[] = [];
  const request = { ...key, order: 'desc' } as const;
  const pages = pagesOf((cursor) =>
    sessions.listEvents({ ...request, limit: Math.min(PAGE, limit - events.length), cursor }),
  );
  for await (const page of pages) {
    const fitting = page.events.findIndex((event) => !budget.take(jsonBytes(event)));
    events.push(...page.events.slice(0, fitting < 0 ? undefined : fitting));
    if (fitting >= 0 || events.length >= limit) break;
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
  for await (const page of pagesOf((cursor) => sessions.listEvents({ ...request, cursor }))) {
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
  agentName: string,
): Promise<boolean> {
  const since: LoggedEvent[] = [];
  const request = { ...key, afterSeq: seq, limit: PAGE };
  for await (const { events } of pagesOf((cursor) => sessions.listEvents({ ...request, cursor }))) {
    since.push(...events.filter((event) => event.invocationId === invocationId || isRewind(event)));
  }
  const answer = withoutRewound(since).filter((event) => !isControlEvent(event) && messageOf(event) === undefined);
  const tail = new InvocationTail(agentName);
  for (const event of answer) tail.add(event);
  return tail.isClosed && isWhole(statusOf(answer));
}

/** What pages show of a log, also if the view leaves it out. */
export function shownIn(log: readonly LoggedEvent[]): LoggedEvent[] {
  return withoutRewound(log).filter((event) => !isSummary(event));
}
