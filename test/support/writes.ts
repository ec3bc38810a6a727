import type { SessionService } from '../../src/index.js';
import { RESERVED_ACTIONS, RESERVED } from '../../src/sessions/domain/values/reserved-words.js';
import { type SessionAccess, accessByRole, clientAccess, serviceAccess } from '../../src/sessions/rest/index.js';

/** A write over REST and GraphQL, and whether the client rule allows it. */
export interface Write {
  readonly what: string;
  readonly rest: { readonly method: 'POST' | 'PATCH'; readonly path: string; readonly body: object };
  readonly graphql: { readonly mutation: string; readonly input?: unknown };
  readonly isForClients: boolean;
  /** Only services may do this, even in a client's own session. */
  readonly isAppWide?: boolean;
}

const SESSION = '/apps/shop/users/ann/sessions/s';
const KEY = 'appName: "shop", userId: "ann", sessionId: "s"';
const OWNER = 'appName: "shop", userId: "ann"';
const text = (words: string) => ({ role: 'user', parts: [{ text: words }] });
const by = (author: string, rest: object = {}) => ({ author, content: text('Hello'), ...rest });
const acting = (actions: object) => by('user', { actions });
const parts = (...given: object[]) => ({ author: 'user', content: { role: 'user', parts: given } });

const append = (what: string, event: object, isForClients = false): Write => ({
  what: `an event ${what}`,
  rest: { method: 'POST', path: `${SESSION}/events`, body: event },
  graphql: { mutation: `appendEvent(${KEY}, event: $input) { duplicate }`, input: event },
  isForClients,
});

/** After an event that every client may append. */
const appendSecond = (what: string, event: object, isForClients = false): Write => ({
  what: `a batch, in which the second event is ${what}`,
  rest: { method: 'POST', path: `${SESSION}/events/batch`, body: { events: [by('user'), event] } },
  graphql: { mutation: `appendEvents(${KEY}, events: [{ author: "user" }, $input]) { duplicate }`, input: event },
  isForClients,
});

const state = (stateDelta: object, isForClients: boolean): Write => ({
  what: `a change of state ${JSON.stringify(stateDelta)}`,
  rest: { method: 'PATCH', path: `${SESSION}/state`, body: { stateDelta } },
  graphql: { mutation: `updateSessionState(${KEY}, stateDelta: $input) { seq }`, input: stateDelta },
  isForClients,
});

const created = (given: object, isForClients: boolean): Write => ({
  what: `a new session with ${JSON.stringify(given)}`,
  rest: { method: 'POST', path: '/apps/shop/users/ann/sessions', body: { state: given } },
  graphql: { mutation: `createSession(${OWNER}, state: $input) { version }`, input: given },
  isForClients,
});

const RESERVED_NAMES = Object.values(RESERVED.ids).map((word) => (word.endsWith(':') ? `${word}x` : word));

