import type {
  CreateSessionRequest,
  EventInput,
  ForkSessionRequest,
  GetSessionRequest,
  RewindSessionRequest,
  Session,
  StateOperation,
} from '../../src/index.js';
import type { Case, Operations } from './operation-types.js';
import {
  FULL_EVENT,
  FULL_METADATA,
  FULL_SESSION,
  FULL_SUMMARY,
  JSON_VALUES,
  KEY,
  LARGE,
  LARGEST,
  REFERENCE,
  SMALL_EVENT,
  SMALL_SESSION,
  SMALL_SUMMARY,
  STORED_EVENT,
  USER,
  sessionOf,
} from './samples.js';

const IDS = { appName: 'everywhere', userId: 'everywhere', sessionId: 'everywhere' } as const;
const USER_IDS = { appName: 'everywhere', userId: 'everywhere' } as const;
const CHANGES = { stateDelta: 'everywhere', stateRemovals: 'everywhere' } as const;
const OF_THE_RULE = 'the access rule says it: test/rest/access-filter';
const NOT_COUNTED = { notOverGraphql: 'pages go by cursors' } as const;
const SERVER_MEMORY = 'it bounds the memory of a server';
const NOT_A_CLIENT = { notOverClient: SERVER_MEMORY, notOverGraphql: SERVER_MEMORY } as const;
const ONLY_INSIDE = 'only the summarizer needs it';
const LOADED_HERE = 'an object of the service stays in the process of the app';
const IN_PROCESS = 'a transaction of the app is open in the process of the app';
const OF_RUNS = 'for runs of agents, which are in the process of the app';
const NOT_OUTSIDE = { notOverClient: IN_PROCESS, notOverGraphql: IN_PROCESS } as const;
const IN_SERVER = 'the access rule of the server decides about serverOnly state';
const RULED = { notOverClient: IN_SERVER, notOverGraphql: IN_SERVER } as const;
const WITH_APPEND = { notOverClient: 'the client takes it with `append`' } as const;
const NO_ABORT = 'a client that stops waiting does not stop a summary';

/** Fields that are null, as ADK for Python sends them. */
const NULLS = {
  id: 'e-2',
  author: 'agent',
  branch: null,
  partial: null,
  content: null,
  usageMetadata: null,
  actions: {
    stateDelta: null,
    transferToAgent: null,
  },
} as unknown as EventInput;

const ALL_CHANGES = { stateDelta: JSON_VALUES, stateRemovals: ['draft', 'user:old', '', '__proto__', '😀'] };
const [FULL, SMALL] = [sessionOf(FULL_SESSION), sessionOf(SMALL_SESSION)];
const TOKEN = 'turn-token';
const TURN = { ...KEY, token: TOKEN, number: 7, holder: 'worker ä', expiresAt: LARGE, ttlMs: 5_000 };
const STATE = { ...JSON_VALUES, shared: true };
const PATCH: readonly StateOperation[] = [
  { op: 'add', path: '/a~1b~0', value: JSON_VALUES },
  { op: 'replace', path: '/b', value: null },
  { op: 'remove', path: '/c' },
];

/** The two results of operations that return a session. */
function sessionCases<Request>(
  least: Request,
  others: readonly { readonly title: string; readonly request: Request }[],
): readonly Case<Request, Session>[] {
  return [
    { title: 'the fewest fields', request: least, result: SMALL },
    ...others.map((each) => ({ ...each, result: FULL })),
  ];
}

function stateCases<Owner extends object>(
  owner: Owner,
): readonly Case<
  Owner & { stateDelta?: Record<string, unknown>; stateRemovals?: string[] },
  Record<string, unknown>
>[] {
  return [
    { title: 'all fields', request: { ...owner, ...ALL_CHANGES }, result: STATE },
    { title: 'only new values', request: { ...owner, stateDelta: { kept: null } }, result: {} },
    { title: 'only removals', request: { ...owner, stateRemovals: ['a'] }, result: STATE },
    {
      title: 'nothing to remove and nothing to set',
      request: { ...owner, stateDelta: {}, stateRemovals: [] },
      result: {},
    },
  ];
}

