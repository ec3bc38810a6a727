import type { EventInput } from '../../sessions/domain/event/event.js';
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

function says(text: string, invocationId: string, actions = {}): EventInput {
  return agentSays(text, { invocationId, actions });
}

export const rewinding = topic<ServiceFixture>('rewindSession', (test) => {
  test('a rewind restores the view, the state and the count of that moment', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, state: { initial: 'kept', step: 0 } });
    await sessions.appendEvent({ session, event: userSays('u1', { actions: { stateDelta: { step: 1 } } }) });
    await sessions.appendEvent({
      session,
      event: userSays('u2', { actions: { stateDelta: { step: 2, late: true }, stateRemovals: ['initial'] } }),
    });
    const rewound = await sessions.rewindSession({ ...KEY, toSeq: 1 });
    expect(shown(rewound)).toEqual(['u1']);
    expect(rewound.state.toRecord()).toEqual({ initial: 'kept', step: 1 });
    expect(rewound).toMatchObject({ version: 3, conversationCount: 1 });
    expect(shown(await load(sessions))).toEqual(['u1']);
  });

  test('the log keeps all events, and the rewind is an event with its state change', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [userSays('u1', { actions: { stateDelta: { a: 1, b: 1 } } })]);
    await sessions.appendEvent({ session, event: agentSays('a2', { actions: { stateDelta: { a: 2, c: [] } } }) });
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    const log = await wholeLog(sessions);
    expect(log).toHaveLength(3);
    expect(log[2]).toMatchObject({
      author: 'system',
      actions: { rewind: { toSeq: 1 }, stateDelta: { a: 1 }, stateRemovals: ['c'] },
    });
  });

  test('a rewind does not change shared state', async ({ open }) => {
    const { sessions } = await open();
    const delta = { own: 1, 'user:u': 1, 'app:a': 1 };
    await sessionWith(sessions, [userSays('u1', { actions: { stateDelta: delta } })]);
    const rewound = await sessions.rewindSession({ ...KEY, toSeq: 0 });
    expect(rewound.state.toRecord()).toEqual({ 'user:u': 1, 'app:a': 1 });
    expect(rewound.events).toEqual([]);
  });

  test('a rewind by invocation goes to before its first event', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      userSays('u1', { invocationId: 'one' }),
      agentSays('a2', { invocationId: 'one' }),
      userSays('u3', { invocationId: 'two' }),
      agentSays('a4', { invocationId: 'two' }),
    ]);
    expect(shown(await sessions.rewindSession({ ...KEY, invocationId: 'two' }))).toEqual(['u1', 'a2']);
    await expectRefusal(sessions.rewindSession({ ...KEY, invocationId: 'three' }), 'INVALID_INPUT');
  });

  test('a reused invocation id begins with its first event that is not rewound', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      userSays('u1'),
      says('first try', 'one', { stateDelta: { first: 1 } }),
      says('more of it', 'one'),
      rewindTo(1, { stateRemovals: ['first'] }),
      says('between', 'other', { stateDelta: { between: 1 } }),
      says('second try', 'one', { stateDelta: { second: 1 } }),
      says('after', 'other'),
    ]);
    const rewound = await sessions.rewindSession({ ...KEY, invocationId: 'one' });
    expect(shown(rewound)).toEqual(['u1', 'between']);
    expect(rewound.state.toRecord()).toEqual({ between: 1 });
    expect((await wholeLog(sessions)).at(-1)?.actions.rewind).toEqual({ toSeq: 5 });
  });

  test('an invocation whose first use is rewound and summarised begins with the next use', async ({ open }) => {
    const { sessions } = await open();
    const one = { invocationId: 'one' };
    await sessionWith(sessions, [userSays('u1'), agentSays('rewound', one), rewindTo(1), userSays('u4')]);
    await appendAll(sessions, [createSummaryEvent(1, 4), userSays('u6', one), agentSays('a7', one)]);
    expect(shown(await sessions.rewindSession({ ...KEY, ...one }))).toEqual(['summary to 4']);
  });

  test('a completely rewound invocation is refused, unless a later rewind restored it', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, [userSays('u1'), agentSays('a2', { invocationId: 'one' }), rewindTo(1)]);
    const before = await raw();
    const refused = sessions.rewindSession({ ...KEY, invocationId: 'one' });
    await expectRefusal(refused, 'INVALID_INPUT', { path: 'invocationId' });
    expect(await raw()).toEqual(before);
    await sessions.rewindSession({ ...KEY, toSeq: 2 });
    expect(shown(await sessions.rewindSession({ ...KEY, invocationId: 'one' }))).toEqual(['u1']);
  });

  test('an empty invocation id is refused, although events without invocation have one', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    await expectRefusal(sessions.rewindSession({ ...KEY, invocationId: '' }), 'INVALID_INPUT');
    expect(await view(sessions)).toEqual(['u1', 'a2']);
  });

  test('a rewind is refused if events other than summaries follow its expected version', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u'), createSummaryEvent(1, 1)]);
    await expectRefusal(sessions.rewindSession({ ...KEY, toSeq: 1, expectedVersion: 2 }), 'STALE_SESSION');
    expect((await sessions.listEvents(KEY)).lastSeq).toBe(4);
    await sessions.rewindSession({ ...KEY, toSeq: 2, expectedVersion: 3 });
    expect((await sessions.listEvents(KEY)).lastSeq).toBe(5);
  });

  test('a rewind to before a rewind undoes it', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    await sessions.rewindSession({ ...KEY, toSeq: 2 });
    await appendAll(sessions, [userSays('other')]);
    expect(await view(sessions)).toEqual(['u1', 'a2', 'other']);
    const back = await sessions.rewindSession({ ...KEY, toSeq: 4 });
    expect(shown(back)).toEqual(['u1', 'a2', 'u3', 'a4']);
    expect(back.conversationCount).toBe(2);
  });

  test('a rewind to before a summary restores the summarised events', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), createSummaryEvent(1, 2)]);
    expect(await view(sessions)).toEqual(['summary to 2', 'u3', 'a4']);
    expect(shown(await sessions.rewindSession({ ...KEY, toSeq: 3 }))).toEqual(['u1', 'a2', 'u3']);
  });

  test('a rewind loses no concurrently appended event', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const appends = times(20, (index) => appendAll(sessions, [userSays(`late ${index}`)]));
    await Promise.all([sessions.rewindSession({ ...KEY, toSeq: 1 }), ...appends]);
    const log = await wholeLog(sessions);
    expect(log.map(({ seq }) => seq)).toEqual(times(23, (index) => index + 1));
    const rewind = log.findIndex(({ actions }) => actions.rewind);
    const texts = log.slice(rewind + 1).map(({ content }) => content?.parts?.[0]?.text);
    expect(await view(sessions)).toEqual(['u1', ...texts]);
  });

  test('a state with more keys than one event may change is restored completely', async ({ open }) => {
    const { sessions } = await open({ limits: { maxDeltaKeys: 2 } });
    await sessionWith(sessions, [userSays('u1', { actions: { stateDelta: { a: 1, b: 1 } } })]);
    await appendAll(sessions, [agentSays('a2', { actions: { stateDelta: { c: 1 }, stateRemovals: ['a'] } })]);
    await appendAll(sessions, [agentSays('a3', { actions: { stateDelta: { b: 2 } } })]);
    const rewound = await sessions.rewindSession({ ...KEY, toSeq: 1 });
    expect(rewound.state.toRecord()).toEqual({ a: 1, b: 1 });
  });

  test('targets outside the log and ambiguous requests are refused', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const before = await raw();
    const wishes = [{ toSeq: 3 }, { toSeq: -1 }, { toSeq: 1.5 }, {}, { toSeq: 1, invocationId: 'one' }];
    for (const wish of wishes) await expectRefusal(sessions.rewindSession({ ...KEY, ...wish }), 'INVALID_INPUT');
    await expectRefusal(sessions.rewindSession({ ...KEY, sessionId: 'none', toSeq: 0 }), 'SESSION_NOT_FOUND');
    expect(await raw()).toEqual(before);
  });

  test('an object loaded before the rewind is stale, and can append after it', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a', 'u'));
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    const late = { session, event: agentSays('late'), expectedVersion: session.version };
    await expectRefusal(sessions.appendEvent(late), 'STALE_SESSION', { currentVersion: 4 });
    await sessions.appendEvent({ session: REFERENCE, event: agentSays('new') });
    expect(await view(sessions)).toEqual(['u1', 'new']);
  });
});
