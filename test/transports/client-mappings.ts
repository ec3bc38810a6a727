import type { SessionsClient } from '../../src/client/index.js';
import type { SessionReference } from '../../src/index.js';
import type { Mappings } from './describe-mappings.js';
import { LARGE, jsonOf } from './samples.js';

const NOTHING = { received: undefined };

/** How `SessionsClient` and the routes carry each operation. */
export function clientMappings(client: SessionsClient): Mappings {
  return {
    createSession: { send: (request) => client.createSession(request), received: jsonOf },
    getOrCreateSession: {
      send: (request) => client.getOrCreateSession(request),
      received: jsonOf,
      calls: ({ state, metadata, turnsOnly, ...key }) => [
        { method: 'getSession', request: key },
        { method: 'createSession', request: { ...key, state, metadata, turnsOnly } },
      ],
      replies: (result) => ({ getSession: undefined, createSession: result }),
      // Another caller created the session in the meantime, so the client reads it again.
      refused: ({ code }) => (code === 'SESSION_EXISTS' ? 'not passed on' : undefined),
    },
    getSession: {
      send: ({ config, ...key }) => client.getSession({ ...key, ...config }),
      received: (session) => session && jsonOf(session),
      refused: ({ code }) => (code === 'SESSION_NOT_FOUND' ? NOTHING : undefined),
    },
    listSessions: {
      send: (request) => client.listSessions(request),
      received: ({ sessions, ...page }) => ({ sessions: sessions.map(jsonOf), ...page }),
      calls: ({ includeState = true, ...request }) => [
        { method: 'listSessions', request: { ...request, includeState } },
      ],
    },
    deleteSession: { send: (key) => client.deleteSession(key), received: () => undefined },
    listEvents: { send: (request) => client.listEvents(request), received: (page) => page },
    stateAt: { send: (request) => client.stateAt(request), received: (found) => found },
    stateChanges: { send: (request) => client.stateChanges(request), received: (page) => page },
    watch: {
      async send({ signal: _signal, ...request }) {
        const watch = client.watch(request);
        const events: unknown[] = [];
        try {
          for await (const event of watch) {
            events.push(event);
            if (event.id === 'the last one') break;
          }
        } finally {
          await watch.return?.();
        }
        return events;
      },
      received: (events) => [...events, LAST],
      calls: ({ afterSeq, stateDeltas, ...key }) => {
        const lookUp = { method: 'listEvents', request: { ...key, beforeSeq: 1 } };
        const watch = { method: 'watch', request: { ...key, afterSeq: afterSeq ?? LARGE, stateDeltas } };
        if (afterSeq !== undefined) return [lookUp, watch];
        return [{ method: 'listEvents', request: { ...key, limit: 1, order: 'desc' } }, lookUp, watch];
      },
      replies: (result) => ({
        listEvents: { events: [], firstSeq: 1, lastSeq: LARGE },
        watch: result instanceof Error ? result : [...result, LAST],
      }),
      // The client connects again after errors of the server.
      refused: ({ status }) => (status >= 500 ? 'not passed on' : undefined),
    },
    append: {
      send: ({ session, ...request }) => client.append({ ...keyOf(session), ...request }),
      received: (result) => result,
    },
    appendBatch: {
      send: ({ session, ...request }) => client.appendBatch({ ...keyOf(session), ...request }),
      received: (result) => result,
    },
    updateState: {
      send: (request) => client.updateState(request),
      received: (event) => event,
      calls: ({ stateDelta, stateRemovals, ...key }) => {
        const session = { id: key.sessionId, appName: key.appName, userId: key.userId };
        const event = { id: FIXED_ID, author: 'system', actions: { stateDelta, stateRemovals } };
        return [{ method: 'append', request: { session, event } }];
      },
      replies: (result) => ({ append: result instanceof Error ? result : { event: result, duplicate: false } }),
    },
    getState: {
      send: (key) => client.getState(key),
      received: ({ state }) => state,
    },
    rewindSession: { send: (request) => client.rewindSession(request), received: jsonOf },
    beginTurn: {
      send: ({ holder = '', ...request }) => client.beginTurn({ holder, ...request }),
      received: (turn) => turn,
      calls: ({ requestId = FIXED_ID, ...request }) => [{ method: 'beginTurn', request: { ...request, requestId } }],
    },
    renewTurn: { send: (turn) => client.renewTurn(turn), received: (turn) => turn },
    endTurn: { send: (turn) => client.endTurn(turn), received: () => undefined },
    getTurn: { send: (key) => client.getTurn(key), received: (holder) => holder },
    forkSession: { send: (request) => client.forkSession(request), received: jsonOf },
    getUserState: { send: (user) => client.getUserState(user), received: (state) => state },
    updateUserState: { send: (request) => client.updateUserState(request), received: (state) => state },
    getAppState: { send: (app) => client.getAppState(app), received: (state) => state },
    updateAppState: { send: (request) => client.updateAppState(request), received: (state) => state },
    getSessionSummary: {
      send: (key) => client.getSummary(key),
      received: (summary) => summary,
      refused: ({ code }) => (code === 'SUMMARY_NOT_FOUND' ? NOTHING : undefined),
    },
    createSessionSummary: {
      send: ({ session, force }) => client.createSummary({ ...keyOf(session), force }),
      received: (summary) => summary,
    },
    listSummaries: {
      send: (request) => client.listSummaries(request),
      received: (summaries) => summaries,
      calls: ({ limit = 100, ...request }) => [{ method: 'listSummaries', request: { ...request, limit } }],
    },
  };
}

/** The id that the client gives an event without one, in tests. */
export const FIXED_ID = '00000000-0000-4000-8000-000000000000';

/** Tells the reader of a stream that it has seen all events. */
const LAST = { id: 'the last one', seq: 0 };

function keyOf({ id: sessionId, appName, userId }: SessionReference) {
  return { appName, userId, sessionId };
}