const CREATE = { ...IDS, state: 'everywhere', metadata: 'everywhere', turnsOnly: 'everywhere' } as const;
const CREATE_CASES = [
  { title: 'all fields', request: { ...KEY, state: JSON_VALUES, metadata: FULL_METADATA, turnsOnly: true } },
  { title: 'no need of turns', request: { ...KEY, state: JSON_VALUES, turnsOnly: false } },
  { title: 'an empty state', request: { ...KEY, state: {} } },
  { title: 'metadata alone', request: { ...KEY, metadata: { title: 'Order 7' } } },
];

const TOKENS = {
  events: 1,
  promptTokens: 2,
  cachedTokens: 3,
  outputTokens: 4,
  thinkingTokens: 5,
  toolUseTokens: 6,
  totalTokens: LARGE,
};
const USAGE = {
  period: 'total',
  models: [
    { model: 'large ä/1', ...TOKENS, costMicros: LARGE },
    { model: 'small', ...TOKENS, events: 0 },
  ],
  total: TOKENS,
  unpricedModels: ['small'],
};
const NO_USAGE = { period: 'total', models: [], total: TOKENS, costMicros: 0, unpricedModels: [] };

/** Every operation that clients reach, with the requests that all transports have to pass on exactly. */
export const OPERATIONS: Operations = {
  createSession: {
    fields: CREATE,
    cases: sessionCases<CreateSessionRequest>(USER, [
      ...CREATE_CASES,
      { title: 'a state alone', request: { ...USER, state: { a: null } } },
    ]),
  },
  getOrCreateSession: { fields: CREATE, cases: sessionCases<CreateSessionRequest>(KEY, CREATE_CASES) },
  getSession: {
    fields: { ...IDS, config: 'everywhere' },
    cases: [
      ...sessionCases<GetSessionRequest>(KEY, [
        { title: 'only the newest events', request: { ...KEY, config: { numRecentEvents: 7 } } },
        { title: 'no events', request: { ...KEY, config: { numRecentEvents: 0 } } },
        { title: 'only events from a time on', request: { ...KEY, config: { afterTimestamp: LARGE } } },
        { title: 'only events after one', request: { ...KEY, config: { afterSeq: LARGE } } },
        {
          title: 'three limits with different values',
          request: { ...KEY, config: { numRecentEvents: 1, afterTimestamp: 2, afterSeq: 3 } },
        },
      ]),
      { title: 'a missing session', request: KEY, result: undefined },
    ],
  },
  listSessions: {
    fields: {
      appName: 'everywhere',
      userId: 'everywhere',
      limit: 'everywhere',
      cursor: 'everywhere',
      order: 'everywhere',
      orderBy: 'everywhere',
      page: NOT_COUNTED,
      offset: NOT_COUNTED,
      includeState: { notOverGraphql: 'it follows from the selected fields' },
      filter: 'everywhere',
      within: { notOverClient: OF_THE_RULE, notOverGraphql: OF_THE_RULE },
    },
    cases: [
      { title: 'the fewest fields', request: { appName: 'shop' }, result: { sessions: [], limit: 100 } },
      {
        title: 'all fields of a walk by cursor',
        request: { ...USER, limit: 2, cursor: 'c/+=& ä', order: 'asc', orderBy: 'createTime', includeState: true },
        result: { sessions: [FULL, SMALL], limit: 2, nextCursor: 'd/+=& ä' },
      },
      {
        title: 'a whole filter',
        request: {
          ...USER,
          filter: { status: 'a:b', tags: ['vip', '50% & ä'], labels: { 'a:b': 'c:d%41', région: '+' } },
        },
        result: { sessions: [], limit: 100, nextCursor: 'next' },
      },
      {
        title: 'a filter by one tag',
        request: { appName: 'shop', filter: { tags: ['vip'] } },
        result: { sessions: [SMALL], limit: 100 },
      },
      {
        title: 'the defaults, named',
        request: { ...USER, limit: 1_000, order: 'desc', orderBy: 'lastUpdateTime' },
        result: { sessions: [SMALL], limit: 1_000, nextCursor: 'next' },
      },
      {
        title: 'a page by its number, without state',
        request: { ...USER, limit: 3, page: 5, includeState: false },
        result: { sessions: [SMALL], limit: 3, page: 5, totalItems: 14, totalPages: 6 },
      },
      {
        title: 'a page by its offset',
        request: { ...USER, offset: 0, limit: 4 },
        result: { sessions: [SMALL], limit: 4, page: 1, totalItems: 1, totalPages: 2 },
      },
    ],
  },
  deleteSession: {
    fields: {
      ...IDS,
      loaded: { notOverClient: LOADED_HERE, notOverGraphql: LOADED_HERE },
      ifUnchanged: { notOverClient: LOADED_HERE, notOverGraphql: LOADED_HERE },
    },
    cases: [{ title: 'a key', request: KEY, result: undefined }],
  },
  listEvents: {
    fields: {
      ...IDS,
      limit: 'everywhere',
      cursor: 'everywhere',
      order: 'everywhere',
      afterSeq: 'everywhere',
      beforeSeq: 'everywhere',
      invocationId: 'everywhere',
    },
    cases: [
      { title: 'the fewest fields', request: KEY, result: { events: [], firstSeq: 1, lastSeq: 0 } },
      {
        title: 'all fields',
        request: {
          ...KEY,
          limit: 2,
          cursor: 'c/+=& ä',
          order: 'desc',
          afterSeq: 3,
          beforeSeq: LARGE,
          invocationId: 'i/+=& ä',
        },
        result: { events: [STORED_EVENT, SMALL_EVENT], firstSeq: 4, lastSeq: LARGE, nextCursor: 'd/+=& ä' },
      },
      {
        title: 'zeros',
        request: { ...KEY, order: 'asc', afterSeq: 0, beforeSeq: 1 },
        result: { events: [SMALL_EVENT], firstSeq: 0, lastSeq: 2 },
      },
    ],
  },
  watch: {
    fields: {
      ...IDS,
      afterSeq: 'everywhere',
      stateDeltas: 'everywhere',
      partials: 'everywhere',
      afterPosition: 'everywhere',
      signal: 'everywhere',
      gate: NOT_A_CLIENT,
    },
    cases: [
      {
        title: 'changes of the state',
        request: { ...KEY, afterSeq: 3, stateDeltas: true },
        result: [
          { ...STORED_EVENT, statePatch: PATCH },
          { ...SMALL_EVENT, statePatch: [] },
        ],
      },
      { title: 'no changes of the state', request: { ...KEY, afterSeq: 3, stateDeltas: false }, result: [SMALL_EVENT] },
      { title: 'a place in the log', request: { ...KEY, afterSeq: 3 }, result: [STORED_EVENT, SMALL_EVENT] },
      { title: 'the beginning', request: { ...KEY, afterSeq: 0 }, result: [SMALL_EVENT] },
      {
        title: 'partial events',
        request: { ...KEY, afterSeq: 3, partials: true, stateDeltas: false },
        result: [
          { ...SMALL_EVENT, partial: true, position: '3.4-17', offset: 0 },
          { ...STORED_EVENT, position: `${STORED_EVENT.seq}.4-17` },
        ],
      },
      {
        title: 'a place between two events',
        request: { ...KEY, afterSeq: 3, partials: true, afterPosition: '3.4-17' },
        result: [{ ...SMALL_EVENT, position: '4.4-17' }],
      },
      { title: 'no place', request: KEY, result: [STORED_EVENT] },
    ],
  },
  stateAt: {
    fields: { ...IDS, seq: 'everywhere' },
    cases: [
      {
        title: 'a moment',
        request: { ...KEY, seq: LARGE },
        result: { seq: LARGE, state: JSON_VALUES, shared: { 'user:a': null } },
      },
      { title: 'the beginning', request: { ...KEY, seq: 0 }, result: { seq: 0, state: {}, shared: {} } },
    ],
  },
  stateChanges: {
    fields: { ...IDS, key: 'everywhere', afterSeq: 'everywhere', limit: 'everywhere', cursor: 'everywhere' },
    cases: [
      { title: 'the fewest fields', request: KEY, result: { changes: [], firstSeq: 1, lastSeq: 0 } },
      {
        title: 'all fields',
        request: { ...KEY, key: 'user:ä/&', afterSeq: 3, limit: 2, cursor: 'c/+=& ä' },
        result: {
          changes: [
            { seq: 4, eventId: 'e 4', key: '__proto__', scope: 'session', before: null, after: JSON_VALUES },
            { seq: 4, eventId: 'e 4', key: 'user:ä/&', scope: 'user', before: [0] },
            { seq: LARGE, eventId: 'e-9', key: 'app:x', scope: 'app', after: null },
          ],
          firstSeq: 4,
          lastSeq: LARGE,
          nextCursor: 'd/+=& ä',
        },
      },
    ],
  },
  append: {
    fields: {
      session: 'everywhere',
      event: 'everywhere',
      expectedVersion: 'everywhere',
      turn: 'everywhere',
      endTurn: 'everywhere',
      transaction: NOT_OUTSIDE,
      expectedMarksSeq: { notOverClient: ONLY_INSIDE, notOverGraphql: ONLY_INSIDE },
    },
    cases: [
      {
        title: 'all fields',
        request: { session: REFERENCE, event: FULL_EVENT, expectedVersion: LARGE },
        result: { event: STORED_EVENT, duplicate: false },
      },
      {
        title: 'a turn',
        request: { session: REFERENCE, event: FULL_EVENT, turn: TOKEN },
        result: { event: STORED_EVENT, duplicate: false },
      },
      {
        title: 'a turn that ends',
        request: { session: REFERENCE, event: FULL_EVENT, turn: TOKEN, endTurn: true },
        result: { event: STORED_EVENT, duplicate: false },
      },
      {
        title: 'an event that was stored before',
        request: { session: REFERENCE, event: { id: 'e-2', author: 'user' }, expectedVersion: 0 },
        result: { event: SMALL_EVENT, duplicate: true },
      },
      {
        title: 'fields that are null',
        request: { session: REFERENCE, event: NULLS },
        result: { event: { ...SMALL_EVENT, content: null }, duplicate: false },
      },
    ],
  },
  appendBatch: {
    fields: {
      session: 'everywhere',
      events: 'everywhere',
      expectedVersion: 'everywhere',
      turn: 'everywhere',
      endTurn: 'everywhere',
      endPartials: { notOverClient: OF_RUNS, notOverGraphql: OF_RUNS },
      transaction: NOT_OUTSIDE,
    },
    cases: [
      {
        title: 'all fields',
        request: { session: REFERENCE, events: [FULL_EVENT, { id: 'e-2', author: 'user' }], expectedVersion: LARGE },
        result: { events: [STORED_EVENT, SMALL_EVENT], duplicate: false },
      },
      {
        title: 'a turn that ends',
        request: { session: REFERENCE, events: [FULL_EVENT], turn: TOKEN, endTurn: true },
        result: { events: [STORED_EVENT], duplicate: false },
      },
      {
        title: 'events that were stored before',
        request: { session: REFERENCE, events: [{ id: 'e-2', author: 'user' }], expectedVersion: 0 },
        result: { events: [SMALL_EVENT], duplicate: true },
      },
      {
        title: 'fields that are null',
        request: { session: REFERENCE, events: [NULLS] },
        result: { events: [{ ...SMALL_EVENT, content: null }], duplicate: false },
      },
      { title: 'no events', request: { session: REFERENCE, events: [] }, result: { events: [], duplicate: false } },
    ],
  },
  updateState: {
    fields: { ...IDS, ...CHANGES, expectedVersion: WITH_APPEND, turn: WITH_APPEND, endTurn: WITH_APPEND },
    cases: [
      {
        title: 'all fields, a version and a turn',
        request: { ...KEY, ...ALL_CHANGES, expectedVersion: LARGE, turn: TOKEN, endTurn: true },
        result: STORED_EVENT,
      },
      ...stateCases(KEY).map((each) => ({ ...each, result: SMALL_EVENT })),
    ],
    calls: ({ appName, userId, sessionId, stateDelta, stateRemovals, ...how }) => {
      const session = { id: sessionId, appName, userId };
      const event = { author: 'system', actions: { stateDelta, stateRemovals } };
      return [{ method: 'appendEvent', request: { session, event, ...how } }];
    },
  },
  getState: {
    fields: IDS,
    cases: [{ title: 'a key', request: KEY, result: FULL }],
    calls: (key) => [{ method: 'getSession', request: { ...key, config: { numRecentEvents: 0 } } }],
  },
  rewindSession: {
    fields: {
      ...IDS,
      toSeq: 'everywhere',
      invocationId: 'everywhere',
      expectedVersion: 'everywhere',
      turn: 'everywhere',
      onServerState: RULED,
    },
    cases: sessionCases<RewindSessionRequest>({ ...KEY, toSeq: 0 }, [
      { title: 'a place and a version', request: { ...KEY, toSeq: LARGEST, expectedVersion: LARGE } },
      { title: 'a turn', request: { ...KEY, toSeq: 1, turn: TOKEN } },
      { title: 'an invocation', request: { ...KEY, invocationId: 'inv/1 ä', expectedVersion: 0 } },
    ]),
  },
  beginTurn: {
    fields: { ...IDS, holder: 'everywhere', ttlMs: 'everywhere', requestId: 'everywhere' },
    cases: [
      { title: 'all fields', request: { ...KEY, holder: 'worker ä', ttlMs: 100, requestId: 'job 7' }, result: TURN },
      { title: 'the fewest fields', request: { ...KEY, holder: 'w' }, result: TURN },
    ],
  },
  renewTurn: {
    fields: { ...IDS, token: 'everywhere', ttlMs: 'everywhere' },
    cases: [
      { title: 'all fields', request: { ...KEY, token: TOKEN, ttlMs: 5_000 }, result: TURN },
      { title: 'no time', request: { ...KEY, token: TOKEN }, result: TURN },
    ],
  },
  endTurn: {
    fields: { ...IDS, token: 'everywhere' },
    cases: [{ title: 'a token', request: { ...KEY, token: TOKEN }, result: undefined }],
  },
  getTurn: {
    fields: IDS,
    cases: [
      { title: 'a turn', request: KEY, result: { holder: 'worker ä', number: LARGE, expiresAt: LARGE } },
      { title: 'no turn', request: KEY, result: undefined },
    ],
  },
  forkSession: {
    fields: { ...IDS, atSeq: 'everywhere', newSessionId: 'everywhere', onServerState: RULED },
    cases: sessionCases<ForkSessionRequest>(KEY, [
      { title: 'all fields', request: { ...KEY, atSeq: LARGEST, newSessionId: 'a new/id ä' } },
      { title: 'the beginning', request: { ...KEY, atSeq: 0 } },
    ]),
  },
  getUsage: {
    fields: { ...IDS, period: 'everywhere' },
    cases: [
      { title: 'a session', request: KEY, result: { ...KEY, ...NO_USAGE } },
      { title: 'a session and the period', request: { ...KEY, period: 'total' }, result: { ...KEY, ...USAGE } },
      { title: 'a user', request: USER, result: { ...USER, ...NO_USAGE } },
      { title: 'a day of a user', request: { ...USER, period: 'day' }, result: { ...USER, ...USAGE } },
      { title: 'an app', request: { appName: 'shop' }, result: { appName: 'shop', ...USAGE } },
      {
        title: 'a month of an app',
        request: { appName: 'shop', period: '2026-11' },
        result: { appName: 'shop', ...USAGE, period: '2026-11' },
      },
    ],
  },
  getUserState: { fields: USER_IDS, cases: [{ title: 'a user', request: USER, result: STATE }] },
  updateUserState: { fields: { ...USER_IDS, ...CHANGES }, cases: stateCases(USER) },
  getAppState: {
    fields: { appName: 'everywhere' },
    cases: [{ title: 'an app', request: { appName: 'shop' }, result: STATE }],
  },
  updateAppState: { fields: { appName: 'everywhere', ...CHANGES }, cases: stateCases({ appName: 'shop' }) },
  getSessionSummary: {
    fields: IDS,
    cases: [
      { title: 'a summary with all fields', request: KEY, result: FULL_SUMMARY },
      { title: 'a summary with the fewest fields', request: KEY, result: SMALL_SUMMARY },
      { title: 'no summary', request: KEY, result: undefined },
    ],
  },
  createSessionSummary: {
    fields: {
      session: 'everywhere',
      force: 'everywhere',
      signal: {
        notOverClient: NO_ABORT,
        notOverGraphql: NO_ABORT,
      },
    },
    cases: [
      { title: 'by force', request: { session: REFERENCE, force: true }, result: FULL_SUMMARY },
      { title: 'not by force', request: { session: REFERENCE, force: false }, result: undefined },
      { title: 'only if it is due', request: { session: REFERENCE }, result: SMALL_SUMMARY },
    ],
  },
  listSummaries: {
    fields: { ...IDS, afterSeq: 'everywhere', limit: 'everywhere' },
    cases: [
      { title: 'all fields', request: { ...KEY, afterSeq: LARGE, limit: 2 }, result: [FULL_SUMMARY, SMALL_SUMMARY] },
      { title: 'zero', request: { ...KEY, afterSeq: 0, limit: 1_000 }, result: [] },
      { title: 'the fewest fields', request: KEY, result: [SMALL_SUMMARY] },
    ],
  },
};
