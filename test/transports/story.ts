import type { LoggedEvent, Session } from '../../src/index.js';
import type { ManualClock, SessionClient } from '../../src/testing/index.js';

const OWNER = { appName: 'shop/1', userId: 'ann ä' };
const KEY = { ...OWNER, sessionId: 'cart #1' };
const SESSION = { ...OWNER, id: KEY.sessionId };

const say = (id: string, text: string, more = {}) => ({
  id,
  author: 'user',
  invocationId: `inv-${id}`,
  content: {
    role: 'user',
    parts: [{ text }],
  },
  ...more,
});

/** Tells what happened, step by step. */
type Transcript = Record<string, unknown>;

/**
 * What callers do with sessions, from the first create to the delete. Two services on which all steps have the same results
 * cannot be distinguished by it.
 */
export async function tellStory(sessions: SessionClient, clock: ManualClock): Promise<Transcript> {
  const told: Transcript = {};
  const state = { step: 1, draft: 'x', 'user:theme': 'dark', 'app:currency': 'EUR', __proto: null };
  told.created = shownSession(await sessions.createSession({ ...KEY, state }));
  told.createdAgain = await refusalOf(sessions.createSession(KEY));
  told.found = shownSession(await sessions.getOrCreateSession(KEY));
  clock.advance(10);
  told.other = shownSession(await sessions.getOrCreateSession({ ...KEY, sessionId: 'other' }));
  const watch = sessions.watch({ ...KEY, afterSeq: 0 });

  clock.advance(10);
  const first = await sessions.append({ session: SESSION, event: say('e-1', 'Hello 😀') });
  told.first = [shownEvent(first.event), first.duplicate];
  told.repeated = (await sessions.append({ session: SESSION, event: say('e-1', 'Hello 😀') })).duplicate;
  told.conflict = await refusalOf(sessions.append({ session: SESSION, event: say('e-1', 'Bye') }));
  told.stale = await refusalOf(sessions.append({ session: SESSION, event: say('e-2', 'Late'), expectedVersion: 0 }));
  clock.advance(10);
  const actions = { stateDelta: { step: 2, 'user:theme': null, 'temp:x': 1 }, stateRemovals: ['draft'] };
  const second = say('e-2', 'Two', { author: 'agent', actions, unknown: { kept: [null] } });
  told.second = shownEvent((await sessions.append({ session: SESSION, event: second, expectedVersion: 1 })).event);
  await sessions.append({ session: SESSION, event: say('e-3', 'Three') });
  told.watched = await taken(watch, 3);
  told.badInput = await refusalOf(sessions.append({ session: SESSION, event: { author: 'user', timestamp: -1 } }));

  told.session = shownSession(await sessions.getSession(KEY));
  told.newest = shownSession(await sessions.getSession({ ...KEY, config: { numRecentEvents: 1 } }));
  told.late = shownSession(await sessions.getSession({ ...KEY, config: { afterSeq: 1 } }));
  told.pages = await pagesOf(async (cursor) => {
    const page = await sessions.listEvents({ ...KEY, limit: 2, order: 'desc', cursor });
    return { items: [page.firstSeq, page.lastSeq, ...page.events.map(shownEvent)], nextCursor: page.nextCursor };
  });

  told.userState = await sessions.updateUserState({
    ...OWNER,
    stateDelta: { a: null, b: [1] },
    stateRemovals: ['theme'],
  });
  told.userStateRead = await sessions.getUserState(OWNER);
  told.appState = await sessions.updateAppState({ appName: OWNER.appName, stateDelta: { tax: 0.19 } });
  told.appStateRead = await sessions.getAppState({ appName: OWNER.appName });

  clock.advance(10);
  told.forked = shownSession(await sessions.forkSession({ ...KEY, atSeq: 1, newSessionId: 'fork' }));
  told.staleRewind = await refusalOf(sessions.rewindSession({ ...KEY, toSeq: 1, expectedVersion: 1 }));
  told.rewound = shownSession(await sessions.rewindSession({ ...KEY, invocationId: 'inv-e-2', expectedVersion: 3 }));
  told.watchedRewind = await taken(watch, 1);

  const list = async (owner: { appName: string; userId?: string }) =>
    pagesOf(async (cursor) => {
      const how = { limit: 2, order: 'asc', orderBy: 'createTime', cursor } as const;
      const page = await sessions.listSessions({ ...owner, ...how });
      return { items: page.sessions.map(shownSession), nextCursor: page.nextCursor };
    });
  told.ofUser = await list(OWNER);
  told.ofApp = await list({ appName: OWNER.appName });

  await sessions.deleteSession(KEY);
  told.end = await refusalOf(watch.next());
  told.deleted = await sessions.getSession(KEY);
  told.appendToDeleted = await refusalOf(sessions.append({ session: SESSION, event: say('e-4', 'Four') }));
  await sessions.deleteSession(KEY);
  told.left = await list(OWNER);
  return told;
}

interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor?: string | undefined;
}

async function pagesOf(read: (cursor: string | undefined) => Promise<Page>): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (let cursor: string | undefined, more = true; more;) {
    const { items, nextCursor } = await read(cursor);
    pages.push(items);
    cursor = nextCursor;
    more = nextCursor !== undefined;
  }
  return pages;
}

async function taken(watch: AsyncIterableIterator<LoggedEvent>, count: number): Promise<unknown[]> {
  const events: unknown[] = [];
  while (events.length < count) {
    const { value } = (await watch.next()) as IteratorYieldResult<LoggedEvent>;
    events.push(shownEvent(value));
  }
  return events;
}

async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return { returned: await work };
  } catch (error) {
    const { code, currentVersion } = error as { code?: unknown; currentVersion?: unknown };
    return { code, currentVersion };
  }
}

function shownSession(session: Session | undefined): unknown {
  if (!session) return undefined;
  const { state, events, ...fields } = session;
  return { ...fields, state: state.toJSON(), events: events.map(shownEvent) };
}

/** The service generates the ids of rewinds. */
function shownEvent({ id, ...event }: LoggedEvent): unknown {
  const shownId = event.actions.rewind ? 'generated' : id;
  return JSON.parse(JSON.stringify({ id: shownId, ...event }));
}
