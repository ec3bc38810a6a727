import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Session } from '../../src/index.js';
import type {
  LoggedEvent,
  SessionReference,
  StateKeyChange,
  Turn,
  UsageReport,
  WatchedEvent,
} from '../../src/index.js';
import type { SessionSummary } from '../../src/summarizer/index.js';
import { type AnyMapping, type Mappings, type SpecialMappings, allMappings } from '../transports/describe-mappings.js';
import type { OperationName } from '../transports/operation-types.js';
import { LARGE, type SessionJson, jsonOf } from '../transports/samples.js';
import type { GraphqlApp } from './graphql-app.js';
import { type GraphqlProblem, RemoteError } from './remote-error.js';
import { type Selection, documentOf } from './schema-documents.js';

/** The fields with other names than their operations. */
const OTHER_FIELDS: Partial<Record<OperationName, string>> = {
  getSession: 'session',
  listSessions: 'sessions',
  listEvents: 'events',
  stateAt: 'sessionStateAt',
  stateChanges: 'sessionStateChanges',
  watch: 'eventAppended',
  append: 'appendEvent',
  appendBatch: 'appendEvents',
  updateState: 'updateSessionState',
  getState: 'session',
  getTurn: 'turn',
  getUsage: 'usage',
  getUserState: 'userState',
  getAppState: 'appState',
  getSessionSummary: 'sessionSummary',
  listSummaries: 'sessionSummaries',
};

/** The field of an operation. */
export function fieldOf(operation: OperationName): string {
  return OTHER_FIELDS[operation] ?? operation;
}

/** A missing session is null. */
const NOT_FOUND = { received: null };

/** How GraphQL transports each operation, with all arguments as variables and all fields selected. */
export function graphqlMappings(app: GraphqlApp): Mappings & { close(): Promise<void> } {
  const webSocket = createClient({ url: app.webSocketUrl, webSocketImpl: WebSocket, retryAttempts: 0 });
  const ask = async (operation: OperationName, variables: object, only?: Selection): Promise<unknown> =>
    askField(fieldOf(operation), variables, only);
  const askField = async (field: string, variables: object, only?: Selection): Promise<unknown> => {
    const { data, errors } = await app.ask(documentOf(app.schema, field, only), variables);
    const [error] = errors;
    if (error) throw new RemoteError(error);
    return data[field];
  };
  const special: SpecialMappings = {
    getSession: {
      send: ({ config, ...key }) => ask('getSession', { ...key, ...config }),
      received: (session) => (session ? dataOf(jsonOf(session)) : null),
      refused: ({ code }) => (code === 'SESSION_NOT_FOUND' ? NOT_FOUND : undefined),
    },
    listSessions: {
      send({ limit, cursor, order, orderBy, ...owner }) {
        const how = { first: limit, after: cursor, order: order?.toUpperCase(), orderBy: orderBy && ORDERS[orderBy] };
        return ask('listSessions', { ...owner, ...how });
      },
      received: ({ sessions, nextCursor }) => ({
        nodes: sessions.map((session) => listedOf(jsonOf(session))),
        pageInfo: pageInfoOf(nextCursor),
      }),
      calls: ({ limit = 100, ...request }) => [
        { method: 'listSessions', request: { ...request, limit, includeState: true } },
      ],
    },
    deleteSession: { send: (key) => ask('deleteSession', key), received: () => true },
    listEvents: {
      send({ limit, cursor, order, ...request }) {
        return ask('listEvents', { ...request, first: limit, after: cursor, order: order?.toUpperCase() });
      },
      received: ({ events, firstSeq, lastSeq, nextCursor }) => ({
        nodes: events.map(eventOf),
        pageInfo: pageInfoOf(nextCursor),
        firstSeq,
        lastSeq,
      }),
      calls: ({ limit = 100, ...request }) => [{ method: 'listEvents', request: { ...request, limit } }],
    },
    stateChanges: {
      send: ({ limit, cursor, ...request }) => ask('stateChanges', { ...request, first: limit, after: cursor }),
      received: ({ changes, nextCursor, ...seqs }) => ({
        nodes: changes.map(changeOf),
        pageInfo: pageInfoOf(nextCursor),
        ...seqs,
      }),
      calls: ({ limit = 100, ...request }) => [{ method: 'stateChanges', request: { ...request, limit } }],
    },
    watch: {
      send: ({ signal: _signal, ...request }) =>
        subscribed(webSocket, documentOf(app.schema, fieldOf('watch')), request),
      received: (events) => events.map(watchedOf),
      calls: ({ afterSeq, stateDeltas, partials, afterPosition, ...key }) => [
        { method: 'listEvents', request: { ...key, beforeSeq: 1 } },
        { method: 'watch', request: { ...key, afterSeq: afterSeq ?? LARGE, stateDeltas, partials, afterPosition } },
      ],
      replies: (result) => ({
        listEvents: { events: [], firstSeq: 1, lastSeq: LARGE },
        watch: result instanceof Error ? result : [...result, LAST],
      }),
    },
    append: {
      send: ({ session, ...request }) => ask('append', { ...keyOf(session), ...request }),
      received: ({ event, duplicate }) => ({ event: eventOf(event), duplicate }),
    },
    appendBatch: {
      send: ({ session, ...request }) => ask('appendBatch', { ...keyOf(session), ...request }),
      received: ({ events, duplicate }) => ({ events: events.map(eventOf), duplicate }),
    },
    updateState: { send: (request) => ask('updateState', request), received: eventOf },
    getState: {
      send: (key) => ask('getState', key, { Session: ['state'] }),
      received: ({ state }) => ({ state }),
      refused: ({ code }) => (code === 'SESSION_NOT_FOUND' ? NOT_FOUND : undefined),
    },
    beginTurn: { send: (request) => ask('beginTurn', request), received: turnOf },
    renewTurn: { send: (turn) => ask('renewTurn', turn), received: turnOf },
    endTurn: { send: (turn) => ask('endTurn', turn), received: () => true },
    getTurn: {
      send: (key) => ask('getTurn', key),
      received: (holder) => holder ?? null,
    },
    getUsage: {
      send: (request) => askField(request.sessionId === undefined ? 'usage' : 'sessionUsage', request),
      received: usageOf,
    },
    getSessionSummary: { send: (key) => ask('getSessionSummary', key), received: summaryOf },
    createSessionSummary: {
      send: ({ session, force }) => ask('createSessionSummary', { ...keyOf(session), force }),
      received: summaryOf,
    },
    listSummaries: {
      send: ({ limit, ...request }) => ask('listSummaries', { ...request, first: limit }),
      received: (summaries) => summaries.map(summaryOf),
      calls: ({ limit = 100, ...request }) => [{ method: 'listSummaries', request: { ...request, limit } }],
    },
  };
  const usual = (name: OperationName): AnyMapping => ({
    send: (request) => ask(name, request),
    received: (result) => (result instanceof Session ? dataOf(jsonOf(result)) : result),
  });
  return { ...allMappings(special, usual), close: async () => webSocket.dispose() };
}

