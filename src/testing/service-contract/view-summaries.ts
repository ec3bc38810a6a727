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
  summaryOf,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

export const summaries = topic<ServiceFixture>('summaries in a view', (test) => {
  test('a summary stands in the place of what it covers', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), summaryOf(1, 2)]);
    expect(await view(sessions)).toEqual(['summary to 2', 'u3', 'a4']);
    expect(shown(session)).toEqual(['summary to 2', 'u3', 'a4']);
    await sessions.appendEvent({ session, event: userSays('u6') });
    expect(await view(sessions)).toEqual(['summary to 2', 'u3', 'a4', 'u6']);
  });

  test('a summary may cover everything', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a'), summaryOf(1, 2)]);
    expect(await view(sessions)).toEqual(['summary to 2']);
  });

  test('summarised events stay in the log, beside the summary', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u'), summaryOf(1, 2)]);
    expect(shown({ events: await wholeLog(sessions) })).toEqual(['u1', 'a2', 'u3', 'summary to 2']);
  });

  test('a summary changes neither update time nor count nor state', async ({ open, clock }) => {
    const { sessions } = await open();
    const event = userSays('u1', { actions: { stateDelta: { k: 1 } } });
    const { lastUpdateTime } = await sessionWith(sessions, [event, ...turns('a', 'u')]);
    clock.advance(1000);
    const session = await load(sessions);
    await sessions.appendEvent({ session, event: summaryOf(1, 3) });
    for (const holder of [session, await load(sessions)]) {
      expect(holder).toMatchObject({ lastUpdateTime, conversationCount: 2, version: 4 });
      expect(holder.state.toRecord()).toEqual({ k: 1 });
    }
  });

  test('the summary that covers most is in force, whichever came last', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a', 'u'), summaryOf(1, 2), summaryOf(1, 4)]);
    expect(await view(sessions)).toEqual(['summary to 4', 'u5']);
    await appendAll(sessions, [summaryOf(1, 3), userSays('u9')]);
    expect(await view(sessions)).toEqual(['summary to 4', 'u5', 'u9']);
  });

  test('a summary may cover an older summary', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u'), summaryOf(1, 2), userSays('u5'), summaryOf(1, 4)]);
    expect(await view(sessions)).toEqual(['summary to 4', 'u5']);
  });

  test('a summary is an anchor', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u', 'a', 'a', 'a'), summaryOf(1, 3)]);
    expect(await view(sessions)).toEqual(['summary to 3', 'a5', 'a6']);
    expect(shown(session)).toEqual(['summary to 3', 'a5', 'a6']);
  });

  test('a summary is counted at its place in the view', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), summaryOf(1, 2)]);
    expect(await view(sessions)).toEqual(['summary to 2', 'u3', 'a4']);
    await appendAll(sessions, [userSays('u6')]);
    expect(await view(sessions)).toEqual(['u3', 'a4', 'u6']);
    await appendAll(sessions, [agentSays('a7'), agentSays('a8'), agentSays('a9')]);
    expect(await view(sessions)).toEqual(['u6', 'a7', 'a8', 'a9']);
  });

  test('a summary does not grow too old to be an anchor', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    await sessionWith(sessions, [...turns('u', 'a'), summaryOf(1, 2)]);
    clock.advanceSeconds(11);
    await appendAll(sessions, [agentSays('a4')]);
    expect(await view(sessions)).toEqual(['summary to 2', 'a4']);
  });

  test('a narrowed view may hold the summary or not', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), summaryOf(1, 2)]);
    expect(await view(sessions, { numRecentEvents: 2 })).toEqual(['u3', 'a4']);
    expect(await view(sessions, { numRecentEvents: 3 })).toEqual(['summary to 2', 'u3', 'a4']);
    expect(await view(sessions, { numRecentEvents: 9 })).toEqual(['summary to 2', 'u3', 'a4']);
  });

  test('a summary of what is not there yet is refused', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const before = await raw();
    const append = sessions.appendEvent({ session: REFERENCE, event: summaryOf(1, 3) });
    await expectRefusal(append, 'INVALID_INPUT', { path: '$.actions.compaction.toSeq' });
    expect(await raw()).toEqual(before);
  });

  test('racing summaries and appends leave one view for all', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a', 'u', 'a', 'u'));
    await Promise.all([
      ...[1, 2, 3, 4].map(async (toSeq) => sessions.appendEvent({ session: REFERENCE, event: summaryOf(1, toSeq) })),
      sessions.appendEvent({ session, event: agentSays('x') }),
      sessions.appendEvent({ session: REFERENCE, event: agentSays('y') }),
    ]);
    const read = await view(sessions);
    expect([...read].sort()).toEqual(['summary to 4', 'u5', 'x', 'y']);
    expect(read[0]).toBe('summary to 4');
    expect((await sessions.listEvents(KEY)).lastSeq).toBe(11);
  });
});
