import { z } from 'zod';
import { diagnose } from '../../src/doctor/index.js';
import { defineState, serverOnly } from '../../src/index.js';
import { ProblemError, SessionsClient } from '../../src/client/index.js';
import {
  OpenAccess,
  type SessionAccess,
  accessByRole,
  clientAccess,
  serviceAccess,
} from '../../src/sessions/rest/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from './rest-app.js';

const state = defineState({
  step: z.number(),
  role: serverOnly(z.string()),
  'user:role': serverOnly(z.enum(['customer', 'staff'])),
  'app:tariff': serverOnly(z.string()),
});
const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const USER = '/apps/shop/users/ann';
const SESSION = `${USER}/sessions/s-1`;
const ROLE = { 'user:role': 'staff' };
const writes = { controls: ['stop'] };
const userOf = () => ({ id: 'ann' });
const event = { author: 'user', content: { parts: [{ text: 'hi' }] } };

/** Each way by which clients write state. */
const WAYS: readonly (readonly [method: string, path: string, body: Readonly<Record<string, unknown>>, key: string])[] =
  [
    ['POST', `${USER}/sessions`, { state: ROLE }, 'user:role'],
    ['POST', `${USER}/sessions/new`, { state: { role: 'staff' } }, 'role'],
    ['PATCH', `${SESSION}/state`, { stateDelta: { step: 1, ...ROLE } }, 'user:role'],
    ['PATCH', `${SESSION}/state`, { stateRemovals: ['user:role'] }, 'user:role'],
    ['PATCH', `${USER}/state`, { stateDelta: { role: 'staff' } }, 'user:role'],
    ['PATCH', `${USER}/state`, { stateRemovals: ['role'] }, 'user:role'],
    ['POST', `${SESSION}/events`, { ...event, actions: { stateDelta: ROLE } }, 'user:role'],
    ['POST', `${SESSION}/run`, { newMessage: 'hi', stateDelta: ROLE }, 'user:role'],
    ['POST', `${SESSION}/run_sse`, { newMessage: 'hi', stateDelta: { role: 'staff' } }, 'role'],
    ['POST', '/run', { ...KEY, newMessage: { parts: [{ text: 'hi' }] }, stateDelta: ROLE }, 'user:role'],
    [
      'POST',
      '/run_sse',
      {
        app_name: 'shop',
        user_id: 'ann',
        session_id: 's-1',
        new_message: { parts: [{ text: 'hi' }] },
        state_delta: ROLE,
      },
      'user:role',
    ],
  ];

