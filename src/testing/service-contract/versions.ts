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
} from './support.js';

export const versions = topic<ServiceFixture>('versions', (test) => {
  test('an append with the current version is accepted', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    await sessions.appendEvent({ session, event: userSays('one'), expectedVersion: 0 });
    await sessions.appendEvent({ session, event: userSays('two'), expectedVersion: session.version });
    expect(session.version).toBe(2);
  });

  test('an append with an old version is refused with the current one, and nothing is written', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, turns('u'));
    await appendAll(sessions, turns('u', 'a'));
    const before = await raw();
    const stale = { expectedVersion: 1, currentVersion: 3 };
    const event = agentSays('late', { actions: { stateDelta: { k: 1, 'user:k': 1, 'app:k': 1 } } });
    await expectRefusal(sessions.appendEvent({ session, event, expectedVersion: 1 }), 'STALE_SESSION', stale);
    expect(await raw()).toEqual(before);
    expect(shown(session)).toEqual(['u1']);
    expect(session.state.toRecord()).toEqual({});
  });

  test('a version beyond the current one is refused', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u'));
    await expectRefusal(
      sessions.appendEvent({ session, event: agentSays('early'), expectedVersion: 2 }),
      'STALE_SESSION',
      { currentVersion: 1 },
    );
  });

  test('one of several concurrent appends with the same expected version is accepted', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u'));
    const answers = await Promise.allSettled(
      times(8, async (index) =>
        sessions.appendEvent({ session: REFERENCE, event: agentSays(`a${index}`), expectedVersion: 1 }),
      ),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'STALE_SESSION' });
    }
    expect((await load(sessions)).version).toBe(2);
  });

  test('without an expected version every append is accepted', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u'));
    await appendAll(sessions, [agentSays('a2')]);
    await sessions.appendEvent({ session, event: userSays('u3') });
    expect(await view(sessions)).toEqual(['u1', 'a2', 'u3']);
  });

  test('a summary does not make a writer stale', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a'));
    await appendAll(sessions, [createSummaryEvent(1, 1), createSummaryEvent(1, 2)]);
    await sessions.appendEvent({ session, event: userSays('u5'), expectedVersion: 2 });
    expect(await view(sessions)).toEqual(['summary to 2', 'u5']);
  });

  test('an event between summaries makes a writer stale', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a'));
    await appendAll(sessions, [createSummaryEvent(1, 1), userSays('u4'), createSummaryEvent(1, 2)]);
    const late = { session, event: agentSays('late') };
    await expectRefusal(sessions.appendEvent({ ...late, expectedVersion: 2 }), 'STALE_SESSION', { currentVersion: 5 });
    await expectRefusal(sessions.appendEvent({ ...late, expectedVersion: 3 }), 'STALE_SESSION');
    await sessions.appendEvent({ ...late, expectedVersion: 4 });
  });

  test('a rewind makes a writer stale', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a'));
    await appendAll(sessions, [rewindTo(1)]);
    await expectRefusal(
      sessions.appendEvent({ session, event: userSays('late'), expectedVersion: 2 }),
      'STALE_SESSION',
    );
  });

  test('summaries and rewinds can have an expected version', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const before = await raw();
    for (const event of [createSummaryEvent(1, 1), rewindTo(1)]) {
      await expectRefusal(sessions.appendEvent({ session: REFERENCE, event, expectedVersion: 1 }), 'STALE_SESSION', {
        currentVersion: 2,
      });
    }
    expect(await raw()).toEqual(before);
    await sessions.appendEvent({ session: REFERENCE, event: rewindTo(1), expectedVersion: 2 });
  });

  test('the version of an object stays below unknown events', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u'));
    await appendAll(sessions, [agentSays('unknown')]);
    await sessions.appendEvent({ session, event: userSays('u3') });
    await sessions.appendEvent({ session, event: userSays('u4') });
    expect(shown(session)).toEqual(['u1', 'u3', 'u4']);
    expect(session.version).toBe(1);
    expect((await load(sessions)).version).toBe(4);
  });

  test('the version of an object skips summaries', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a'));
    await appendAll(sessions, [createSummaryEvent(1, 1)]);
    await sessions.appendEvent({ session, event: userSays('u4') });
    expect(session.version).toBe(4);
  });
});
