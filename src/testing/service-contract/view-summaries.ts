import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  agentSays,
  appendAll,
  expectRefusal,
  load,
  sessionWith,
  shown,
  createSummaryEvent,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

export const summaries = topic<ServiceFixture>('summaries in a view', (test) => {
  test('a summary replaces the events that it covers', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), createSummaryEvent(1, 2)]);
    expect(await view(sessions)).toEqual(['summary to 2', 'u3', 'a4']);
    expect(shown(session)).toEqual(['summary to 2', 'u3', 'a4']);
    await sessions.appendEvent({ session, event: userSays('u6') });
    expect(await view(sessions)).toEqual(['summary to 2', 'u3', 'a4', 'u6']);
  });

  test('a summary may cover everything', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a'), createSummaryEvent(1, 2)]);
    expect(await view(sessions)).toEqual(['summary to 2']);
  });

  test('summarised events stay in the log, beside the summary', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u'), createSummaryEvent(1, 2)]);
    expect(shown({ events: await wholeLog(sessions) })).toEqual(['u1', 'a2', 'u3', 'summary to 2']);
  });

  test('a summary changes neither update time nor count nor state', async ({ open, clock }) => {
    const { sessions } = await open();
    const event = userSays('u1', { actions: { stateDelta: { k: 1 } } });
    const { lastUpdateTime } = await sessionWith(sessions, [event, ...turns('a', 'u')]);
    clock.advance(1000);
    const session = await load(sessions);
    await sessions.appendEvent({ session, event: createSummaryEvent(1, 3) });
    for (const holder of [session, await load(sessions)]) {
      expect(holder).toMatchObject({ lastUpdateTime, conversationCount: 2, version: 4 });
      expect(holder.state.toRecord()).toEqual({ k: 1 });
    }
  });

  test('the summary that covers most events is current, in any order', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      ...turns('u', 'a', 'u', 'a', 'u'),
      createSummaryEvent(1, 2),
      createSummaryEvent(1, 4),
    ]);
    expect(await view(sessions)).toEqual(['summary to 4', 'u5']);
    await appendAll(sessions, [createSummaryEvent(1, 3), userSays('u9')]);
    expect(await view(sessions)).toEqual(['summary to 4', 'u5', 'u9']);
  });

  test('a summary may cover an older summary', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      ...turns('u', 'a', 'u'),
      createSummaryEvent(1, 2),
      userSays('u5'),
      createSummaryEvent(1, 4),
    ]);
    expect(await view(sessions)).toEqual(['summary to 4', 'u5']);
  });

  test('a summary is an anchor', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u', 'a', 'a', 'a'), createSummaryEvent(1, 3)]);
    expect(await view(sessions)).toEqual(['summary to 3', 'a5', 'a6']);
    expect(shown(session)).toEqual(['summary to 3', 'a5', 'a6']);
  });

  test('a summary stays first in a view of the newest events, and does not count as one', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), createSummaryEvent(1, 2)]);
    expect(await view(sessions)).toEqual(['summary to 2', 'u3', 'a4']);
    for (const event of [userSays('u6'), agentSays('a7')]) await sessions.appendEvent({ session, event });
    expect(await view(sessions)).toEqual(['summary to 2', 'u6', 'a7']);
    for (const event of [agentSays('a8'), agentSays('a9')]) await sessions.appendEvent({ session, event });
    expect(await view(sessions)).toEqual(['summary to 2', 'u6', 'a7', 'a8', 'a9']);
  });

  test('a view continues from the summary if no events are between it and the newest ones', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, [...turns('u', 'a', 'a', 'u', 'a'), createSummaryEvent(1, 2)]);
    expect(await view(sessions)).toEqual(['summary to 2', 'a3', 'u4', 'a5']);
  });

  test('a summary stays first in a view that is limited on read', async ({ open }) => {
    const { sessions } = await open({ history: { numRecentEvents: 2 } });
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a', 'u', 'a'), createSummaryEvent(1, 2)]);
    expect(await view(sessions)).toEqual(['summary to 2', 'u5', 'a6']);
  });

  test('a summary that is too old leaves the view when there is a message of the user', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    await sessionWith(sessions, [...turns('u', 'a'), createSummaryEvent(1, 2)]);
    clock.advanceSeconds(11);
    await appendAll(sessions, [userSays('u4')]);
    expect(await view(sessions)).toEqual(['u4']);
  });

  test('a summary stays an anchor at any age', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    await sessionWith(sessions, [...turns('u', 'a'), createSummaryEvent(1, 2)]);
    clock.advanceSeconds(11);
    await appendAll(sessions, [agentSays('a4')]);
    expect(await view(sessions)).toEqual(['summary to 2', 'a4']);
  });

  test('a narrowed view has the summary only if it is in the range', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), createSummaryEvent(1, 2)]);
    expect(await view(sessions, { numRecentEvents: 2 })).toEqual(['u3', 'a4']);
    expect(await view(sessions, { numRecentEvents: 3 })).toEqual(['summary to 2', 'u3', 'a4']);
    expect(await view(sessions, { numRecentEvents: 9 })).toEqual(['summary to 2', 'u3', 'a4']);
  });

  test('a summary beyond the end of the log is refused', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const before = await raw();
    const append = sessions.appendEvent({ session: REFERENCE, event: createSummaryEvent(1, 3) });
    await expectRefusal(append, 'INVALID_INPUT', { path: '$.actions.compaction.toSeq' });
    expect(await raw()).toEqual(before);
  });

  test('after concurrent summaries and appends, all readers get the same view', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a', 'u', 'a', 'u'));
    await Promise.all([
      ...[1, 2, 3, 4].map(async (toSeq) =>
        sessions.appendEvent({ session: REFERENCE, event: createSummaryEvent(1, toSeq) }),
      ),
      sessions.appendEvent({ session, event: agentSays('x') }),
      sessions.appendEvent({ session: REFERENCE, event: agentSays('y') }),
    ]);
    const read = await view(sessions);
    expect([...read].sort()).toEqual(['summary to 4', 'u5', 'x', 'y']);
    expect(read[0]).toBe('summary to 4');
    expect((await sessions.listEvents(KEY)).lastSeq).toBe(11);
  });
});