describe.each(frameworks)('State that the server alone writes, on %s', (framework) => {
  let app: RestApp;

  async function start(access: SessionAccess | typeof OpenAccess): Promise<void> {
    app = await RestApp.start(framework, { access, agents: true, sessions: { state } });
    await app.sessions.createSession({ ...KEY, state: { 'user:role': 'customer' } });
  }

  const roleNow = async () => (await app.sessions.getUserState(KEY)).role;
  afterEach(() => app.close());

  it.each<[string, () => SessionAccess | typeof OpenAccess]>([
    ['clients', () => clientAccess({ userOf, writes })],
    ['anybody, if all is open', () => OpenAccess],
  ])('is refused to %s on each way', async (_who, access) => {
    await start(access());
    for (const [method, path, body, key] of WAYS) {
      const { status, text } = await app.request(method, path, body);
      expect([path, status, text]).toEqual([
        path,
        403,
        expect.stringContaining(
          `The server alone writes the state key ${JSON.stringify(JSON.stringify(key)).slice(1, -1)}`,
        ),
      ]);
    }
    expect([await roleNow(), (await app.sessions.listEvents(KEY)).events]).toEqual(['customer', []]);
    expect(await app.request('PATCH', `${SESSION}/state`, { stateDelta: { step: 1 } })).toMatchObject({ status: 200 });
  });

  it('is an error of the client that names the key', async () => {
    await start(clientAccess({ userOf, writes }));
    const client = new SessionsClient({ url: app.url });
    const refused = client.runAgent({ ...KEY, newMessage: 'hi', stateDelta: ROLE });
    await expect(refused).rejects.toThrow(ProblemError);
    await expect(refused).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('user:role') as string,
    });
  });

  /** The server took `staff` back after it had given it. */
  async function demote(): Promise<void> {
    const session = await app.sessions.createSession({ ...KEY, sessionId: 's-2', state: { role: 'staff', step: 1 } });
    await app.sessions.appendEvent({
      session,
      event: { author: 'system', actions: { stateDelta: { role: 'customer', step: 2 } } },
    });
  }
  const roleIn = async (sessionId: string) =>
    (await app.sessions.getSession({ ...KEY, sessionId }))?.state.get<string>('role');
  const BACK: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    [`${USER}/sessions/s-2/rewind`, { toSeq: 0 }],
    [`${USER}/sessions/s-2/fork`, { atSeq: 0, newSessionId: 's-3' }],
  ];

  it('is not brought back by rewinds and forks of clients', async () => {
    await start(clientAccess({ userOf, writes: { controls: ['rewind', 'fork'] } }));
    await demote();
    for (const [path, body] of BACK) {
      const { status, text } = await app.request('POST', path, body);
      expect([path, status, text]).toEqual([path, 403, expect.stringContaining('The server alone writes') as string]);
    }
    expect([await roleIn('s-2'), await roleIn('s-3')]).toEqual(['customer', undefined]);
    const { body } = await app.request('POST', `${USER}/sessions/s-2/fork`, { newSessionId: 's-3' });
    expect(body).toMatchObject({ state: { role: 'customer' } });
  });

  it('is brought back by rewinds and forks of services', async () => {
    const roles = { agents: serviceAccess({ userOf }) };
    await start(accessByRole({ roles, userOf: () => ({ id: 'ann', roles: ['agents'] }) }));
    await demote();
    for (const [path, body] of BACK) expect((await app.request('POST', path, body)).status).toBeLessThan(300);
    expect([await roleIn('s-2'), await roleIn('s-3')]).toEqual(['staff', 'staff']);
  });

  it('is left as it is by a rewind in code, such as that of a rollback', async () => {
    await start(OpenAccess);
    await demote();
    const { state: kept } = await app.sessions.rewindSession({ ...KEY, sessionId: 's-2', toSeq: 0 });
    expect(kept.toRecord()).toMatchObject({ role: 'customer', step: 1 });
  });

  it.each([0, 1])(
    'is that of now in a fork by code of event %d, such as that of a page before a message',
    async (atSeq) => {
      await start(OpenAccess);
      await app.sessions.createSession({ ...KEY, sessionId: 's-2', state: { step: 1 } });
      const append = async (stateDelta: Record<string, unknown>) => {
        const session = await app.sessions.getSession({ ...KEY, sessionId: 's-2' });
        if (session) await app.sessions.appendEvent({ session, event: { author: 'system', actions: { stateDelta } } });
      };
      await append({ role: 'staff', step: 2 });
      await append({ role: 'customer', step: 3 });
      const fork = await app.sessions.forkSession({ ...KEY, sessionId: 's-2', atSeq, newSessionId: 's-3' });
      expect(fork.state.toRecord()).toMatchObject({ role: 'customer', step: atSeq + 1 });
      expect((await app.sessions.getSession({ ...KEY, sessionId: 's-3' }))?.state.toRecord()).toEqual(
        fork.state.toRecord(),
      );
      expect(fork.events.at(-1)?.actions.stateDelta).toEqual({ role: 'customer' });
      expect(await diagnose({ sessions: app.sessions })).toMatchObject({ isHealthy: true });
      const again = await app.sessions.rewindSession({ ...KEY, sessionId: 's-3', toSeq: atSeq });
      expect(again.state.get('role')).toBe('customer');
    },
  );

  it('is written by services, and by code of the server', async () => {
    const roles = { agents: serviceAccess({ userOf }) };
    await start(accessByRole({ roles, userOf: () => ({ id: 'ann', roles: ['agents'] }) }));
    expect(await app.request('PATCH', `${USER}/state`, { stateDelta: { role: 'staff' } })).toMatchObject({
      status: 200,
    });
    expect(await roleNow()).toBe('staff');
    await app.sessions.updateUserState({ ...KEY, stateDelta: { role: 'customer' } });
    expect(await roleNow()).toBe('customer');
    await expect(app.sessions.updateUserState({ ...KEY, stateDelta: { role: 'king' } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });
});

it('State that the server alone writes is refused in GraphQL', async () => {
  const app = await GraphqlApp.start({
    access: clientAccess({ userOf, writes: { controls: ['rewind', 'fork'] } }),
    sessions: { state },
    agents: true,
  });
  try {
    await app.sessions.createSession(KEY);
    const ids = 'appName: "shop", userId: "ann"';
    const session = await app.sessions.createSession({ ...KEY, sessionId: 's-2', state: { role: 'staff' } });
    await app.sessions.appendEvent({
      session,
      event: { author: 'system', actions: { stateDelta: { role: 'customer' } } },
    });
    for (const field of [
      `rewindSession(${ids}, sessionId: "s-2", toSeq: 0) { id }`,
      `forkSession(${ids}, sessionId: "s-2", atSeq: 0) { id }`,
    ]) {
      const { errors } = await app.ask(`mutation { ${field} }`);
      expect(errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' }, message: expect.stringContaining('"role"') as string },
      ]);
    }
    for (const field of [
      `createSession(${ids}, state: $state) { id }`,
      `updateSessionState(${ids}, sessionId: "s-1", stateDelta: $state) { id }`,
      `updateUserState(${ids}, stateDelta: $state)`,
      `runAgent(${ids}, sessionId: "s-1", newMessage: "hi", stateDelta: $state) { status }`,
    ]) {
      const { errors } = await app.ask(`mutation ($state: JSON!) { ${field} }`, { state: ROLE });
      expect([field, errors]).toMatchObject([
        field,
        [{ extensions: { code: 'FORBIDDEN' }, message: expect.stringContaining('user:role') as string }],
      ]);
    }
  } finally {
    await app.close();
  }
});
