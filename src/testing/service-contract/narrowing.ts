import { topic } from '../contract-runner.js';
import {
  KEY,
  type ServiceFixture,
  agentSays,
  load,
  sessionWith,
  shown,
  createSummaryEvent,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

export const narrowing = topic<ServiceFixture>('a view narrowed by config', (test) => {
  test('numRecentEvents returns exactly the newest events, without an anchor', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'a', 'a'));
    expect(await view(sessions, { numRecentEvents: 2 })).toEqual(['a3', 'a4']);
    expect(await view(sessions, { numRecentEvents: 1 })).toEqual(['a4']);
    expect(await view(sessions, { numRecentEvents: 99 })).toEqual(['u1', 'a2', 'a3', 'a4']);
  });

  test('numRecentEvents 0 returns no events, but everything else', async ({ open }) => {
    const { sessions } = await open();
    const event = userSays('u1', { actions: { stateDelta: { k: 1, 'user:k': 2 } } });
    const whole = await sessionWith(sessions, [event, ...turns('a')]);
    const { version, conversationCount, lastUpdateTime } = whole;
    const session = await load(sessions, { config: { numRecentEvents: 0 } });
    expect(session).toMatchObject({ events: [], version, conversationCount, lastUpdateTime });
    expect(session.state.toRecord()).toEqual(whole.state.toRecord());
  });

  test('afterSeq is exclusive', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'a', 'a'));
    expect(await view(sessions, { afterSeq: 2 })).toEqual(['a3', 'a4']);
    expect(await view(sessions, { afterSeq: 0 })).toEqual(['u1', 'a2', 'a3', 'a4']);
    expect(await view(sessions, { afterSeq: 4 })).toEqual([]);
    expect(await view(sessions, { afterSeq: 99 })).toEqual([]);
  });

  test('afterTimestamp is inclusive, and seconds are converted', async ({ open }) => {
    const { sessions } = await open();
    const at = 1_700_000_000_000;
    await sessionWith(sessions, [
      userSays('before', { timestamp: at - 1 }),
      userSays('at', { timestamp: at }),
      userSays('after', { timestamp: at + 1 }),
      userSays('long before', { timestamp: at - 1000 }),
    ]);
    expect(await view(sessions, { afterTimestamp: at })).toEqual(['at', 'after']);
    expect(await view(sessions, { afterTimestamp: at / 1000 })).toEqual(['at', 'after']);
    expect(await view(sessions, { afterTimestamp: at + 2 })).toEqual([]);
  });

  test('numRecentEvents counts the newest events after afterSeq and afterTimestamp', async ({ open }) => {
    const { sessions } = await open();
    const at = 1_700_000_000_000;
    const event = (index: number) => agentSays(`a${index}`, { timestamp: at + index });
    await sessionWith(sessions, [event(1), event(2), event(3), event(4), event(0)]);
    expect(await view(sessions, { afterSeq: 1, numRecentEvents: 2 })).toEqual(['a4', 'a0']);
    expect(await view(sessions, { afterTimestamp: at + 2, numRecentEvents: 2 })).toEqual(['a3', 'a4']);
    expect(await view(sessions, { afterTimestamp: at + 2, afterSeq: 3 })).toEqual(['a4']);
    expect(await view(sessions, { afterTimestamp: at + 2, afterSeq: 2, numRecentEvents: 1 })).toEqual(['a4']);
  });

  test('a config narrows the view of the settings', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, turns('u', 'a', 'a', 'a'));
    expect(await view(sessions)).toEqual(['u1', 'a3', 'a4']);
    expect(await view(sessions, { numRecentEvents: 3 })).toEqual(['u1', 'a3', 'a4']);
    expect(await view(sessions, { numRecentEvents: 2 })).toEqual(['a3', 'a4']);
    expect(await view(sessions, { afterSeq: 1 })).toEqual(['a3', 'a4']);
  });

  test('an append through a narrowed session loses nothing', async ({ open }) => {
    const { sessions } = await open();
    const event = userSays('u1', { actions: { stateDelta: { old: 1 } } });
    await sessionWith(sessions, [event, ...turns('a', 'a')]);
    for (const numRecentEvents of [0, 1]) {
      const session = await load(sessions, { config: { numRecentEvents } });
      await sessions.appendEvent({
        session,
        event: agentSays('new', { actions: { stateDelta: { [`k${numRecentEvents}`]: 1 } } }),
      });
      session.state.set(`saved${numRecentEvents}`, 1);
      await sessions.updateSession(session);
    }
    expect(await wholeLog(sessions)).toHaveLength(7);
    const read = await load(sessions);
    expect(read.events).toHaveLength(7);
    expect(read.state.toRecord()).toEqual({ old: 1, k0: 1, saved0: 1, k1: 1, saved1: 1 });
    expect(read.conversationCount).toBe(1);
  });

  test('a narrowed session has its events and those appended through it', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'a'));
    const session = await load(sessions, { config: { numRecentEvents: 1 } });
    await sessions.appendEvent({ session, event: agentSays('new') });
    expect(shown(session)).toEqual(['a3', 'new']);
    expect(session.version).toBe(4);
  });

  test('a config without limits narrows nothing', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u'), createSummaryEvent(1, 2)]);
    const whole = ['summary to 2', 'u3'];
    expect(await view(sessions, {})).toEqual(whole);
    expect(await view(sessions, { numRecentEvents: undefined, afterSeq: undefined })).toEqual(whole);
    expect(await sessions.getSession({ ...KEY, config: undefined })).toBeDefined();
  });
});