const ORDERS = { lastUpdateTime: 'LAST_UPDATE_TIME', createTime: 'CREATE_TIME' } as const;

/** The marker that the reader of a subscription has received all events. */
const LAST = { id: 'the last one', seq: 0, invocationId: '', timestamp: 0, actions: {} };

interface Message {
  readonly data?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
  readonly errors?: readonly GraphqlProblem[];
}

/** The events of a subscription, up to the last one. */
async function subscribed(client: Client, query: string, variables: object): Promise<unknown[]> {
  const events: unknown[] = [];
  const answers = client.iterate({ query, variables: variables as Record<string, unknown> });
  try {
    for await (const answer of answers) {
      const { data, errors } = answer as unknown as Message;
      const [error] = errors ?? [];
      if (error) throw new RemoteError(error);
      const event = data?.[fieldOf('watch')];
      if (event?.id === LAST.id) break;
      events.push(event);
    }
  } catch (error) {
    throw Array.isArray(error) ? new RemoteError(error[0] as GraphqlProblem) : error;
  }
  return events;
}

function eventOf(event: LoggedEvent): object {
  const { id, seq, invocationId, author = null, branch = null, timestamp, content = null, actions } = event;
  return { id, seq, invocationId, author, branch, timestamp, content, actions, body: event };
}

function watchedOf({ statePatch, position, offset, ...event }: WatchedEvent): object {
  const ofStream = { partial: event.partial === true, position: position ?? null, offset: offset ?? null };
  return { ...eventOf(event), statePatch: statePatch ?? null, ...ofStream };
}

/** GraphQL has no missing fields. */
function changeOf(change: StateKeyChange): object {
  const { before = null, after = null } = change;
  return { ...change, hadBefore: 'before' in change, before, hasAfter: 'after' in change, after };
}

/** GraphQL does not repeat the ids. */
function usageOf(report: UsageReport): object {
  const { userId, sessionId, costMicros } = report;
  const models = report.models.map(({ model, costMicros: cost, ...tokens }) => ({
    ...tokens,
    model,
    costMicros: cost ?? null,
  }));
  return { ...report, userId: userId ?? null, sessionId: sessionId ?? null, costMicros: costMicros ?? null, models };
}

function turnOf({ appName: _app, userId: _user, sessionId: _session, ...turn }: Turn): object {
  return turn;
}

function listedOf(json: SessionJson): object {
  const { id, appName, userId, saveKey, state, createTime, lastUpdateTime, version, conversationCount } = json;
  const turnsOnly = 'turnsOnly' in json ? json.turnsOnly : null;
  const { metadata } = json;
  const times = { createTime, lastUpdateTime };
  return { id, appName, userId, saveKey, state, metadata, ...times, version, conversationCount, turnsOnly };
}

function dataOf(json: SessionJson): object {
  const eventsTruncated = 'eventsTruncated' in json ? json.eventsTruncated : null;
  return { ...listedOf(json), eventsTruncated, events: json.events.map(eventOf) };
}

function summaryOf(summary: SessionSummary | undefined): object | null {
  if (!summary) return null;
  const absent = { model: null, promptVersion: null, inputTokens: null, outputTokens: null, durationMs: null };
  return { ...absent, ...summary };
}

function pageInfoOf(nextCursor: string | undefined): object {
  return { hasNextPage: nextCursor !== undefined, endCursor: nextCursor ?? null };
}

function keyOf({ id: sessionId, appName, userId }: SessionReference) {
  return { appName, userId, sessionId };
}
