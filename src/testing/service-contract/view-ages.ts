import type { EventInput } from '../../sessions/domain/event/event.js';
import type { ManualClock } from '../manual-clock.js';
import type { SessionClient } from '../open-sessions.js';
import { topic } from '../contract-runner.js';
import {
  REFERENCE,
  type ServiceFixture,
  agentSays,
  sessionWith,
  shown,
  toolAnswers,
  toolCalls,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

/** Appends the events, one per second. */
async function everySecond(sessions: SessionClient, clock: ManualClock, events: readonly EventInput[]): Promise<void> {
  for (const event of events) {
    clock.advanceSeconds(1);
    await sessions.appendEvent({ session: REFERENCE, event });
  }
}

export const ages = topic<ServiceFixture>('the age of events in a view', (test) => {
  test('an event leaves the view when it is older than the limit', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    await sessionWith(sessions);
    await everySecond(sessions, clock, turns('u', 'u', 'a'));
    clock.advanceSeconds(8);
    expect(await view(sessions)).toEqual(['u1', 'u2', 'a3']);
    clock.advance(1);
    expect(await view(sessions)).toEqual(['u2', 'a3']);
    expect(await wholeLog(sessions)).toHaveLength(3);
  });

  test('the last anchor stays in the view at any age', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    await sessionWith(sessions);
    await everySecond(sessions, clock, turns('u', 'u', 'a', 'a'));
    clock.advanceSeconds(9);
    expect(await view(sessions)).toEqual(['u2', 'a3', 'a4']);
    clock.advanceSeconds(100);
    expect(await view(sessions)).toEqual(['u2']);
  });

  test('a view of old events without any anchor is empty', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    await sessionWith(sessions, turns('a', 'a'));
    clock.advanceSeconds(11);
    expect(await view(sessions)).toEqual([]);
  });

  test('age counts from the earlier of timestamp and append time', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    const now = clock.now();
    await sessionWith(sessions, [
      userSays('of long ago', { timestamp: now - 11_000 }),
      userSays('of today', { timestamp: now - 9_000 }),
      userSays('of tomorrow', { timestamp: now + 86_400_000 }),
      agentSays('also of long ago', { timestamp: now - 11_000 }),
      agentSays('also of tomorrow', { timestamp: now + 86_400_000 }),
    ]);
    expect(await view(sessions)).toEqual(['of today', 'of tomorrow', 'also of tomorrow']);
    clock.advanceSeconds(10);
    expect(await view(sessions)).toEqual(['of tomorrow', 'also of tomorrow']);
    clock.advanceSeconds(1);
    expect(await view(sessions)).toEqual(['of tomorrow']);
    await sessions.appendEvent({ session: REFERENCE, event: agentSays('new') });
    expect(await view(sessions)).toEqual(['of tomorrow', 'new']);
  });

  test('an append filters by age', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    const session = await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    clock.advanceSeconds(11);
    await sessions.appendEvent({ session, event: agentSays('a5') });
    expect(shown(session)).toEqual(['u3', 'a5']);
    expect(await view(sessions)).toEqual(['u3', 'a5']);
  });

  test('age is checked before number', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10, maxEvents: 3 } });
    const now = clock.now();
    const old = { timestamp: now - 60_000 };
    const session = await sessionWith(sessions, [
      ...turns('u', 'u', 'a'),
      agentSays('old', old),
      agentSays('old, too', old),
      userSays('old user', old),
    ]);
    expect(await view(sessions)).toEqual(['u1', 'u2', 'a3']);
    expect(shown(session)).toEqual(['u1', 'u2', 'a3']);
  });

  test('a tool call that is too old stays in the view with its response', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    await sessionWith(sessions, [userSays('u1'), agentSays('a2'), toolCalls('t')]);
    clock.advanceSeconds(11);
    await sessions.appendEvent({ session: REFERENCE, event: toolAnswers('t') });
    expect(await view(sessions)).toEqual(['u1', 'call:t', 'answer:t']);
  });

  test('an event does not leave the view when the clock goes back', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10 } });
    await sessionWith(sessions, turns('u', 'u'));
    clock.advanceSeconds(-3600);
    expect(await view(sessions)).toEqual(['u1', 'u2']);
    await sessions.appendEvent({ session: REFERENCE, event: agentSays('a3') });
    expect(await view(sessions)).toEqual(['u1', 'u2', 'a3']);
  });
});
