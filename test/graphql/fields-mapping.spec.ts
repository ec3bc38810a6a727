import { type GraphQLArgument, isNonNullType } from 'graphql';
import { NO_USAGE } from '../../src/sessions/domain/usage.js';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { frameworks } from '../rest/rest-app.js';
import { RecordingService, linesOf, linesOfCalls } from '../transports/recording-service.js';
import {
  FULL_SESSION,
  FULL_SUMMARY,
  JSON_VALUES,
  KEY,
  LARGE,
  STORED_EVENT,
  USER,
  sessionOf,
} from '../transports/samples.js';
import { GraphqlApp } from './graphql-app.js';
import { OPERATIONS } from '../transports/operations.js';
import type { OperationName } from '../transports/operation-types.js';
import { fieldOf } from './graphql-mappings.js';
import { argumentsOf, documentOf, fieldsOf } from './schema-documents.js';

/** A value of each argument, and the same value as a literal. */
const VALUES: Readonly<Record<string, { readonly value: unknown; readonly literal: string }>> = {
  appName: { value: 'shop', literal: '"shop"' },
  userId: { value: 'ann ä', literal: '"ann \\u00e4"' },
  sessionId: { value: 'cart "1"', literal: '"cart \\"1\\""' },
  newSessionId: { value: 'b', literal: '"b"' },
  invocationId: { value: 'inv', literal: '"inv"' },
  state: literalOf({ a: [null, 0.5, { b: 'c' }], d: true }),
  metadata: literalOf({ title: 'a', fields: { b: [null] } }),
  stateDelta: literalOf({ __proto: null, number: -1e3, user_x: {} }),
  stateRemovals: literalOf(['a', '']),
  event: literalOf({ author: 'user', content: { parts: [{ text: 'x' }] }, large: LARGE }),
  events: literalOf([
    { author: 'user', content: null },
    { author: 'agent', large: LARGE },
  ]),
  expectedVersion: { value: LARGE, literal: String(LARGE) },
  numRecentEvents: { value: 0, literal: '0' },
  afterTimestamp: { value: LARGE, literal: String(LARGE) },
  afterSeq: { value: 3, literal: '3' },
  beforeSeq: { value: 9, literal: '9' },
  seq: { value: LARGE, literal: String(LARGE) },
  key: { value: 'user:ä', literal: '"user:\\u00e4"' },
  period: { value: 'month', literal: '"month"' },
  stateDeltas: { value: true, literal: 'true' },
  partials: { value: true, literal: 'true' },
  afterPosition: { value: '12.4-17', literal: '"12.4-17"' },
  toSeq: { value: 0, literal: '0' },
  atSeq: { value: 0, literal: '0' },
  first: { value: 7, literal: '7' },
  after: { value: 'c/+', literal: '"c/+"' },
  order: { value: 'ASC', literal: 'ASC' },
  orderBy: { value: 'CREATE_TIME', literal: 'CREATE_TIME' },
  filter: literalOf({ status: 'open', tags: ['a'], labels: { region: 'eu' } }),
  force: { value: false, literal: 'false' },
  turnsOnly: { value: true, literal: 'true' },
  holder: { value: 'worker ä', literal: '"worker \\u00e4"' },
  ttlMs: { value: LARGE, literal: String(LARGE) },
  requestId: { value: 'job 7', literal: '"job 7"' },
  token: { value: 't', literal: '"t"' },
  turn: { value: 't', literal: '"t"' },
  endTurn: { value: true, literal: 'true' },
};

