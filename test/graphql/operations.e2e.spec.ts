import { StoreUnavailableError } from '../../src/index.js';
import { type Answer, GraphqlApp } from './graphql-app.js';

const S = 'appName: "shop", userId: "ann", sessionId: "s"';
const HELLO = '{author: "user", content: {role: "user", parts: [{text: "Hello"}]}}';

const sessionPage = (after: string | null): string =>
  `{ sessions(appName: "shop", first: 2, after: ${JSON.stringify(after)}, orderBy: CREATE_TIME, order: ASC) { nodes { id state } pageInfo { hasNextPage endCursor } } }`;
const eventPage = (after: string | null): string =>
  `{ events(${S}, first: 2, after: ${JSON.stringify(after)}, order: DESC, afterSeq: 1) { nodes { seq } firstSeq lastSeq pageInfo { hasNextPage endCursor } } }`;

describe('the schema of sessions', () => {
  let app: GraphqlApp;

  beforeEach(async () => {
    app = await GraphqlApp.start();
  });

  afterEach(async () => {
    await app.close();
  });

  const ask = (query: string, variables?: unknown): Promise<Answer> => app.ask(query, variables);
  const create = (): Promise<Answer> => ask(`mutation { createSession(${S}, state: {step: 1}) { id } }`);
  const append = (event = HELLO, more = ''): Promise<Answer> =>
    ask(`mutation { appendEvent(${S}, event: ${event}${more}) { duplicate event { id seq body } } }`);

  it('creates a session with a generated or a given id, once', async () => {
    const { data } = await ask(
      'mutation { createSession(appName: "shop", userId: "ann", state: {step: 1, user_x: {a: [1.5]}}) { id version state events { seq } } }',
    );
    expect(data.createSession).toMatchObject({ version: 0, events: [], state: { step: 1, user_x: { a: [1.5] } } });
    expect((await create()).data).toEqual({ createSession: { id: 's' } });
    const again = await create();
    expect(again.errors[0]?.extensions).toEqual({ code: 'SESSION_EXISTS', status: 409 });
    expect(await ask(`mutation { getOrCreateSession(${S}, state: {step: 9}) { id state } }`)).toMatchObject({
      data: { getOrCreateSession: { id: 's', state: { step: 1 } } },
    });
  });

  it('returns a session with its view, narrowed by the arguments of each alias', async () => {
    expect((await ask(`{ session(${S}) { id } }`)).data).toEqual({ session: null });
    await create();
    for (const id of ['a', 'b', 'c']) await append(`{id: "${id}", author: "user", content: {parts: [{text: "x"}]}}`);
    const { data } = await ask(
      `query ($n: SafeInt) { session(${S}) {
        version conversationCount createTime lastUpdateTime saveKey
        ...Newest
        ... on Session { after: events(afterSeq: 1) { id } }
        events { id author invocationId timestamp content actions body }
      } }
      fragment Newest on Session { newest: events(numRecentEvents: $n) { id } }`,
      { n: 1 },
    );
    expect(data.session).toMatchObject({
      version: 3,
      conversationCount: 3,
      newest: [{ id: 'c' }],
      after: [{ id: 'b' }, { id: 'c' }],
      events: [{ id: 'a', author: 'user', content: { parts: [{ text: 'x' }] }, body: { seq: 1 } }, {}, {}],
    });
  });

  it('reads a session and its selected events with one call', async () => {
    await create();
    await append();
    const reads = jest.spyOn(app.sessions, 'getSession');
    await ask(`{ session(${S}) { id ...F } } fragment F on Session { events(numRecentEvents: 1) { seq } }`);
    expect(reads.mock.calls.map(([{ config }]) => config)).toEqual([{ numRecentEvents: 1 }]);
    reads.mockClear();
    await ask(`{ session(${S}) { id state } }`);
    expect(reads.mock.calls.map(([{ config }]) => config)).toEqual([{ numRecentEvents: 0 }]);
  });

  it('appends an event with an id once', async () => {
    await create();
    const event = '{id: "order-7", author: "agent", actions: {stateDelta: {step: 2}}}';
    const first = await append(event);
    expect(first.data.appendEvent).toMatchObject({ duplicate: false, event: { id: 'order-7', seq: 1 } });
    expect((await append(event)).data.appendEvent).toMatchObject({ duplicate: true, event: { seq: 1 } });
    const other = await append('{id: "order-7", author: "user"}');
    expect(other.errors[0]?.extensions).toMatchObject({ code: 'EVENT_CONFLICT', status: 409 });
    expect((await ask(`{ session(${S}) { state version } }`)).data).toEqual({
      session: { state: { step: 2 }, version: 1 },
    });
  });

  it('recognises an event that is sent as it was returned, with null for missing fields', async () => {
    await create();
    const fields = 'id seq invocationId author branch timestamp content actions';
    const send = (event: unknown): Promise<Answer> =>
      ask(`mutation ($event: JSON!) { appendEvent(${S}, event: $event) { duplicate event { ${fields} body } } }`, {
        event,
      });
    const { data } = await send({ author: 'agent', actions: { stateDelta: { step: 2 } } });
    const { body, ...shown } = (data.appendEvent as { event: { body: unknown } }).event;
    expect(shown).toMatchObject({ branch: null, content: null });
    for (const event of [shown, body]) {
      expect((await send(event)).data.appendEvent).toMatchObject({ duplicate: true, event: { seq: 1 } });
    }
  });

  it('refuses an event without an author, such as one wrapped in another object', async () => {
    await create();
    for (const event of ['{}', `{event: ${HELLO}}`]) {
      const { errors } = await append(event);
      expect(errors[0]?.extensions).toEqual({ code: 'INVALID_INPUT', status: 400, path: '$.author' });
      expect(errors[0]?.message).toContain('without that object around it');
    }
  });

  it('appends with an expected version only if no other writer was faster', async () => {
    await create();
    expect((await append(HELLO, ', expectedVersion: 0')).errors).toEqual([]);
    const late = await append(HELLO, ', expectedVersion: 0');
    expect(late.errors[0]?.extensions).toEqual({ code: 'STALE_SESSION', status: 409, currentVersion: 1 });
    expect((await append(HELLO, ', expectedVersion: null')).errors).toEqual([]);
  });

  it('stores no partial event', async () => {
    await create();
    const partial = await append('{author: "agent", partial: true, content: {parts: [{text: "Hel"}]}}');
    expect(partial.data).toEqual({ appendEvent: { duplicate: false, event: null } });
    expect((await ask(`{ session(${S}) { version } }`)).data).toEqual({ session: { version: 0 } });
  });

  it('lists sessions and events page by page', async () => {
    for (const id of ['a', 'b', 'c'])
      await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: id });
    await create();
    for (let number = 0; number < 5; number++) await append();
    expect((await nodesOf(sessionPage)).map(({ id }) => id)).toEqual(['a', 'b', 'c', 's']);
    expect((await nodesOf(eventPage)).map(({ seq }) => seq)).toEqual([5, 4, 3, 2]);
  });

  it('reads and changes state in its scopes', async () => {
    await create();
    const changed = await ask(
      `mutation ($d: JSON) { updateSessionState(${S}, stateDelta: $d, stateRemovals: ["step"], expectedVersion: 0) { author seq } }`,
      { d: { 'user:theme': 'dark', 'app:tax': 19, own: null } },
    );
    expect(changed.data).toEqual({ updateSessionState: { author: 'system', seq: 1 } });
    const user = 'appName: "shop", userId: "ann"';
    expect((await ask(`{ session(${S}) { state } userState(${user}) appState(appName: "shop") }`)).data).toEqual({
      session: { state: { own: null, 'user:theme': 'dark', 'app:tax': 19 } },
      userState: { theme: 'dark' },
      appState: { tax: 19 },
    });
    const removals = await ask(
      `mutation { updateUserState(${user}, stateRemovals: ["theme"]) updateAppState(appName: "shop", stateDelta: {tax: 7}) }`,
    );
    expect(removals.data).toEqual({ updateUserState: {}, updateAppState: { tax: 7 } });
  });

  it('rewinds, forks and deletes', async () => {
    await create();
    await append('{author: "agent", actions: {stateDelta: {step: 2}}}');
    await append('{author: "agent", actions: {stateDelta: {step: 3}}}');
    expect((await ask(`mutation { forkSession(${S}, newSessionId: "copy", atSeq: 1) { id state } }`)).data).toEqual({
      forkSession: { id: 'copy', state: { step: 2 } },
    });
    const rewound = await ask(
      `mutation { rewindSession(${S}, toSeq: 1) { state version events(numRecentEvents: 0) { seq } } }`,
    );
    expect(rewound.data).toEqual({ rewindSession: { state: { step: 2 }, version: 3, events: [] } });
    for (const _ of [1, 2])
      expect((await ask(`mutation { deleteSession(${S}) }`)).data).toEqual({ deleteSession: true });
    expect((await ask(`{ session(${S}) { id } }`)).data).toEqual({ session: null });
  });

  it.each(['a/b', '../x', 'ü 😀', '*?#&', ':{}', '__proto__', '5', 'x'.repeat(191)])(
    'accepts %p as an id',
    async (id) => {
      const query =
        'mutation ($id: String!) { createSession(appName: $id, userId: $id, sessionId: $id) { id userId appName } }';
      expect((await ask(query, { id })).data).toEqual({ createSession: { id, userId: id, appName: id } });
    },
  );

  it('keeps keys, their order and numbers, in variables and in literals', async () => {
    await create();
    const value = '{"z":1,"__proto__":{"a":[1e-7,9007199254740993,-0.5,""]},"constructor":null,"a":{"10":1,"9":2}}';
    await app.post(
      `{"query":${JSON.stringify(`mutation ($v: JSON!) { appendEvent(${S}, event: $v) { duplicate } }`)},` +
        `"variables":{"v":{"author":"a","customMetadata":${value}}}}`,
    );
    await append(
      '{author: "a", customMetadata: {z: 1, __proto__: {a: [1e-7, 9007199254740993, true]}, constructor: null}}',
    );
    const { text } = await ask(`{ events(${S}) { nodes { body } } }`);
    expect(text).toContain(`"customMetadata":${JSON.stringify(JSON.parse(value))}`);
    expect(text).toContain(
      '"customMetadata":{"z":1,"__proto__":{"a":[1e-7,9007199254740992,true]},"constructor":null}',
    );
    expect(Object.hasOwn(Object.prototype, 'a')).toBe(false);
  });

  it('accepts variables inside literals, and refuses enum values', async () => {
    await create();
    const query = `mutation ($t: JSON, $none: JSON) { appendEvent(${S}, event: {author: "a", x: {t: $t, none: $none}}) { event { body } } }`;
    expect((await ask(query, { t: [1] })).data).toMatchObject({ appendEvent: { event: { body: { x: { t: [1] } } } } });
    expect((await append('{author: agent}')).errors[0]?.message).toContain('write a text in quotes');
  });

  it('reports a failed store without internal details', async () => {
    await create();
    jest.spyOn(app.sessions, 'append').mockRejectedValueOnce(new Error('secret'));
    const masked = await append();
    expect(masked.text).not.toContain('secret');
    expect(masked.errors[0]?.extensions).toEqual({ code: 'INTERNAL', status: 500 });
    const failure = Object.assign(new StoreUnavailableError('The store does not answer.', true), { eventId: 'e-1' });
    jest.spyOn(app.sessions, 'append').mockRejectedValueOnce(failure);
    expect((await append()).errors[0]?.extensions).toEqual({
      code: 'STORE_UNAVAILABLE',
      status: 503,
      outcomeUnknown: true,
      eventId: 'e-1',
    });
    jest.spyOn(app.sessions, 'getSession').mockRejectedValueOnce(new Error('secret'));
    const nested = await ask(`mutation { rewindSession(${S}, toSeq: 0) { events(afterSeq: 1) { seq } } }`);
    expect(nested.text).not.toContain('secret');
    expect(nested.errors[0]?.extensions).toEqual({ code: 'INTERNAL', status: 500 });
  });

  it('calls a cursor that is none by its argument', async () => {
    await create();
    for (const query of [eventPage('zzz'), sessionPage('zzz')]) {
      const [error] = (await ask(query)).errors;
      expect(error?.message).toMatch(/^after: must be the nextCursor/);
      expect(error?.extensions).toMatchObject({ code: 'INVALID_INPUT', path: 'after' });
    }
  });

  async function nodesOf(query: (after: string | null) => string): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    for (let after: string | null = null; ;) {
      const { data }: Answer = await ask(query(after));
      const [page] = Object.values(data) as [
        { nodes: Record<string, unknown>[]; pageInfo: { endCursor: string | null } },
      ];
      found.push(...page.nodes);
      after = page.pageInfo.endCursor;
      if (after === null) return found;
    }
  }
});
