import { GraphqlApp } from './graphql-app.js';

const S = 'appName: "shop", userId: "ann", sessionId: "s"';
const APPEND = `mutation ($e: JSON!) { appendEvent(${S}, event: $e) { duplicate } }`;

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const many = (count: number, each: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => each(index)).join(' ');
const eventWith = (value: string): string => `{"author":"agent","actions":{"stateDelta":{"x":${value}}}}`;
const append = (event: string): string => `{"query":${JSON.stringify(APPEND)},"variables":{"e":${event}}}`;
const query = (text: string): string => JSON.stringify({ query: text });

interface HostileRequest {
  readonly title: string;
  readonly body: string;
  readonly code: string;
  /** 200 for responses of GraphQL, which report errors in the body. */
  readonly status: number;
  readonly headers?: Record<string, string>;
}

const PARSE = { status: 400, code: 'GRAPHQL_PARSE_FAILED' };
const VALIDATION = { status: 400, code: 'GRAPHQL_VALIDATION_FAILED' };
const LIMIT = { status: 400, code: 'LIMIT_EXCEEDED' };
const INPUT = { status: 200, code: 'INVALID_INPUT' };
const TOO_MUCH = { status: 200, code: 'LIMIT_EXCEEDED' };

const requests: readonly HostileRequest[] = [
  { title: 'no document', body: '{}', status: 400, code: 'BAD_REQUEST' },
  { title: 'a document that is none', body: query('{ session('), ...PARSE },
  { title: 'a document that is a number', body: '{"query":7}', status: 400, code: 'BAD_REQUEST' },
  { title: 'many requests in one', body: `[${query('{ __typename }')}]`, status: 400, code: 'BAD_REQUEST' },
  {
    title: 'a form, as any page may send it',
    body: query(`mutation { deleteSession(${S}) }`),
    headers: { 'content-type': 'text/plain' },
    status: 400,
    code: 'BAD_REQUEST',
  },
  { title: 'a document 1,000 deep', body: query(`{ ${'a { '.repeat(1_000)} b ${'}'.repeat(1_000)} }`), ...PARSE },
  { title: 'a document 100 deep', body: query(`{ ${'a { '.repeat(100)} b ${'}'.repeat(100)} }`), ...LIMIT },
  { title: 'an introspection 25 deep', body: query(introspection(25)), ...LIMIT },
  {
    title: '10,000 aliases',
    body: query(`mutation { ${many(10_000, (i) => `a${i}: deleteSession(${S})`)} }`),
    ...LIMIT,
  },
  { title: '31 aliases', body: query(`mutation { ${many(31, (i) => `a${i}: deleteSession(${S})`)} }`), ...LIMIT },
  { title: '10,000 fields', body: query(`{ ${many(10_000, () => '__typename')} }`), ...LIMIT },
  { title: '2,000 fields', body: query(`{ ${many(2_000, () => '__typename')} }`), ...PARSE },
  {
    title: 'a page of 1,000,000,000',
    body: query('{ sessions(appName: "shop", first: 1000000000) { nodes { id } } }'),
    ...LIMIT,
  },
  { title: 'a page of 1e9', body: query('{ sessions(appName: "shop", first: 1e9) { nodes { id } } }'), ...LIMIT },
  { title: 'a page of 1,001', body: query('{ sessions(appName: "shop", first: 1001) { nodes { id } } }'), ...INPUT },
  { title: 'a page of -1', body: query(`{ events(${S}, first: -1) { nodes { id } } }`), ...INPUT },
  {
    title: 'a page of a variable',
    body: '{"query":"query ($n: Int) { sessions(appName: \\"shop\\", first: $n) { nodes { id } } }","variables":{"n":1000000000}}',
    ...INPUT,
  },
  {
    title: 'a view of 100,000',
    body: query(`{ session(${S}) { events(numRecentEvents: 100000) { seq } } }`),
    ...LIMIT,
  },
  {
    title: 'fragments that double each other',
    body: query(
      `{ ...f0 } ${many(18, (i) => `fragment f${i} on Query { ${i < 17 ? `...f${i + 1} a${i}: session(${S}) { id ...g } ...f${i + 1}` : '__typename'} }`)} fragment g on Session { id }`,
    ),
    ...LIMIT,
  },
  {
    title: 'fragments in a circle',
    body: query('{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }'),
    ...VALIDATION,
  },
  {
    title: 'a literal 1,000 deep',
    body: query(`mutation { appendEvent(${S}, event: {x: ${deep(1_000)}}) { duplicate } }`),
    ...PARSE,
  },
  {
    title: 'a literal 100 deep',
    body: query(`mutation { appendEvent(${S}, event: {x: ${deep(100)}}) { duplicate } }`),
    ...TOO_MUCH,
  },
  { title: 'a value 100,000 deep', body: append(eventWith(deep(100_000))), ...TOO_MUCH },
  { title: 'an event of 3 MB', body: append(eventWith(`"${'x'.repeat(3_000_000)}"`)), ...TOO_MUCH },
  { title: 'an event that is null', body: append('null'), status: 400, code: 'BAD_USER_INPUT' },
  { title: 'an event that is a list', body: append('[]'), ...INPUT },
  { title: 'an author that is a number', body: append('{"author":7}'), ...INPUT },
  { title: 'a lone surrogate', body: append(eventWith(String.raw`"\ud800"`)), ...INPUT },
  { title: 'an empty state key', body: append('{"author":"a","actions":{"stateDelta":{"user:":1}}}'), ...INPUT },
  { title: 'removals that are no list', body: append('{"author":"a","actions":{"stateRemovals":"x"}}'), ...INPUT },
  { title: 'a cursor that is none', body: query(`{ events(${S}, after: "x") { lastSeq } }`), ...INPUT },
  { title: 'a user of white space', body: query('{ userState(appName: "shop", userId: " ") }'), ...INPUT },
  { title: 'an id of 192 bytes', body: query(`{ appState(appName: "${'x'.repeat(192)}") }`), ...INPUT },
  {
    title: 'a number that is none',
    body: query(`mutation { rewindSession(${S}, toSeq: 9007199254740992) { id } }`),
    ...VALIDATION,
  },
  { title: 'a subscription over HTTP', body: query(`subscription { eventAppended(${S}) { seq } }`), ...INPUT },
  { title: 'a rewind to nowhere', body: query(`mutation { rewindSession(${S}) { id } }`), ...INPUT },
  {
    title: 'a state that is a text',
    body: query('mutation { createSession(appName: "shop", userId: "ann", state: "x") { id } }'),
    ...INPUT,
  },
];