const SESSION = sessionOf(FULL_SESSION);
const TURN = { token: 't', number: 1, holder: 'w', expiresAt: LARGE, ttlMs: 100 };
const REPLIES = {
  createSession: SESSION,
  getOrCreateSession: SESSION,
  getSession: SESSION,
  rewindSession: SESSION,
  forkSession: SESSION,
  listSessions: {
    sessions: [],
    limit: 7,
  },
  append: {
    event: STORED_EVENT,
    duplicate: false,
  },
  appendBatch: {
    events: [STORED_EVENT],
    duplicate: false,
  },
  appendEvent: STORED_EVENT,
  watch: [STORED_EVENT],
  listEvents: {
    events: [],
    firstSeq: 1,
    lastSeq: LARGE,
  },
  stateAt: { seq: 0, state: {}, shared: {} },
  stateChanges: { changes: [], firstSeq: 1, lastSeq: 0 },
  deleteSession: undefined,
  beginTurn: TURN,
  renewTurn: TURN,
  endTurn: undefined,
  getTurn: undefined,
  getUsage: { appName: 'shop', period: 'total', models: [], total: NO_USAGE, costMicros: 0, unpricedModels: [] },
  getUserState: {},
  updateUserState: {},
  getAppState: {},
  updateAppState: {},
  getSessionSummary: FULL_SUMMARY,
  createSessionSummary: FULL_SUMMARY,
  listSummaries: [FULL_SUMMARY],
};

