import type { SessionsClient } from '../../src/client/index.js';
import { Session, type SessionReference } from '../../src/index.js';
import { type Mappings, type SpecialMappings, allMappings } from './describe-mappings.js';
import { LARGE, jsonOf } from './samples.js';

const NOTHING = { received: undefined };

/** How `SessionsClient` and the routes carry each operation. Usually a method of the client has the name of the operation. */
export function clientMappings(client: SessionsClient): Mappings {
  return allMappings(specialMappings(client), (name) => ({
    send: async (request) => (client as unknown as AnyClient)[name]?.(request),
    received: (result) => (result instanceof Session ? jsonOf(result) : result),
  }));
}

type AnyClient = Readonly<Record<string, (request: object) => Promise<unknown>>>;

function specialMappings(client: SessionsClient): SpecialMappings {
  return {
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
      calls: ({ afterSeq, stateDeltas, partials, afterPosition, ...key }) => {
        const lookUp = { method: 'listEvents', request: { ...key, beforeSeq: 1 } };
        const options = { stateDeltas, partials, afterPosition };
        const watch = { method: 'watch', request: { ...key, afterSeq: afterSeq ?? LARGE, ...options } };
        if (afterSeq !== undefined) return [lookUp, watch];
        return [{ method: 'listEvents', request: { ...key, limit: 1, order: 'desc' } }, lookUp, watch];
      },
      replies: (result) => ({
        listEvents: { events: [], firstSeq: 1, lastSeq: LARGE },
        watch: result instanceof Error ? result : [...result, LAST],
      }),
      // The client connects again after errors of the server, and when it has room again.
      refused: ({ status, code }) => (status >= 500 || code === 'RUN_LIMIT_REACHED' ? 'not passed on' : undefined),
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
    beginTurn: {
      send: ({ holder = '', ...request }) => client.beginTurn({ holder, ...request }),
      received: (turn) => turn,
      calls: ({ requestId = FIXED_ID, ...request }) => [{ method: 'beginTurn', request: { ...request, requestId } }],
    },
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
