import type { EventInput } from '../../sessions/domain/event/event.js';
import type { SessionClient } from '../open-sessions.js';
import { topic } from '../contract-runner.js';
import {
  type ServiceFixture,
  agentSays,
  appendAll,
  load,
  sessionWith,
  shown,
  createSummaryEvent,
  times,
  toolAnswers,
  toolCalls,
  turns,
  userSays,
  view,
} from './support.js';

const WITHIN_AN_HOUR = { history: { eventTtlSeconds: 3600 } };

/** Loads the session, appends through the object, and expects its view to equal that of a new reader. */
async function showsAfter(sessions: SessionClient, ...events: EventInput[]): Promise<string[]> {
  const session = await load(sessions);
  for (const event of events) await sessions.appendEvent({ session, event });
  expect(shown(session)).toEqual(await view(sessions));
  return shown(session);
}

export const objects = topic<ServiceFixture>('a session object after an append', (test) => {
  test('it has a tool response and its call that was too old', async ({ open, clock }) => {
    const { sessions } = await open(WITHIN_AN_HOUR);
    await sessionWith(sessions, [userSays('u1'), toolCalls('t')]);
    clock.advanceSeconds(7200);
    expect(await showsAfter(sessions, toolAnswers('t'))).toEqual(['u1', 'call:t', 'answer:t']);
  });

  test('it has a tool response and its call before the newest events', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, [userSays('u1'), toolCalls('t'), agentSays('a3'), agentSays('a4'), agentSays('a5')]);
    const whole = ['u1', 'call:t', 'a3', 'a4', 'a5', 'answer:t'];
    expect(await showsAfter(sessions, toolAnswers('t'))).toEqual(whole);
  });

  test('it has the responses to parallel calls as they are appended', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 1 } });
    await sessionWith(sessions, [userSays('u1'), toolCalls('s'), toolCalls('t'), toolCalls('u')]);
    const events = [toolAnswers('t'), toolAnswers('u'), toolAnswers('s'), agentSays('a8')];
    expect(await showsAfter(sessions, ...events)).toEqual(['u1', 'a8']);
    expect(await showsAfter(sessions, toolAnswers('u'))).toHaveLength(9);
  });

  test('it begins at the anchor before a call that was added across another anchor', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const quiet = times(30, (index) => agentSays(`x${index}`));
    await sessionWith(sessions, [userSays('first'), ...quiet, toolCalls('t'), userSays('next')]);
    const whole = ['first', 'call:t', 'next', 'a', 'answer:t'];
    expect(await showsAfter(sessions, agentSays('a'), toolAnswers('t'))).toEqual(whole);
  });

  test('it begins at a recent summary of events that are too old', async ({ open, clock }) => {
    const { sessions } = await open(WITHIN_AN_HOUR);
    await sessionWith(sessions, turns('u', 'a', 'u', 'u'));
    clock.advanceSeconds(7200);
    await appendAll(sessions, [createSummaryEvent(1, 2)]);
    expect(await showsAfter(sessions, agentSays('a6'))).toEqual(['summary to 2', 'a6']);
  });

  test('a read limit omits the same events after an append, but no call', async ({ open }) => {
    const { sessions } = await open({ history: { numRecentEvents: 2 } });
    await sessionWith(sessions, [userSays('u1'), toolCalls('t'), agentSays('a3'), agentSays('a4'), agentSays('a5')]);
    const session = await load(sessions);
    expect(shown(session)).toEqual(['u1', 'a4', 'a5']);
    await sessions.appendEvent({ session, event: agentSays('a6') });
    expect(shown(session)).toEqual(['u1', 'a4', 'a5', 'a6']);
    await sessions.appendEvent({ session, event: toolAnswers('t') });
    expect(shown(session)).toEqual(['u1', 'call:t', 'a3', 'a4', 'a5', 'a6', 'answer:t']);
  });

  test('an object loaded with afterSeq has the view of a new reader with afterSeq', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, turns('u', 'a', 'u', 'a', 'u'));
    const config = { afterSeq: 3 };
    const session = await load(sessions, { config });
    await sessions.appendEvent({ session, event: agentSays('a6') });
    expect(shown(session)).toEqual(['u5', 'a6']);
    expect(shown(session)).toEqual(await view(sessions, config));
    await sessions.appendEvent({ session, event: createSummaryEvent(1, 5) });
    expect(shown(session)).toEqual(await view(sessions, config));
  });
});