/** Every kind of write, and every kind of forged content. */
export const WRITES: readonly Write[] = [
  append('by the user', by('user'), true),
  append('by the user without a role', { author: 'user', content: { parts: [{ text: 'Hello' }] } }, true),
  append(
    'with files',
    parts({ inlineData: { mimeType: 'image/png', data: 'AA==' } }, { fileData: { fileUri: 'gs://a' } }),
    true,
  ),
  append('with state of the session and the user', acting({ stateDelta: { step: 1, 'user:theme': 'dark' } }), true),
  append('with empty fields, as ADK sends them', acting({ stateDelta: {}, artifactDelta: {}, escalate: false }), true),
  append('that is partial', by('user', { partial: true }), true),
  append('by an agent', by('agent')),
  append('with the author User', by('User')),
  append('without an author', { content: text('Hello') }),
  append('by an author that is no text', { author: ['user'], content: text('Hello') }),
  append('in the role of the model', { author: 'user', content: { role: 'model', parts: [{ text: 'Hello' }] } }),
  append('in a role that is no text', { author: 'user', content: { role: { toString: 1 }, parts: [] } }),
  append('with a call of a tool', parts({ functionCall: { id: 'c', name: 'pay', args: {} } })),
  append('with the response of a tool', parts({ text: 'Hello' }, { functionResponse: { id: 'c', name: 'pay' } })),
  append('with an empty response of a tool', parts({ functionResponse: {} })),
  append('with a thought', parts({ text: 'Hello', thought: true })),
  append('with code that ran', parts({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } })),
  append('with a part of an unknown kind', parts({ somethingNew: {} })),
  append('that is a summary', acting({ compaction: { fromSeq: 1, toSeq: 1 } })),
  append('that is a rewind', acting({ rewind: { toSeq: 0 } })),
  append('that transfers to an agent', acting({ transferToAgent: 'admin' })),
  append('that escalates', acting({ escalate: true })),
  append('with an artifact', acting({ artifactDelta: { 'report.pdf': 2 } })),
  append('with metadata of the session', acting({ metadataDelta: { title: 'Paid' } })),
  append('with metadata that is no object', acting({ metadataDelta: 'Paid' })),
  append('with an unknown action', acting({ requestedToolConfirmations: { c: {} } })),
  append('with an action called __proto__', JSON.parse('{"author":"user","actions":{"__proto__":{"a":1}}}') as object),
  append('on a branch', by('user', { branch: 'root.agent' })),
  append('with forged token usage', by('user', { usageMetadata: { totalTokenCount: 1_000_000 } })),
  append('with long-running tools', by('user', { longRunningToolIds: ['c'] })),
  append('with an error', by('user', { errorCode: 'SAFETY' })),
  ...RESERVED_NAMES.flatMap((id) => [
    append(`with the id ${id}`, by('user', { id })),
    append(`of the invocation ${id}`, by('user', { invocationId: id })),
    appendSecond(`one with the id ${id}`, by('user', { id })),
  ]),
  append('with an id that only looks reserved', by('user', { id: 'session-title-2', invocationId: 'answers:1' }), true),
  ...[...RESERVED_ACTIONS].map((name) => append(`with an empty action ${name}`, acting({ [name]: {} }))),
  state({ 'langgraph:': { checkpoint: 'c' } }, false),
  { ...append('with state of the app', acting({ stateDelta: { 'app:open': false } })), isAppWide: true },
  { ...append('that removes state of the app', acting({ stateRemovals: ['app:open'] })), isAppWide: true },
  appendSecond('by the user', by('user'), true),
  appendSecond('by an agent', by('agent')),
  appendSecond('one without an author', { content: text('Hello') }),
  appendSecond('in the role of the model', { author: 'user', content: { role: 'model', parts: [{ text: 'Hello' }] } }),
  appendSecond('the response of a tool', parts({ functionResponse: { id: 'c', name: 'pay' } })),
  appendSecond('a rewind', acting({ rewind: { toSeq: 0 } })),
  appendSecond('on a branch', by('user', { branch: 'root.agent' })),
  { ...appendSecond('one with state of the app', acting({ stateDelta: { 'app:open': false } })), isAppWide: true },
  state({ step: 2 }, true),
  state({ 'user:theme': 'dark' }, true),
  { ...state({ 'app:open': false }, false), isAppWide: true },
  created({ step: 1, 'user:theme': 'dark' }, true),
  { ...created({ 'app:open': false }, false), isAppWide: true },
  {
    what: 'a new session with metadata',
    rest: { method: 'POST', path: '/apps/shop/users/ann/sessions', body: { metadata: { status: 'paid' } } },
    graphql: { mutation: `createSession(${OWNER}, metadata: $input) { version }`, input: { status: 'paid' } },
    isForClients: false,
  },
  {
    what: 'state of the user',
    rest: { method: 'PATCH', path: '/apps/shop/users/ann/state', body: { stateDelta: { theme: 'dark' } } },
    graphql: { mutation: `updateUserState(${OWNER}, stateDelta: $input)`, input: { theme: 'dark' } },
    isForClients: true,
  },
  {
    what: 'state of the app by its own path',
    rest: { method: 'PATCH', path: '/apps/shop/state', body: { stateDelta: { open: false } } },
    graphql: { mutation: 'updateAppState(appName: "shop", stateDelta: $input)', input: { open: false } },
    isForClients: false,
    isAppWide: true,
  },
  {
    what: 'a rewind by its own path',
    rest: { method: 'POST', path: `${SESSION}/rewind`, body: { toSeq: 0 } },
    graphql: { mutation: `rewindSession(${KEY}, toSeq: 0) { version }` },
    isForClients: false,
  },
  {
    what: 'a fork',
    rest: { method: 'POST', path: `${SESSION}/fork`, body: {} },
    graphql: { mutation: `forkSession(${KEY}) { version }` },
    isForClients: false,
  },
  {
    what: 'a requested summary',
    rest: { method: 'POST', path: `${SESSION}/summary`, body: { force: true } },
    graphql: { mutation: `createSessionSummary(${KEY}, force: true) { seq }` },
    isForClients: false,
  },
];

type Names = Readonly<Record<string, string>>;

/** The callers, by their headers or connection parameters. */
export const CALLERS = {
  client: { 'x-user': 'ann' },
  service: { 'x-user': 'agents', 'x-role': 'service' },
  'another client': { 'x-user': 'bob' },
  anonymous: {},
} as const satisfies Record<string, Names>;
export type Who = keyof typeof CALLERS;

export const WRITES_BY_CALLER = WRITES.flatMap((write) =>
  (Object.keys(CALLERS) as Who[]).map((who) => ({ write, who, what: write.what })),
);

/** The user, by the headers of HTTP or the parameters of a WebSocket connection. */
export function userOf(request: unknown): unknown {
  const { headers, connectionParams } = request as { headers: Names; connectionParams?: Names };
  const { 'x-user': id, 'x-role': role } = { ...headers, ...connectionParams };
  return id === undefined ? undefined : { id, roles: role === undefined ? [] : [role] };
}

/** Services may do everything. Clients have the built-in rule. */
export function accessByCallerRole(): SessionAccess {
  return accessByRole({ roles: { service: serviceAccess() }, otherwise: clientAccess(), userOf });
}

/** Creates the session of ann that the writes change. */
export async function addSession(sessions: SessionService): Promise<void> {
  const session = await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
  await sessions.appendEvent({ session, event: { author: 'user', content: { parts: [{ text: 'Hello' }] } } });
}

/** The data that a write could change. */
export async function everythingIn(sessions: SessionService): Promise<unknown> {
  return {
    sessions: (await sessions.listSessions({ appName: 'shop' })).sessions.map(({ id, version }) => [id, version]),
    appState: await sessions.getAppState({ appName: 'shop' }),
    userState: await sessions.getUserState({ appName: 'shop', userId: 'ann' }),
  };
}

/** The status of the refusal, or `undefined` if the rule allows the write. */
export function refusalOf(write: Write, who: Who): 401 | 403 | 404 | undefined {
  if (who === 'service' || (who === 'client' && write.isForClients)) return undefined;
  if (who === 'anonymous') return 401;
  return who === 'client' || !write.rest.path.includes('/s/') ? 403 : 404;
}