describe.each(frameworks)('the mapping of GraphQL fields on %s', (framework) => {
  const service = new RecordingService();
  let app: GraphqlApp;

  beforeAll(async () => {
    app = await GraphqlApp.start({ services: service, framework });
  });

  afterAll(() => app.close());

  /** The calls of the service that a document causes. */
  const callsOf = async (document: string, variables: object = {}): Promise<string[]> => {
    service.reply(REPLIES);
    if (!document.startsWith('subscription')) {
      const { errors } = await app.ask(document, variables);
      expect(errors).toEqual([]);
    } else await firstAnswer(document, variables);
    return linesOfCalls(service.calls);
  };

  const firstAnswer = async (query: string, variables: object): Promise<void> => {
    const client = createClient({ url: app.webSocketUrl, webSocketImpl: WebSocket, retryAttempts: 0 });
    for await (const { errors } of client.iterate({ query, variables: variables as Record<string, unknown> })) {
      expect(errors).toBeUndefined();
      break;
    }
    await client.dispose();
  };

  // The usage of a session has a field of its own.
  const fields = [...new Set([...(Object.keys(OPERATIONS) as OperationName[]).map(fieldOf), 'sessionUsage'])];

  it('has all operations', () => {
    expect(Object.keys(fieldsOf(app.schema)).toSorted()).toEqual(fields.toSorted());
  });

  it.each(fields)('treats null in %s as a missing argument, in literals and in variables', async (field) => {
    const all = argumentsOf(app.schema, field);
    const document = documentOf(app.schema, field);
    const given = Object.fromEntries(all.map(({ name }) => [name, VALUES[name]?.value]));
    const fromVariables = await callsOf(document, given);
    expect(fromVariables.length).toBeGreaterThan(0);
    expect(await callsOf(withLiterals(document, all), {})).toEqual(fromVariables);
    for (const { name, type } of all) {
      expect([name, VALUES[name]]).toEqual([name, { value: expect.anything(), literal: expect.any(String) }]);
      if (isNonNullType(type)) continue;
      const { [name]: _left, ...others } = given;
      const without = await callsOf(document, others);
      expect([name, await callsOf(document, { ...others, [name]: null })]).toEqual([name, without]);
      expect([name, without]).not.toEqual([name, fromVariables]);
    }
  });

  it('passes null to the service only if it is a value', async () => {
    const stateDelta = { gone: null, kept: { deep: [null] } };
    const document = documentOf(app.schema, 'updateUserState');
    expect(await callsOf(document, { ...USER, stateDelta, stateRemovals: null })).toEqual([
      'call updateUserState',
      ...linesOf({ ...USER, stateDelta }),
    ]);
  });

  // Later reads are of the session that was returned.
  const FOUND = { appName: FULL_SESSION.appName, userId: FULL_SESSION.userId, sessionId: FULL_SESSION.id };
  const KEY_ARGUMENTS = 'appName: "shop", userId: "ann", sessionId: "cart"';
  it.each([
    { title: 'a session without its events', fields: '{ id }', configs: [{ numRecentEvents: 0 }] },
    { title: 'all events', fields: '{ events { id } }', configs: [{}] },
    {
      title: 'some events',
      fields: '{ events(numRecentEvents: 1, afterSeq: 2, afterTimestamp: 3) { id } }',
      configs: [{ numRecentEvents: 1, afterSeq: 2, afterTimestamp: 3 }],
    },
    { title: 'null for all events', fields: '{ events(numRecentEvents: null) { id } }', configs: [{}] },
    {
      title: 'events in two ways',
      fields: '{ new: events(numRecentEvents: 1) { id } late: events(afterSeq: 2) { id } }',
      configs: [{ numRecentEvents: 1 }, { afterSeq: 2 }],
    },
    {
      title: 'events in a fragment',
      fields: '{ ... on Session { events(afterSeq: 4) { id } } }',
      configs: [{ afterSeq: 4 }],
    },
  ])('read $title', async ({ fields: selected, configs }) => {
    const calls = configs.map((config, index) => ({
      method: 'getSession',
      request: { ...(index === 0 ? KEY : FOUND), config },
    }));
    expect(await callsOf(`query { session(${KEY_ARGUMENTS}) ${selected} }`)).toEqual(linesOfCalls(calls));
  });

  it('returns the events of each selection', async () => {
    service.reply(REPLIES);
    const { data } = await app.ask(
      `{ session(${KEY_ARGUMENTS}) { a: events { seq } b: events(afterSeq: 2) { id body } } }`,
    );
    const events = FULL_SESSION.events.map(({ id, seq, ...rest }) => ({ seq, b: { id, body: { id, seq, ...rest } } }));
    expect(data.session).toMatchObject({ a: events.map(({ seq }) => ({ seq })), b: events.map(({ b }) => b) });
  });

  it('reads the state of listed sessions only if it is selected', async () => {
    for (const [selected, includeState] of [
      ['id', false],
      ['id state', true],
    ] as const) {
      const calls = await callsOf(`query { sessions(appName: "shop") { nodes { ${selected} } } }`);
      expect(calls).toEqual(['call listSessions', ...linesOf({ appName: 'shop', limit: 100, includeState })]);
    }
  });

  it('returns null for a partial event, which the service checks and does not store', async () => {
    const event = { author: 'agent', partial: true, content: JSON_VALUES };
    service.reply({ appendEvent: event });
    const { data, errors } = await app.ask(documentOf(app.schema, 'appendEvent'), { ...KEY, event });
    expect([errors, data]).toEqual([[], { appendEvent: { event: null, duplicate: false } }]);
    const { sessionId: id, appName, userId } = KEY;
    const request = { session: { id, appName, userId }, event };
    expect(linesOfCalls(service.calls)).toEqual(linesOfCalls([{ method: 'appendEvent', request }]));
  });

  it('returns null for a partial event of a batch', async () => {
    const partial = { author: 'agent', partial: true };
    service.reply({ appendBatch: { events: [partial, STORED_EVENT], duplicate: false } });
    const document = documentOf(app.schema, 'appendEvents', { Event: ['seq'] });
    const { data, errors } = await app.ask(document, { ...KEY, events: [partial, { author: 'user' }] });
    const { seq } = STORED_EVENT;
    expect([errors, data]).toEqual([[], { appendEvents: { events: [null, { seq }], duplicate: false } }]);
  });
});

function literalOf(value: unknown): { readonly value: unknown; readonly literal: string } {
  return { value, literal: JSON.stringify(value).replaceAll(/"(\w+)":/g, '$1:') };
}

/** The document with literals instead of variables. Nested arguments keep their variables. */
function withLiterals(document: string, all: readonly GraphQLArgument[]): string {
  const names = new Set(all.map(({ name }) => name));
  const [, kind, declared = '', rest = ''] = /^(\w+) \((.*?)\) (\{.*)$/.exec(document) ?? [];
  const kept = declared.split(', ').filter((each) => !names.has(/^\$(\w+):/.exec(each)?.[1] ?? ''));
  const written = rest.replaceAll(/\$(\w+)/g, (variable, name: string) =>
    names.has(name) ? (VALUES[name]?.literal ?? 'null') : variable,
  );
  return `${kind} ${kept.length === 0 ? '' : `(${kept.join(', ')}) `}${written}`;
}
