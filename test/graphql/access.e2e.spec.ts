import { once } from 'node:events';
import { WebSocket } from 'ws';
import { HEADERS, OwnSessions, OTHER_CALLERS, ALL_CALLERS, type Who } from '../support/callers.js';
import { ACCESS_CASES, type AccessCase, goodRequest } from '../transports/access-cases.js';
import { TURN_TOKEN } from '../transports/operations.js';
import { ROWS, type RowName } from '../transports/rows.js';
import { type Answer, GraphqlApp } from './graphql-app.js';
import { LiveWatch } from './live-watch.js';
import { documentOf, fieldsOf } from './schema-documents.js';
import { variablesOf } from './variables.js';

const ANN = { appName: 'shop', userId: 'ann' };
const USER = 'appName: "shop", userId: "ann"';
const KEY = `${USER}, sessionId: $id`;

const VIEW = { field: 'session', target: 'session', allowed: ['the owner', 'the admin'] } as const;
const STREAMS = ['eventAppended', 'agentRun'];

/** All fields of a page of 1,000 would be more than an answer may have. */
const SELECTED = { PendingApproval: ['hint'] };

/** All fields but those that stream: operations, and the view of a session, which is none. */
const fields: readonly (Pick<AccessCase, 'target' | 'allowed'> & {
  readonly name?: RowName;
  readonly field: string;
})[] = [
  VIEW,
  ...ACCESS_CASES.flatMap((each) => {
    const { graphql } = ROWS[each.name];
    const field = graphql?.name ?? each.name;
    return graphql && !STREAMS.includes(field) ? [{ ...each, field }] : [];
  }),
];

const ofSession = fields.filter(({ target }) => target === 'session');
const ofOthers = fields.filter(({ target }) => target !== 'session');

