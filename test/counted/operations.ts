import type { Session, SessionService } from '../../src/index.js';

export const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
export const SESSION = { id: KEY.sessionId, appName: KEY.appName, userId: KEY.userId };
const STATE = { step: 1, 'user:step': 1, 'app:step': 1 };
const PLAIN = { id: 'e-plain', author: 'agent', content: { role: 'model', parts: [{ text: 'Hello' }] } };
const USED = { promptTokenCount: 310, candidatesTokenCount: 120 };

/** The metadata of the session and its copies. */
export const METADATA = { status: 'common', tags: ['all'], labels: { region: 'eu' } };
const FILTERED = { appName: 'shop', userId: 'ann', limit: 1, includeState: false };

/** The statements of an operation. */
export interface Cost {
  readonly transactions: number;
  readonly reads: number;
  readonly writes: number;
  /** Rows that the reads returned. */
  readonly rows: number;
}

interface Situation {
  readonly sessions: SessionService;
  /** The session of {@link KEY}, loaded before. */
  readonly session: Session;
}

export interface Operation {
  readonly name: string;
  readonly cost: Cost;
  /** If the store has more sessions with the entry than it examines: one look more at where it ends. Default: the same. */
  readonly costOfMany?: Cost;
  readonly run: (situation: Situation) => Promise<unknown>;
}

/** The token of the current turn. */
const tokens = new WeakMap<SessionService, string>();

function operation(
  name: string,
  [transactions, reads, writes, rows]: readonly [number, number, number, number],
  run: Operation['run'],
): Operation {
  return { name, cost: { transactions, reads, writes, rows }, run };
}

/** A filtered list in the order of the last update. */
function examining(...given: Parameters<typeof operation>): Operation {
  const { cost, ...rest } = operation(...given);
  return { ...rest, cost, costOfMany: { ...cost, reads: cost.reads + 1, rows: cost.rows + 1 } };
}

/**
 * All operations, to be run in this order on a session whose view is its 20 newest events. In brackets:
 * transactions, reads, writes, returned rows.
 */
