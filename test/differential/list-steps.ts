import { mutate } from './append-steps.js';
import { type LockStep, same } from './lock-step.js';
import { listedEvents, listedSessions } from './model/lists.js';
import { outcomeOf, seen, seenEntry, seenEvent, seenListed, seenSession } from './observations.js';
import type { ListEvents, ListSessions } from './operations.js';

/** Walks through all pages. */
export async function listSessions(step: LockStep, operation: ListSessions): Promise<void> {
  const { appName, userId, limit, order, orderBy, filter } = operation;
  const byPage = operation.byPage && !filter;
  const expected = listedSessions(step.model.store, operation);
  let cursor: string | undefined;
  for (let page = 1; page === 1 || (page - 1) * limit < expected.length; page++) {
    const place = byPage ? { page } : { cursor };
    const found = await step.service.listSessions({ appName, userId, limit, order, orderBy, filter, ...place });
    const sessionsSeen = found.sessions.map((session) => seenSession(session, true));
    same(sessionsSeen, seenListed(step.model, expected.slice((page - 1) * limit, page * limit)), `page ${page}`);
    same(found.nextCursor !== undefined, page * limit < expected.length, 'more sessions');
    if (byPage) same(found.totalItems, expected.length, 'total');
    cursor = found.nextCursor;
  }
}

export async function listAllSessions(step: LockStep): Promise<void> {
  const appNames = new Set(step.model.store.all().map(({ key }) => key.appName));
  const list = { kind: 'list sessions', limit: 3, order: 'desc', orderBy: 'lastUpdateTime', byPage: false } as const;
  for (const appName of appNames) await listSessions(step, { ...list, appName });
}

export async function listEvents(step: LockStep, operation: ListEvents): Promise<void> {
  const session = step.model.store.live(operation.key);
  const lastSeq = session?.lastSeq ?? 0;
  const { limit, order } = operation;
  const afterSeq = operation.afterSeq === undefined ? undefined : operation.afterSeq % (lastSeq + 2);
  const beforeSeq = operation.beforeSeq === undefined ? undefined : operation.beforeSeq % (lastSeq + 2);
  const expected = session && listedEvents(session, { afterSeq, beforeSeq, order });
  let cursor: string | undefined;
  for (let start = 0; start === 0 || start < (expected?.length ?? 0); start += limit) {
    const request = { ...operation.key, afterSeq, beforeSeq, limit, order, cursor };
    const page = await outcomeOf(() => step.service.listEvents(request));
    const eventsSeen = expected
      ? [expected.slice(start, start + limit).map(seenEntry), 1, lastSeq, start + limit < expected.length]
      : { code: 'SESSION_NOT_FOUND' };
    same(
      seen(page, (found) => [
        found.events.map(seenEvent),
        found.firstSeq,
        found.lastSeq,
        found.nextCursor !== undefined,
      ]),
      eventsSeen,
      'events',
    );
    if (!('value' in page)) return;
    cursor = page.value.nextCursor;
    for (const event of page.value.events) mutate(event);
  }
}