describe('hostile requests over GraphQL', () => {
  let app: GraphqlApp;

  beforeAll(async () => {
    app = await GraphqlApp.start();
    await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
  });

  afterAll(async () => {
    await app.close();
  });

  it.each(requests)('$title is refused with $code', async ({ body, status, code, headers }) => {
    const answer = await app.post(body, headers);
    expect(answer.status).toBe(status);
    expect(answer.errors[0]?.extensions).toMatchObject({ code, status: expect.any(Number) });
    expect(answer.text).not.toContain('    at ');
    expect(answer.text).not.toContain('stacktrace');
  });

  it.each([
    { title: 'a body of 6 MB', body: append(eventWith(`"${'x'.repeat(6_000_000)}"`)), status: 413 },
    { title: 'a body that is no JSON', body: '{bad', status: 400 },
  ])('$title is refused with $status', async ({ body, status }) => {
    const answer = await app.post(body);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain('    at ');
  });

  const ask = (text: string, headers = {}): Promise<Response> =>
    fetch(`${app.url}/graphql?query=${encodeURIComponent(text)}`, { headers });

  it('a GET cannot run a mutation, nor a query without a header that other sites cannot set', async () => {
    expect((await ask('{ __typename }')).status).toBe(400);
    expect((await ask('{ __typename }', { 'apollo-require-preflight': '1' })).status).toBe(200);
    expect((await ask(`mutation { deleteSession(${S}) }`, { 'apollo-require-preflight': '1' })).status).toBe(405);
  });

  it('they store nothing and do not disturb the app', async () => {
    const { data } = await app.ask(`{ session(${S}) { version state } sessions(appName: "shop") { nodes { id } } }`);
    expect(data).toEqual({ session: { version: 0, state: {} }, sessions: { nodes: [{ id: 's' }] } });
  });
});

function introspection(levels: number): string {
  return `{ __type(name: "Session") { fields { type { ${'ofType { '.repeat(levels)} name ${'}'.repeat(levels)} } } } }`;
}
