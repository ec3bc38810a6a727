import { ManualClock, type OpenSessions, type SessionClient, sessionsOver } from '../../../src/testing/index.js';
import type { TestStore } from '../../support/stores.js';

export const USER = { appName: 'shop', userId: 'ann' };
export const KEY = { ...USER, sessionId: 's-1' };
export const SESSION = { ...USER, id: 's-1' };

/** An operation that is to be refused, and how. */
export interface Refusal {
  readonly code: 'INVALID_INPUT' | 'LIMIT_EXCEEDED';
  readonly path?: string;
  readonly request: (sessions: SessionClient) => Promise<unknown>;
}

async function openSession(store: TestStore): Promise<OpenSessions> {
  const opened = await sessionsOver(store.open)({ clock: new ManualClock() });
  await opened.sessions.createSession({ ...KEY, state: { k: 1, 'user:k': 1, 'app:k': 1 } });
  await opened.sessions.appendEvent({ session: SESSION, event: { id: 'first', author: 'user' } });
  return opened;
}

function expectCleanPrototypes(): void {
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
}

/** Runs `use` on a session with one event, and looks afterwards whether any prototype was changed. */
export async function withSession(store: TestStore, use: (opened: OpenSessions) => Promise<void>): Promise<void> {
  const opened = await openSession(store);
  try {
    await use(opened);
    expectCleanPrototypes();
  } finally {
    await opened.destroy();
  }
}

/** One session with one event for all tests of a block: good where nothing may be written. */
export function sharedSession(store: TestStore): () => Promise<OpenSessions> {
  let opening: Promise<OpenSessions> | undefined;
  afterEach(expectCleanPrototypes);
  afterAll(async () => (await opening)?.destroy());
  return async () => (opening ??= openSession(store));
}

export async function expectRefusals({ sessions, raw }: OpenSessions, refusals: readonly Refusal[]): Promise<void> {
  const before = await raw();
  for (const { code, path, request } of refusals) {
    await expect(request(sessions)).rejects.toMatchObject({ code, ...(path !== undefined && { path }) });
  }
  expect(await raw()).toEqual(before);
}

export async function load(sessions: SessionClient, key = KEY) {
  const session = await sessions.getSession(key);
  if (!session) throw new Error('The session is not there');
  return session;
}

/** Every input that holds a value, with the path of the value. */
export function waysIn(value: unknown): (readonly [path: string, request: Refusal['request']])[] {
  const bad = { ok: 1, bad: value };
  return [
    ['$.state.bad', async (sessions) => sessions.createSession({ ...KEY, sessionId: 'new', state: bad })],
    [
      '$.actions.stateDelta.bad',
      async (sessions) =>
        sessions.appendEvent({ session: SESSION, event: { author: 'user', actions: { stateDelta: bad } } }),
    ],
    [
      '$.events[1].actions.stateDelta.bad',
      async (sessions) =>
        sessions.appendEvents({
          session: SESSION,
          events: [{ author: 'user' }, { author: 'user', actions: { stateDelta: bad } }],
        }),
    ],
    [
      '$.customMetadata.bad',
      async (sessions) => sessions.appendEvent({ session: SESSION, event: { author: 'user', customMetadata: bad } }),
    ],
    [
      '$.metadata.fields.bad',
      async (sessions) => sessions.createSession({ ...KEY, sessionId: 'new', metadata: { fields: bad } }),
    ],
    [
      '$.actions.metadataDelta.fields.bad',
      async (sessions) =>
        sessions.appendEvent({
          session: SESSION,
          event: { author: 'user', actions: { metadataDelta: { fields: bad } } },
        }),
    ],
    ['$.stateDelta.bad', async (sessions) => sessions.updateUserState({ ...USER, stateDelta: bad })],
    ['$.stateDelta.bad', async (sessions) => sessions.updateAppState({ ...USER, stateDelta: bad })],
    [
      '$.actions.stateDelta.bad',
      async (sessions) => {
        const session = await load(sessions);
        session.state.update(bad);
        return sessions.updateSession(session);
      },
    ],
  ];
}