export const OPERATIONS: readonly Operation[] = [
  operation('create, without state', [1, 1, 1, 2], ({ sessions }) =>
    sessions.createSession({ ...KEY, sessionId: 'n-1' }),
  ),
  operation('create, 3 scopes', [1, 3, 4, 4], ({ sessions }) =>
    sessions.createSession({ ...KEY, sessionId: 'n-2', state: STATE }),
  ),
  operation('create, the id is taken', [2, 1, 1, 1], ({ sessions }) =>
    sessions.createSession(KEY).catch(() => undefined),
  ),
  operation('append, plain', [1, 0, 2, 0], ({ sessions, session }) => sessions.appendEvent({ session, event: PLAIN })),
  operation('append, the same again', [1, 2, 1, 2], ({ sessions, session }) =>
    sessions.appendEvent({ session, event: PLAIN }),
  ),
  operation('append, 3 scopes', [1, 0, 4, 0], ({ sessions, session }) =>
    sessions.appendEvent({ session, event: { author: 'user', actions: { stateDelta: STATE } } }),
  ),
  operation('append, with usage and state of 3 scopes', [1, 0, 5, 0], ({ sessions, session }) =>
    sessions.appendEvent({ session, event: { author: 'agent', usageMetadata: USED, actions: { stateDelta: STATE } } }),
  ),
  operation('append, 10 events in 3 scopes', [1, 0, 4, 0], ({ sessions, session }) =>
    sessions.appendEvents({
      session,
      events: Array.from({ length: 10 }, () => ({ author: 'user', actions: { stateDelta: STATE } })),
    }),
  ),
  operation('append, removals in 3 scopes', [1, 2, 6, 3], ({ sessions, session }) =>
    sessions.appendEvent({ session, event: { author: 'user', actions: { stateRemovals: ['x', 'user:x', 'app:x'] } } }),
  ),
  operation('append, on a condition', [1, 0, 2, 0], ({ sessions, session }) =>
    sessions.appendEvent({ session, event: { author: 'agent' }, expectedVersion: session.version }),
  ),
  operation('begin a turn', [1, 0, 1, 0], async ({ sessions }) => {
    tokens.set(sessions, (await sessions.beginTurn(KEY)).token);
  }),
  operation('append, in a turn', [1, 0, 2, 0], async ({ sessions, session }) => {
    await sessions.appendEvent({ session, event: { author: 'agent' }, turn: tokens.get(sessions) ?? '' });
  }),
  operation('append, refused', [1, 2, 0, 1], ({ sessions, session }) =>
    sessions.appendEvent({ session, event: { author: 'user' }, expectedVersion: 1 }).catch(() => undefined),
  ),
  operation('update of the session', [1, 0, 2, 0], ({ sessions, session }) => {
    session.state.step = 2;
    return sessions.updateSession(session);
  }),
  operation('get', [1, 3, 0, 23], ({ sessions }) => sessions.getSession(KEY)),
  operation('get, the newest 5', [1, 3, 0, 23], ({ sessions }) =>
    sessions.getSession({ ...KEY, config: { numRecentEvents: 5 } }),
  ),
  operation('get, after a time', [1, 3, 0, 23], ({ sessions }) =>
    sessions.getSession({ ...KEY, config: { afterTimestamp: Date.now() - 1 } }),
  ),
  operation('get, without events', [1, 2, 0, 3], ({ sessions }) =>
    sessions.getSession({ ...KEY, config: { numRecentEvents: 0 } }),
  ),
  operation('list of a user', [1, 2, 0, 9], ({ sessions }) =>
    sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 5 }),
  ),
  operation('list of an app', [1, 2, 0, 9], ({ sessions }) => sessions.listSessions({ appName: 'shop', limit: 5 })),
  operation('list of a user, oldest first', [1, 2, 0, 8], ({ sessions }) =>
    sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 5, orderBy: 'createTime', order: 'asc' }),
  ),
  operation('list of an app, next page', [2, 4, 0, 12], async ({ sessions }) => {
    const { nextCursor: cursor } = await sessions.listSessions({ appName: 'shop', limit: 2 });
    return sessions.listSessions({ appName: 'shop', limit: 2, cursor });
  }),
  operation('list of a user, page 2', [1, 4, 0, 12], ({ sessions }) =>
    sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 2, page: 2 }),
  ),
  operation('append, metadata', [1, 0, 4, 0], ({ sessions, session }) =>
    sessions.appendEvent({ session, event: { author: 'system', actions: { metadataDelta: { status: 'rare' } } } }),
  ),
  operation('list by a status, oldest first', [1, 2, 0, 4], ({ sessions }) =>
    sessions.listSessions({ ...FILTERED, orderBy: 'createTime', order: 'asc', filter: { status: 'common' } }),
  ),
  examining('list by a status, last update first', [1, 3, 0, 5], ({ sessions }) =>
    sessions.listSessions({ ...FILTERED, filter: { status: 'common' } }),
  ),
  examining('list of an app by three entries', [1, 3, 0, 7], ({ sessions }) =>
    sessions.listSessions({
      ...FILTERED,
      userId: undefined,
      filter: { status: 'common', tags: ['all'], labels: { region: 'eu' } },
    }),
  ),
  operation('list by a rare entry and a common one', [1, 3, 0, 4], ({ sessions }) =>
    sessions.listSessions({ ...FILTERED, filter: { status: 'rare', tags: ['all'] } }),
  ),
  operation('list by a rare entry and a common one, by creation', [1, 4, 0, 4], ({ sessions }) =>
    sessions.listSessions({ ...FILTERED, orderBy: 'createTime', filter: { status: 'rare', tags: ['all'] } }),
  ),
  operation('events, first page', [1, 2, 0, 21], ({ sessions }) => sessions.listEvents({ ...KEY, limit: 20 })),
  operation('events, page before the newest', [1, 2, 0, 21], ({ sessions, session }) =>
    sessions.listEvents({ ...KEY, limit: 20, order: 'desc', beforeSeq: session.version - 10 }),
  ),
  operation('user state', [1, 1, 0, 1], ({ sessions }) => sessions.getUserState(KEY)),
  operation('user state, update', [1, 2, 2, 2], ({ sessions }) =>
    sessions.updateUserState({ ...KEY, stateDelta: { step: 3 } }),
  ),
  operation('app state, removal', [1, 2, 2, 1], ({ sessions }) =>
    sessions.updateAppState({ ...KEY, stateRemovals: ['step'] }),
  ),
  // Before, it looks for a hold; afterwards, whether the session is gone, and for its prompts.
  operation('delete', [4, 3, 1, 0], ({ sessions }) => sessions.deleteSession(KEY)),
];