describe('access to the schema of sessions', () => {
  let app: GraphqlApp;

  beforeAll(async () => {
    app = await GraphqlApp.start({
      access: OwnSessions,
      summarizer: { keepRecentEvents: 0 },
      search: true,
      agents: true,
    });
  });
  afterAll(() => app.close());

  beforeEach(async () => {
    await removeAll();
    await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's', state: { secret: 1 } });
    jest.spyOn(crypto, 'randomUUID').mockReturnValueOnce(TURN_TOKEN);
    const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
    await app.sessions.beginTurn({ ...key, holder: 'w', requestId: 'r' });
  });

  afterEach(() => jest.restoreAllMocks());

  it('is tested for every field', () => {
    const tested = [...fields.map(({ field }) => field), ...STREAMS];
    expect(tested.toSorted()).toEqual(Object.keys(fieldsOf(app.schema)).toSorted());
  });

  it.each(ofSession.flatMap((each) => OTHER_CALLERS.map((who) => ({ ...each, who }))))(
    '$field responds to $who as if the session were missing',
    async ({ field, name, who }) => {
      const foreign = await good(field, name, who, 's');
      const missing = await good(field, name, 'the admin', 'none');
      expect(foreign.text.replaceAll('\\"s\\"', '\\"none\\"')).toBe(missing.text);
      expect(foreign.status).toBe(missing.status);
      const untouched = await app.sessions.getSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
      expect(untouched).toMatchObject({ version: 0 });
    },
  );

  it.each(fields)('$field returns 401 to anonymous callers, also for a missing session', async ({ field, name }) => {
    const [here, missing] = [await good(field, name, 'anonymous', 's'), await good(field, name, 'anonymous', 'none')];
    expect(here.errors.map(({ extensions }) => extensions)).toEqual([{ code: 'UNAUTHENTICATED', status: 401 }]);
    expect(missing.text).toBe(here.text);
  });

  it('a stream ends with 401 for anonymous callers', async () => {
    for (const id of ['s', 'none']) {
      expect(await endOf(watch(id, {}))).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    }
  });

  it.each(ofOthers.flatMap((each) => ALL_CALLERS.map((who) => ({ ...each, who }))))(
    '$field allows or refuses $who by the access rule',
    async ({ field, name, allowed, who }) => {
      const { errors } = await good(field, name, who, 'new');
      const refusal =
        who === 'anonymous' ? { code: 'UNAUTHENTICATED', status: 401 } : { code: 'FORBIDDEN', status: 403 };
      expect(errors.map(({ extensions }) => extensions)).toEqual(allowed.includes(who) ? [] : [refusal]);
    },
  );

  it.each(ofSession)('$field works for the owner', async ({ field, name }) => {
    await summarise();
    if (/Agent|Approval/.test(field)) await askForApproval();
    const { errors, data } = await good(field, name, 'the owner', 's');
    expect(errors).toEqual([]);
    // Nothing runs that could be stopped, and no model was asked.
    if (!/stopAgent|modelRequest/.test(field)) expect(Object.values(data)[0]).toBeTruthy();
  });

  it.each([
    `createSession(${USER}, state: $shared) { id }`,
    `getOrCreateSession(${USER}, sessionId: "new", state: $shared) { id }`,
    `updateSessionState(${KEY}, stateDelta: $shared) { seq }`,
    `updateSessionState(${KEY}, stateRemovals: ["app:open"]) { seq }`,
    `appendEvent(${KEY}, event: {author: "agent", actions: {stateDelta: $shared}}) { duplicate }`,
    `appendEvent(${KEY}, event: {author: "agent", actions: {stateRemovals: ["app:open"]}}) { duplicate }`,
    `appendEvent(${KEY}, event: {author: "agent", actions: {stateDelta: $shared, appName: "own"}}) { duplicate }`,
  ])('%s does not bypass the access to app: state', async (ask) => {
    await app.sessions.updateAppState({ appName: 'shop', stateDelta: { open: true } });
    const { errors } = await askFor('Mutation.', ask, 'the owner', 's');
    expect(errors[0]?.extensions).toEqual({ code: 'FORBIDDEN', status: 403 });
    expect(await app.sessions.getAppState({ appName: 'shop' })).toEqual({ open: true });
    expect((await askFor('Mutation.', ask, 'the admin', 's')).errors).toEqual([]);
  });

  it.each([
    { ask: `updateSessionState(${KEY}, stateDelta: {a: 1}) { seq }`, needs: ['write session'] },
    { ask: `forkSession(${KEY}) { id }`, needs: ['write session', 'create sessions'] },
    { ask: `getOrCreateSession(${USER}, sessionId: "s") { id }`, needs: ['create sessions', 'read session'] },
    {
      ask: `rewindSession(${KEY}, toSeq: 0) { events(afterSeq: 1) { seq } }`,
      needs: ['write session', 'read session'],
    },
    { ask: `createSessionSummary(${KEY}) { text }`, needs: ['write session'] },
    { field: 'Query.', ask: `sessionSummary(${KEY}) { text }`, needs: ['read session'] },
    { field: 'Query.', ask: `sessionSummaries(${KEY}) { text }`, needs: ['read session'] },
  ])('$ask requires $needs', async ({ field = 'Mutation.', ask, needs }) => {
    const allows = jest.spyOn(OwnSessions.prototype, 'allows');
    await askFor(field, ask, 'the owner', 's');
    expect(allows.mock.calls.map(([{ action, target }]) => `${action} ${target}`)).toEqual(needs);
  });

  it.each(OTHER_CALLERS)('a stream ends for %s as if the session were missing', async (who) => {
    const foreign = await endOf(watch('s', { headers: HEADERS[who] }));
    const missing = await endOf(watch('none', { headers: HEADERS['the admin'] }));
    expect({ ...foreign, message: foreign.message.replace('"s"', '"none"') }).toEqual({
      ...missing,
      message: missing.message,
    });
    expect(foreign).toMatchObject({ code: 'SESSION_NOT_FOUND', status: 404 });
  });

  it('a stream sends other users exactly the messages of a missing session', async () => {
    const foreign = await messagesTo(HEADERS['another user'], 's');
    const missing = await messagesTo(HEADERS['the admin'], 'none');
    expect(foreign.replaceAll('\\"s\\"', '\\"none\\"')).toBe(missing);
    expect(missing).toContain('SESSION_NOT_FOUND');
  });

  it.each([{ headers: HEADERS['the owner'] }, { connectionParams: HEADERS['the owner'] }])(
    'a stream accepts its owner by %p',
    async (proof) => {
      const stream = watch('s', { ...proof, afterSeq: 0 });
      await app.sessions.appendEvent({
        session: { id: 's', appName: 'shop', userId: 'ann' },
        event: { author: 'agent' },
      });
      expect((await stream.next()).value).toMatchObject({ seq: 1 });
      await stream.return();
    },
  );

  /** Removes what the tests have written. */
  async function removeAll(): Promise<void> {
    const [shop, ann] = [{ appName: 'shop' }, { appName: 'shop', userId: 'ann' }];
    const { sessions } = await app.sessions.listSessions(shop);
    for (const { id, userId } of sessions) await app.sessions.deleteSession({ ...shop, userId, sessionId: id });
    await app.sessions.updateUserState({ ...ann, stateRemovals: Object.keys(await app.sessions.getUserState(ann)) });
    await app.sessions.updateAppState({ ...shop, stateRemovals: Object.keys(await app.sessions.getAppState(shop)) });
    expect(await app.sessions.listSessions(shop)).toMatchObject({ sessions: [] });
  }

  /** Appends an event, a summary and another event. */
  async function summarise(): Promise<void> {
    const session = { appName: 'shop', userId: 'ann', id: 's' };
    const event = { author: 'user', content: { role: 'user', parts: [{ text: 'Where is my order?' }] } };
    await app.sessions.appendEvent({ session, event });
    await app.summaries.createSessionSummary({ session, force: true });
    await app.sessions.appendEvent({ session, event });
  }

  /** Ends the turn, and lets the agent ask. */
  async function askForApproval(): Promise<void> {
    const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
    await app.sessions.endTurn({ ...key, token: TURN_TOKEN });
    const run = `runAgent(${KEY}, newMessage: "refund", invocationId: "i1") { status }`;
    expect((await askFor('Mutation.', run, 'the owner', 's')).data).toEqual({ runAgent: { status: 'WAITING' } });
  }

  /** All messages of the server to a subscription, up to its end. */
  async function messagesTo(headers: Record<string, string>, sessionId: string): Promise<string> {
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', { headers });
    const said: string[] = [];
    const query = `subscription { eventAppended(appName: "shop", userId: "ann", sessionId: "${sessionId}") { seq } }`;
    const over = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const message = data.toString();
        said.push(message);
        if (message.includes('connection_ack')) {
          socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
        }
        if (/"type":"(complete|error)"/.test(message)) resolve();
      });
    });
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    await over;
    socket.terminate();
    return said.join('\n');
  }

  /** Asks for a field, with the arguments of a request that succeeds. */
  function good(field: string, name: RowName | undefined, who: Who, sessionId: string): Promise<Answer> {
    const request = name ? variablesOf(name, goodRequest(name, 'graphql', sessionId)) : { ...ANN, sessionId };
    return app.ask(documentOf(app.schema, field, SELECTED), request, HEADERS[who]);
  }

  function askFor(field: string, ask: string, who: Who, id: string): Promise<Answer> {
    const kind = field.startsWith('Query') ? 'query' : 'mutation';
    const types = [ask.includes('$id') ? '$id: String!' : '', ask.includes('$shared') ? '$shared: JSON' : ''].join(' ');
    const declared = types.trim() === '' ? '' : `(${types})`;
    return app.ask(`${kind} ${declared} { ${ask} }`, { id, shared: { 'app:open': false } }, HEADERS[who]);
  }

  function watch(
    sessionId: string,
    {
      afterSeq,
      ...proof
    }: { headers?: Record<string, string>; connectionParams?: Record<string, unknown>; afterSeq?: number },
  ): LiveWatch {
    return new LiveWatch({
      url: app.webSocketUrl,
      variables: { appName: 'shop', userId: 'ann', sessionId, afterSeq },
      ...proof,
    });
  }
});

async function endOf(stream: LiveWatch): Promise<Error> {
  try {
    return await stream.next().then(
      () => Promise.reject(new Error('There was an event')),
      (error: Error) => error,
    );
  } finally {
    await stream.return();
  }
}
