import {
  type GraphQLArgument,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { frameworks } from '../rest/rest-app.js';
import { RecordingService, linesOf, linesOfCalls } from '../transports/recording-service.js';
import { repliesOf } from '../transports/made-cases.js';
import { methodOf } from '../transports/operations.js';
import { AGENT_ROWS, ROWS, ROW_NAMES } from '../transports/rows.js';
import {
  FULL_SESSION,
  JSON_VALUES,
  KEY,
  LARGE,
  SMALL_EVENT,
  STORED_EVENT,
  USER,
  sessionOf,
} from '../transports/samples.js';
import { answerOf } from './answers.js';
import { GraphqlApp } from './graphql-app.js';
import { argumentsOf, documentOf, rootField } from './schema-documents.js';

const shown = ROW_NAMES.filter((name) => ROWS[name].graphql && !AGENT_ROWS.includes(name));
const FIELDS = ['session', 'eventAppended', ...shown.map((name) => ROWS[name].graphql?.name ?? name)];

/** What each method of the service returns. */
const REPLIES = {
  ...Object.fromEntries(shown.map((name) => [methodOf(name), repliesOf(name)[0]])),
  getSession: sessionOf(FULL_SESSION),
  listEvents: { events: [], firstSeq: 1, lastSeq: 9 },
  watch: [STORED_EVENT],
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

  const firstAnswer = async (query: string, variables: object): Promise<Record<string, unknown>> => {
    const client = createClient({ url: app.webSocketUrl, webSocketImpl: WebSocket, retryAttempts: 0 });
    try {
      for await (const { data, errors } of client.iterate({ query, variables: { ...variables } })) {
        expect(errors).toBeUndefined();
        return data ?? {};
      }
      throw new Error('There was no answer');
    } finally {
      await client.dispose();
    }
  };

  it.each(FIELDS)('treats null in %s as a missing argument, in literals and in variables', async (field) => {
    const all = argumentsOf(app.schema, field);
    const document = documentOf(app.schema, field);
    const given = Object.fromEntries(all.map(({ name, type }) => [name, valueOf(type, name)]));
    const fromVariables = await callsOf(document, given);
    expect(fromVariables.length).toBeGreaterThan(0);
    expect(await callsOf(withLiterals(document, all), {})).toEqual(fromVariables);
    for (const { name, type } of all) {
      if (isNonNullType(type)) continue;
      const { [name]: _left, ...others } = given;
      const without = await callsOf(document, others);
      expect([name, await callsOf(document, { ...others, [name]: null })]).toEqual([name, without]);
      expect([name, without]).not.toEqual([name, fromVariables]);
    }
  });

  it('shows all of a watched event', async () => {
    const statePatch = [{ op: 'replace', path: '/a~1b~0', value: null }];
    for (const event of [
      { ...STORED_EVENT, statePatch, position: '3.4-17', partial: true, offset: 0 },
      { ...SMALL_EVENT, partial: false },
    ]) {
      service.reply({ ...REPLIES, watch: [event] });
      const { eventAppended } = await firstAnswer(documentOf(app.schema, 'eventAppended'), { ...KEY, afterSeq: 0 });
      const { statePatch: _patch, position: _position, offset: _offset, ...body } = event as Record<string, unknown>;
      const expected = answerOf(rootField(app.schema, 'eventAppended').type, event) as object;
      expect(linesOf({ ...(eventAppended as object), body: undefined })).toEqual(
        linesOf({ ...expected, body: undefined }),
      );
      expect(eventAppended).toMatchObject({ body: { id: body.id, seq: body.seq } });
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

/** A value of each type of argument. Some are checked before the service sees them. */
function valueOf(given: GraphQLInputType, name: string): unknown {
  const type = getNullableType(given);
  if (name === 'afterPosition') return '12.4-17';
  if (isListType(type)) return [valueOf(type.ofType, name)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    return Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, valueOf(field.type, name)]));
  }
  return VALUES[type.name];
}

const VALUES: Readonly<Record<string, unknown>> = {
  String: 'ann ä "1"',
  SafeInt: LARGE,
  Int: 7,
  Boolean: true,
  JSON: { author: 'user', a: [null, -0.5, { b: 'c' }], large: LARGE },
};

function literalOf(value: unknown, type: GraphQLInputType): string {
  return isEnumType(getNullableType(type)) ? String(value) : JSON.stringify(value).replaceAll(/"(\w+)":/g, '$1:');
}

/** The document with literals instead of variables. Nested arguments keep their variables. */
function withLiterals(document: string, all: readonly GraphQLArgument[]): string {
  const types = new Map(all.map(({ name, type }) => [name, type]));
  const [, kind, declared = '', rest = ''] = /^(\w+) \((.*?)\) (\{.*)$/.exec(document) ?? [];
  const kept = declared.split(', ').filter((each) => !types.has(/^\$(\w+):/.exec(each)?.[1] ?? ''));
  const written = rest.replaceAll(/\$(\w+)/g, (variable, name: string) => {
    const type = types.get(name);
    return type ? literalOf(valueOf(type, name), type) : variable;
  });
  return `${kind} ${kept.length === 0 ? '' : `(${kept.join(', ')}) `}${written}`;
}
