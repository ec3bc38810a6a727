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
  shown,
  createSummaryEvent,
  times,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

const FORK = { ...KEY, sessionId: 'fork' };

function setting(step: number): { actions: { stateDelta: { step: number } } } {
  return { actions: { stateDelta: { step } } };
}

export const forking = topic<ServiceFixture>('forkSession', (test) => {
  test('a fork has the view of its source, with the same ids and numbers from 1', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    const [other] = await appendAll(sessions, [userSays('other', { customMetadata: { deep: [{}] } })]);
    const source = await load(sessions);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(fork).toMatchObject({ id: 'fork', appName: 'shop', userId: 'ann', version: 2, conversationCount: 2 });
    expect(fork.events).toEqual([source.events[0], { ...other, seq: 2 }]);
    const loaded = await load(sessions, FORK);
    expect(loaded.events).toEqual(fork.events);
    expect((await sessions.listEvents(FORK)).events).toEqual(fork.events);
    expect(loaded).toMatchObject({ version: 2, conversationCount: 2, createTime: fork.createTime });
  });

  test('a fork has the state of its source, and shared state does not change', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessions.createSession({ ...KEY, state: { kept: [], gone: 1, 'user:u': 1, 'app:a': 1 } });
    const delta = { __proto__: null, own: { x: null }, 'user:u': 2, 'temp:t': 1 };
    await sessions.appendEvent({ session, event: userSays('u1', { actions: { stateDelta: { ...delta } } }) });
    await sessions.appendEvent({ session, event: agentSays('a2', { actions: { stateRemovals: ['gone'] } }) });
    await sessions.updateUserState({ ...KEY, stateDelta: { u: 3 } });
    const before = await raw();
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    const state = { kept: [], own: { x: null }, 'user:u': 3, 'app:a': 1 };
    expect(fork.state.toRecord()).toEqual(state);
    expect((await load(sessions, FORK)).state.toRecord()).toEqual(state);
    expect((await raw()).stateEntries).toBe(before.stateEntries + 2);
    await sessions.appendEvent({ session: fork, event: { author: 'agent', actions: { stateDelta: { own: 'fork' } } } });
    expect((await load(sessions)).state.get('own')).toEqual({ x: null });
  });

  test('source and fork do not affect each other', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const before = await load(sessions);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    await sessions.appendEvent({ session: fork, event: userSays('in the fork') });
    expect(await load(sessions)).toEqual(before);
    await appendAll(sessions, [userSays('in the source')]);
    expect(shown(fork)).toEqual(['u1', 'a2', 'in the fork']);
    expect(shown(await load(sessions, FORK))).toEqual(['u1', 'a2', 'in the fork']);
    await sessions.deleteSession(KEY);
    expect(shown(await load(sessions, FORK))).toEqual(['u1', 'a2', 'in the fork']);
  });

  test('a fork without id gets a generated one', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u'));
    const blank = await sessions.forkSession({ ...KEY, newSessionId: ' ' });
    const other = await sessions.forkSession(KEY);
    expect(new Set([KEY.sessionId, blank.id, other.id]).size).toBe(3);
    expect(shown(await load(sessions, { sessionId: other.id }))).toEqual(['u1']);
  });

  test('a refused fork stores nothing', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    await sessions.createSession({ ...KEY, sessionId: 'taken' });
    const before = await raw();
    const fork = async (more: object): Promise<unknown> => sessions.forkSession({ ...KEY, ...more });
    await expectRefusal(fork({ newSessionId: 'taken' }), 'SESSION_EXISTS', { sessionId: 'taken' });
    await expectRefusal(fork({ newSessionId: KEY.sessionId }), 'SESSION_EXISTS');
    await expectRefusal(fork({ sessionId: 'none' }), 'SESSION_NOT_FOUND', { sessionId: 'none' });
    for (const atSeq of [3, -1, 1.5]) await expectRefusal(fork({ atSeq }), 'INVALID_INPUT', { path: 'atSeq' });
    await expectRefusal(fork({ newSessionId: '..' }), 'INVALID_INPUT', { path: 'newSessionId' });
    expect(await raw()).toEqual(before);
  });

  test('one of several concurrent forks to one id succeeds', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'u'));
    const racing = times(6, (index) => sessions.forkSession({ ...KEY, atSeq: index % 4, newSessionId: 'fork' }));
    const results = await Promise.allSettled(racing);
    const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(winners).toHaveLength(1);
    expect((await load(sessions, FORK)).events).toEqual(winners[0]?.events);
  });

  test('a fork at an event has the view of that moment: before, between and after rewinds', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, state: { step: 0 } });
    for (const [index, event] of turns('u', 'a', 'u', 'a').entries()) {
      await sessions.appendEvent({ session, event: { ...event, actions: { stateDelta: { step: index + 1 } } } });
    }
    await sessions.rewindSession({ ...KEY, toSeq: 2 });
    await appendAll(sessions, [userSays('other', { actions: { stateDelta: { other: true } } })]);
    await sessions.rewindSession({ ...KEY, toSeq: 4 });
    const at = async (atSeq: number): Promise<unknown> => {
      const fork = await sessions.forkSession({ ...KEY, atSeq });
      const loaded = await load(sessions, { sessionId: fork.id });
      expect(shown(loaded)).toEqual(shown(fork));
      return [shown(loaded), loaded.state.toRecord(), loaded.conversationCount];
    };
    expect(await at(0)).toEqual([[], { step: 0 }, 0]);
    expect(await at(3)).toEqual([['u1', 'a2', 'u3'], { step: 3 }, 2]);
    expect(await at(5)).toEqual([['u1', 'a2'], { step: 2 }, 1]);
    expect(await at(6)).toEqual([['u1', 'a2', 'other'], { step: 2, other: true }, 2]);
    expect(await at(7)).toEqual([['u1', 'a2', 'u3', 'a4'], { step: 4 }, 2]);
  });

  test('a rewind that restored no state is visible in the fork', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      userSays('u1', setting(1)),
      userSays('u2', setting(2)),
      userSays('u3', setting(3)),
      rewindTo(1),
    ]);
    await appendAll(sessions, [agentSays('a5')]);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(shown(fork)).toEqual(['u1', 'a5']);
    expect(fork.state.toRecord()).toEqual({ step: 3 });
    const back = await sessions.rewindSession({ ...FORK, toSeq: 1 });
    expect(shown(back)).toEqual(['u1']);
    expect(back.state.toRecord()).toEqual({ step: 1 });
  });

  test('a rewind in a fork restores any of its moments, back to its first event', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, state: { first: 1 } });
    for (const [index, event] of turns('u', 'a', 'u').entries()) {
      await sessions.appendEvent({ session, event: { ...event, actions: { stateDelta: { [`k${index + 1}`]: 1 } } } });
    }
    await appendAll(sessions, [createSummaryEvent(1, 2)]);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(shown(fork)).toEqual(['summary to 2', 'u3']);
    await sessions.appendEvent({ session: fork, event: userSays('u4', { actions: { stateRemovals: ['k3', 'k1'] } }) });
    const back = await sessions.rewindSession({ ...FORK, toSeq: 2 });
    expect(shown(back)).toEqual(['summary to 2', 'u3']);
    expect(back).toMatchObject({ conversationCount: 1, version: 4 });
    expect(back.state.toRecord()).toEqual({ first: 1, k1: 1, k2: 1, k3: 1 });
    const start = await sessions.rewindSession({ ...FORK, toSeq: 0 });
    expect(start.events).toEqual([]);
    expect(start.conversationCount).toBe(0);
    expect(start.state.toRecord()).toEqual({ first: 1, k1: 1, k2: 1 });
  });

  test('the log of a long conversation is forked completely', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession(KEY);
    for (let done = 0; done < 2_500; done += 100) {
      const events = times(100, (index) => agentSays(`a${done + index}`, { actions: { stateDelta: { last: done } } }));
      await sessions.appendEvents({ session, events });
    }
    const source = await load(sessions);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    // Comparing takes long, which work in the background must not wait for.
    await sessions.whenIdle();
    expect(fork.events).toEqual(source.events);
    expect((await load(sessions, FORK)).events).toEqual(source.events);
    expect(await sessions.appendEvent({ session: fork, event: userSays('next') })).toMatchObject({ seq: 2_501 });
    expect(await sessions.rewindSession({ ...FORK, toSeq: 2_400 })).toMatchObject({ version: 2_502 });
  });

  test('a fork of an empty session is empty', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { step: 1 } });
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(fork).toMatchObject({ version: 0, events: [], conversationCount: 0 });
    expect((await load(sessions, FORK)).state.toRecord()).toEqual({ step: 1 });
    await sessions.appendEvent({ session: REFERENCE, event: userSays('u1') });
    expect(await view(sessions)).toEqual(['u1']);
    expect(await wholeLog(sessions)).toHaveLength(1);
  });
});
