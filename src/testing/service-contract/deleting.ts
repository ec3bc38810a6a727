import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  appendAll,
  expectRefusal,
  load,
  rewindTo,
  sessionWith,
  createSummaryEvent,
  turns,
  userSays,
} from './support.js';

const STATE = { k: 'canary', 'user:k': 'user', 'app:k': 'app' };

export const deleting = topic<ServiceFixture>('deleteSession', (test) => {
  test('a deleted session is missing, and its events and state are gone', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessions.createSession({ ...KEY, state: { k: 'canary' } });
    await sessions.appendEvent({ session, event: userSays('canary') });
    await sessions.deleteSession(KEY);
    expect(await sessions.getSession(KEY)).toBeUndefined();
    expect((await sessions.listSessions({ appName: 'shop' })).sessions).toEqual([]);
    const { text, ...counts } = await raw();
    expect(counts).toEqual({ sessions: 0, events: 0, stateEntries: 0 });
    expect(text).not.toContain('canary');
  });

  test('user and app state stay when a session is deleted', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: STATE });
    await sessions.deleteSession(KEY);
    expect(await sessions.getUserState(KEY)).toEqual({ k: 'user' });
    expect(await sessions.getAppState(KEY)).toEqual({ k: 'app' });
    expect((await sessions.createSession(KEY)).state.toRecord()).toEqual({ 'user:k': 'user', 'app:k': 'app' });
  });

  test('deleting a missing session is no error', async ({ open }) => {
    const { sessions } = await open();
    await sessions.deleteSession(KEY);
    await sessions.createSession(KEY);
    await sessions.deleteSession({ ...KEY, sessionId: 'another' });
    await sessions.deleteSession(KEY);
    await sessions.deleteSession(KEY);
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });

  test('an append to a deleted session is refused, and does not restore it', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, [userSays('one')]);
    await sessions.deleteSession(KEY);
    const before = await raw();
    const event = userSays('two', { actions: { stateDelta: STATE } });
    await expectRefusal(sessions.appendEvent({ session, event }), 'SESSION_NOT_FOUND', { sessionId: 's-1' });
    await expectRefusal(sessions.appendEvent({ session: REFERENCE, event }), 'SESSION_NOT_FOUND');
    session.state.set('k', 1);
    await expectRefusal(sessions.updateSession(session), 'SESSION_NOT_FOUND');
    expect(await raw()).toEqual(before);
  });

  test('a new session with the id of a deleted one has none of its data', async ({ open, clock }) => {
    const { sessions } = await open();
    const event = userSays('one', { id: 'same', actions: { stateDelta: { k: 'old' } } });
    await sessionWith(sessions, [event]);
    await sessions.deleteSession(KEY);
    clock.advance(1000);
    const session = await sessions.createSession(KEY);
    expect(session).toMatchObject({ version: 0, events: [], conversationCount: 0, createTime: clock.now() });
    expect(session.state.toRecord()).toEqual({});
    const { duplicate, event: stored } = await sessions.append({ session, event: userSays('other', { id: 'same' }) });
    expect({ duplicate, seq: stored.seq }).toEqual({ duplicate: false, seq: 1 });
  });

  test('an object of a replaced session cannot append to the new one', async ({ open }) => {
    const { sessions, raw } = await open();
    const old = await sessionWith(sessions, turns('u', 'a'));
    await sessions.deleteSession(KEY);
    await sessions.createSession(KEY);
    const before = await raw();
    await expectRefusal(sessions.appendEvent({ session: old, event: userSays('three') }), 'SESSION_NOT_FOUND');
    old.state.set('k', 1);
    await expectRefusal(sessions.updateSession(old), 'SESSION_NOT_FOUND');
    expect(await raw()).toEqual(before);
    expect((await load(sessions)).version).toBe(0);
  });

  test('an object of a replaced session cannot add a summary or a rewind to the new one', async ({ open }) => {
    const { sessions, raw } = await open();
    const old = await sessionWith(sessions, turns('u', 'a', 'u'));
    await sessions.deleteSession(KEY);
    await sessionWith(sessions, turns('u'));
    const before = await raw();
    for (const event of [createSummaryEvent(1, 1), rewindTo(1), createSummaryEvent(1, 3), rewindTo(3)]) {
      await expectRefusal(sessions.appendEvent({ session: old, event }), 'SESSION_NOT_FOUND');
    }
    expect(await raw()).toEqual(before);
  });

  test('a cursor of a replaced session is refused', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'u'));
    const { nextCursor } = await sessions.listEvents({ ...KEY, limit: 1 });
    await sessions.deleteSession(KEY);
    await sessionWith(sessions, []);
    await appendAll(sessions, turns('u', 'a', 'u'));
    expect(nextCursor).toBeDefined();
    await expectRefusal(sessions.listEvents({ ...KEY, limit: 1, cursor: nextCursor }), 'SESSION_NOT_FOUND');
  });
});
