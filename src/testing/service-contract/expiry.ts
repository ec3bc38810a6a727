import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  agentSays,
  appendAll,
  expectRefusal,
  load,
  rewindTo,
  sessionWith,
  createSummaryEvent,
  turns,
  userSays,
} from './support.js';

const TEN_SECONDS = { ttl: { enabled: true, sessionSeconds: 10 } };

export const sessionExpiry = topic<ServiceFixture>('expiry of sessions', (test) => {
  test('nothing expires unless expiry is enabled', async ({ open, clock }) => {
    const ttl = { enabled: false, sessionSeconds: 10, userStateSeconds: 10, appStateSeconds: 10 };
    const { sessions } = await open({ ttl });
    await sessions.createSession({ ...KEY, state: { 'user:k': 1, 'app:k': 1 } });
    clock.advanceSeconds(1e9);
    expect((await load(sessions)).state.toRecord()).toEqual({ 'user:k': 1, 'app:k': 1 });
    expect(await sessions.purgeExpired()).toEqual({ sessions: 0, userStates: 0, appStates: 0 });
  });

  test('0 seconds mean never, and the default lifetime of a session is a day', async ({ open, clock }) => {
    const never = await open({ ttl: { enabled: true, sessionSeconds: 0 } });
    const aDay = await open({ ttl: { enabled: true, refreshOnRead: false } });
    await sessionWith(never.sessions);
    await sessionWith(aDay.sessions);
    clock.advance(86_400_000 - 1);
    expect(await aDay.sessions.getSession(KEY)).toBeDefined();
    clock.advance(1);
    expect(await aDay.sessions.getSession(KEY)).toBeUndefined();
    clock.advanceSeconds(1e9);
    expect(await never.sessions.getSession(KEY)).toBeDefined();
  });

  test('a session is missing in every operation from the moment it expires', async ({ open, clock }) => {
    const { sessions, raw } = await open(TEN_SECONDS);
    const session = await sessionWith(sessions, turns('u', 'a'));
    const { nextCursor: cursor } = await sessions.listEvents({ ...KEY, limit: 1 });
    clock.advance(10_000);
    const before = await raw();
    expect(await sessions.getSession(KEY)).toBeUndefined();
    expect(await sessions.listSessions(KEY)).toMatchObject({ sessions: [] });
    expect(await sessions.listSessions({ ...KEY, page: 1 })).toMatchObject({ totalItems: 0 });
    await expectRefusal(sessions.listEvents(KEY), 'SESSION_NOT_FOUND');
    await expectRefusal(sessions.listEvents({ ...KEY, limit: 1, cursor }), 'SESSION_NOT_FOUND');
    for (const event of [userSays('late'), createSummaryEvent(1, 1), rewindTo(1)]) {
      await expectRefusal(sessions.appendEvent({ session, event }), 'SESSION_NOT_FOUND');
      await expectRefusal(sessions.appendEvent({ session: REFERENCE, event }), 'SESSION_NOT_FOUND');
    }
    session.state.set('k', 1);
    await expectRefusal(sessions.updateSession(session), 'SESSION_NOT_FOUND');
    expect(await raw()).toEqual(before);
  });

  test('an event of an expired session is not a duplicate in the new one', async ({ open, clock }) => {
    const { sessions } = await open(TEN_SECONDS);
    const event = userSays('one', { id: 'e1' });
    const session = await sessionWith(sessions, [event]);
    clock.advance(10_000);
    await expectRefusal(sessions.appendEvent({ session, event }), 'SESSION_NOT_FOUND');
  });

  test('an expired session is replaced completely', async ({ open, clock }) => {
    const { sessions } = await open(TEN_SECONDS);
    const old = await sessionWith(sessions, [userSays('one', { id: 'e1', actions: { stateDelta: { k: 1 } } })]);
    clock.advance(10_000);
    const session = await sessions.createSession({ ...KEY, state: { fresh: 1 } });
    expect(session).toMatchObject({ version: 0, events: [], conversationCount: 0, createTime: clock.now() });
    expect(session.state.toRecord()).toEqual({ fresh: 1 });
    expect(await sessions.append({ session, event: agentSays('new', { id: 'e1' }) })).toMatchObject({
      duplicate: false,
      event: { seq: 1 },
    });
    await expectRefusal(sessions.appendEvent({ session: old, event: userSays('late') }), 'SESSION_NOT_FOUND');
  });

  test('getOrCreateSession replaces an expired session', async ({ open, clock }) => {
    const { sessions } = await open(TEN_SECONDS);
    await sessionWith(sessions, turns('u'));
    clock.advance(10_000);
    expect(await sessions.getOrCreateSession(KEY)).toMatchObject({ version: 0, events: [] });
  });

  test('every append renews the whole lifetime of a session', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: { enabled: true, sessionSeconds: 10, refreshOnRead: false } });
    await sessionWith(sessions);
    for (let round = 0; round < 3; round++) {
      clock.advance(9_999);
      await appendAll(sessions, [userSays('alive')]);
    }
    clock.advance(9_999);
    expect(await sessions.getSession(KEY)).toBeDefined();
    clock.advance(1);
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });

  test('every read renews the whole lifetime of a session', async ({ open, clock }) => {
    const { sessions } = await open(TEN_SECONDS);
    await sessionWith(sessions);
    for (let round = 0; round < 3; round++) {
      clock.advance(9_999);
      expect(await sessions.getSession({ ...KEY, config: { numRecentEvents: 0 } })).toBeDefined();
    }
    clock.advance(10_000);
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });

  test('a read writes only after a tenth of the lifetime', async ({ open, clock }) => {
    const { sessions, raw } = await open(TEN_SECONDS);
    await sessionWith(sessions, turns('u'));
    const before = await raw();
    for (let round = 0; round < 10; round++) {
      clock.advance(100);
      await load(sessions);
    }
    expect(await raw()).toEqual(before);
    clock.advance(1);
    await load(sessions);
    expect(await raw()).not.toEqual(before);
  });

  test('a read renews nothing with refreshOnRead: false', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: { enabled: true, sessionSeconds: 10, refreshOnRead: false } });
    await sessionWith(sessions);
    clock.advance(9_999);
    expect(await sessions.getSession(KEY)).toBeDefined();
    clock.advance(1);
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });

  test('a list renews no lifetime', async ({ open, clock }) => {
    const { sessions, raw } = await open({
      ttl: { enabled: true, sessionSeconds: 10, userStateSeconds: 10, appStateSeconds: 10 },
    });
    await sessions.createSession({ ...KEY, state: { 'user:k': 1, 'app:k': 1 } });
    const before = await raw();
    clock.advance(9_999);
    expect((await sessions.listSessions(KEY)).sessions).toHaveLength(1);
    expect(await raw()).toEqual(before);
    clock.advance(1);
    expect(await sessions.getSession(KEY)).toBeUndefined();
    expect(await sessions.getUserState(KEY)).toEqual({});
  });

  test('a summary does not renew the lifetime of a session', async ({ open, clock }) => {
    const { sessions } = await open(TEN_SECONDS);
    await sessionWith(sessions, turns('u', 'a'));
    clock.advance(9_999);
    await appendAll(sessions, [createSummaryEvent(1, 2)]);
    clock.advance(1);
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });

  test('a refused append does not renew the lifetime of a session', async ({ open, clock }) => {
    const { sessions } = await open(TEN_SECONDS);
    const session = await sessionWith(sessions, [userSays('one', { id: 'e1' })]);
    clock.advance(9_999);
    const stale = { session, event: userSays('late'), expectedVersion: 0 };
    await expectRefusal(sessions.appendEvent(stale), 'STALE_SESSION');
    await expectRefusal(sessions.appendEvent({ session, event: agentSays('x', { id: 'e1' }) }), 'EVENT_CONFLICT');
    clock.advance(1);
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });
});
