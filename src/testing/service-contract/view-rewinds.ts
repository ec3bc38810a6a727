import { topic } from '../contract-runner.js';
import {
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

export const rewinds = topic<ServiceFixture>('rewinds in a view', (test) => {
  test('a rewind removes the events after its target from the view', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), rewindTo(2)]);
    expect(await view(sessions)).toEqual(['u1', 'a2']);
    expect(shown(session)).toEqual(['u1', 'a2']);
    await sessions.appendEvent({ session, event: userSays('u6') });
    expect(await view(sessions)).toEqual(['u1', 'a2', 'u6']);
    expect(shown(session)).toEqual(['u1', 'a2', 'u6']);
  });

  test('a rewind is an event, and the rewound events stay in the log', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), rewindTo(2)]);
    expect((await wholeLog(sessions)).map(({ seq, actions }) => [seq, actions.rewind?.toSeq])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, undefined],
      [4, undefined],
      [5, 2],
    ]);
    expect(session.version).toBe(5);
  });

  test('rewound user events do not count', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u', 'u'), rewindTo(2)]);
    expect([session.conversationCount, (await load(sessions)).conversationCount]).toEqual([1, 1]);
    await sessions.appendEvent({ session, event: rewindTo(4) });
    expect([session.conversationCount, (await load(sessions)).conversationCount]).toEqual([3, 3]);
  });

  test('a rewind to 0 removes all events from the view', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a'), rewindTo(0)]);
    expect(await load(sessions)).toMatchObject({ events: [], conversationCount: 0, version: 3 });
    await appendAll(sessions, [userSays('u4')]);
    expect(await view(sessions)).toEqual(['u4']);
  });

  test('a rewind to an earlier moment restores it exactly', async ({ open }) => {
    const { sessions } = await open();
    const events = [...turns('u', 'a', 'u', 'a'), rewindTo(2), userSays('u6'), rewindTo(4)];
    await sessionWith(sessions, events);
    expect(await view(sessions)).toEqual(['u1', 'a2', 'u3', 'a4']);
    await appendAll(sessions, [rewindTo(6)]);
    expect(await view(sessions)).toEqual(['u1', 'a2', 'u6']);
    expect((await load(sessions)).conversationCount).toBe(2);
    await appendAll(sessions, [rewindTo(7), rewindTo(5), agentSays('a11')]);
    expect(await view(sessions)).toEqual(['u1', 'a2', 'a11']);
  });

  test('a rewind to before a summary restores the events that it covers', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), createSummaryEvent(1, 2), userSays('u6'), rewindTo(4)]);
    expect(await view(sessions)).toEqual(['u1', 'a2', 'u3', 'a4']);
    await appendAll(sessions, [rewindTo(1)]);
    expect(await view(sessions)).toEqual(['u1']);
  });

  test('a rewind to after a summary keeps the summary', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      ...turns('u', 'a', 'u'),
      createSummaryEvent(1, 2),
      userSays('u5'),
      agentSays('a6'),
      rewindTo(5),
    ]);
    expect(await view(sessions)).toEqual(['summary to 2', 'u3', 'u5']);
    await appendAll(sessions, [createSummaryEvent(1, 5), rewindTo(6)]);
    expect(await view(sessions)).toEqual(['summary to 2', 'u3', 'u5', 'a6']);
  });

  test('rewound events are removed before the newest events are counted', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const session = await sessionWith(sessions, [...turns('u', 'a', 'a', 'u', 'a', 'a'), rewindTo(3)]);
    expect(await view(sessions)).toEqual(['u1', 'a2', 'a3']);
    expect(shown(session)).toEqual(['u1', 'a2', 'a3']);
  });

  test('a view continues before long rewound ranges', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    for (let round = 0; round < 4; round++) {
      await appendAll(
        sessions,
        times(15, (index) => (index % 2 ? agentSays('gone') : userSays('gone'))),
      );
      await appendAll(sessions, [rewindTo(4)]);
    }
    expect(await view(sessions)).toEqual(['u3', 'a4']);
    await appendAll(sessions, [agentSays('new')]);
    expect(await view(sessions)).toEqual(['u3', 'a4', 'new']);
    expect(await view(sessions, { numRecentEvents: 2 })).toEqual(['a4', 'new']);
  });

  test('a rewind changes state by the delta of its event', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [
      userSays('u1', { actions: { stateDelta: { k: 1, new: 1, 'user:k': 1 } } }),
      rewindTo(0, { stateDelta: { k: 0 }, stateRemovals: ['new'] }),
    ]);
    for (const { state } of [session, await load(sessions)]) expect(state.toRecord()).toEqual({ k: 0, 'user:k': 1 });
  });

  test('a rewind beyond the end of the log is refused', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const before = await raw();
    const append = sessions.appendEvent({ session: REFERENCE, event: rewindTo(3) });
    await expectRefusal(append, 'INVALID_INPUT', { path: '$.actions.rewind.toSeq' });
    expect(await raw()).toEqual(before);
  });

  test('concurrent rewinds and appends give the view of their order in the log', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a', 'u'));
    await Promise.all([
      ...times(4, async (index) => sessions.appendEvent({ session, event: agentSays(`x${index}`) })),
      sessions.appendEvent({ session: REFERENCE, event: rewindTo(2) }),
      sessions.appendEvent({ session: REFERENCE, event: rewindTo(1) }),
    ]);
    const log = await wholeLog(sessions);
    const last = log.findLast(({ actions }) => actions.rewind);
    const kept = log.slice(0, last?.actions.rewind?.toSeq);
    expect(await view(sessions)).toEqual(shown({ events: [...kept, ...log.slice(last?.seq)] }));
    expect(log).toHaveLength(9);
  });
});
