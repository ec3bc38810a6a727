import type { EventInput } from '../../sessions/domain/event/event.js';
import type { Session } from '../../sessions/domain/session/session.js';
import type { SessionClient } from '../open-sessions.js';
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
  toolAnswers,
  toolCalls,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

const KEEP_FIVE = { history: { maxEvents: 5, keepHistory: false } };

/** More events than a log has before its next trim. */
const MANY = 130;

async function append(sessions: SessionClient, session: Session, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const text = `x${session.version + 1}`;
    await sessions.appendEvent({ session, event: index % 2 ? agentSays(text) : userSays(text) });
  }
  await sessions.whenIdle();
}

export const history = topic<ServiceFixture>('trimmed history', (test) => {
  test('history is retained by default', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 5 } });
    await append(sessions, await sessionWith(sessions), MANY);
    expect(await sessions.listEvents({ ...KEY, limit: 1000 })).toMatchObject({ firstSeq: 1, lastSeq: MANY });
    expect(await wholeLog(sessions)).toHaveLength(MANY);
  });

  test('events that left the view are removed eventually, and firstSeq rises', async ({ open }) => {
    const { sessions, raw } = await open(KEEP_FIVE);
    const session = await sessionWith(sessions, [userSays('canary')]);
    await append(sessions, session, MANY);
    const { firstSeq, lastSeq, events } = await sessions.listEvents({ ...KEY, limit: 1000 });
    expect(lastSeq).toBe(MANY + 1);
    expect(firstSeq).toBeGreaterThan(MANY - 64 - 5);
    expect(events.map(({ seq }) => seq)).toEqual(times(lastSeq - firstSeq + 1, (index) => firstSeq + index));
    expect((await raw()).text).not.toContain('canary');
    expect(await sessions.listEvents({ ...KEY, limit: 1 })).toMatchObject({ events: [{ seq: firstSeq }] });
  });

  test('a trimmed event is a duplicate, as it was sent and as it was returned', async ({ open, clock }) => {
    const { sessions, raw } = await open(KEEP_FIVE);
    const event = userSays('canary', { id: 'e1', actions: { stateDelta: { k: 1 } } });
    const session = await sessionWith(sessions);
    const original = await sessions.appendEvent({ session, event });
    await append(sessions, session, MANY);
    expect((await raw()).text).not.toContain('canary');
    clock.advance(1000);
    const before = await raw();
    for (const again of [event, original, { ...event, timestamp: original.timestamp }]) {
      expect(await sessions.append({ session: REFERENCE, event: again })).toEqual({ event: original, duplicate: true });
    }
    const others = [
      { ...event, timestamp: original.timestamp + 1 },
      { ...original, author: 'agent' },
    ];
    for (const other of others) {
      await expectRefusal(sessions.appendEvent({ session, event: other }), 'EVENT_CONFLICT', { eventId: 'e1', seq: 1 });
    }
    expect(await raw()).toEqual(before);
  });

  test('an invocation is rewound if its beginning is retained, and refused if it may be trimmed', async ({ open }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 1, keepHistory: false } });
    const session = await sessionWith(sessions);
    // The view begins with the answer of the agent, since no event before it is young enough.
    const says = async (event: EventInput) => sessions.appendEvent({ session, event: { timestamp: 1, ...event } });
    for (let index = 0; index < 62; index++) await says(agentSays(`a${index}`, { invocationId: 'long' }));
    for (const text of ['begins', 'goes on'])
      await sessions.appendEvent({ session, event: agentSays(text, { invocationId: 'long' }) });
    await sessions.whenIdle();
    const { firstSeq } = await sessions.listEvents(KEY);
    expect(firstSeq).toBe(63);
    const refused = sessions.rewindSession({ ...KEY, invocationId: 'long' });
    await expectRefusal(refused, 'INVALID_INPUT', { path: 'invocationId' });
    await appendAll(sessions, [userSays('u65', { invocationId: 'next' }), agentSays('a66', { invocationId: 'next' })]);
    expect(shown(await sessions.rewindSession({ ...KEY, invocationId: 'next' }))).toEqual(['begins', 'goes on']);
  });

  test('a view does not depend on keepHistory', async ({ open }) => {
    const kept = await open({ history: { maxEvents: 5, keepHistory: true } });
    const trimmed = await open(KEEP_FIVE);
    const [a, b] = [await sessionWith(kept.sessions), await sessionWith(trimmed.sessions)];
    for (const count of [63, 1, 1, 62, 2, 7]) {
      await append(kept.sessions, a, count);
      await append(trimmed.sessions, b, count);
      expect(await view(trimmed.sessions)).toEqual(await view(kept.sessions));
      expect(shown(b)).toEqual(shown(a));
      expect((await load(trimmed.sessions)).conversationCount).toBe(a.conversationCount);
    }
  });

  test('the anchor before a view is retained with all events after it', async ({ open }) => {
    const { sessions } = await open(KEEP_FIVE);
    const session = await sessionWith(sessions, turns('u', 'a', 'u'));
    for (let index = 0; index < MANY; index++) {
      await sessions.appendEvent({ session, event: agentSays(`x${index}`) });
    }
    await sessions.whenIdle();
    expect((await view(sessions))[0]).toBe('u3');
    expect((await sessions.listEvents(KEY)).firstSeq).toBe(3);
  });

  test('state stays when its events are trimmed', async ({ open }) => {
    const { sessions } = await open(KEEP_FIVE);
    const session = await sessions.createSession({ ...KEY, state: { initial: 1, gone: 1 } });
    const actions = { stateDelta: { k: 1, 'user:k': 2, 'app:k': 3 }, stateRemovals: ['gone'] };
    await sessions.appendEvent({ session, event: userSays('one', { actions }) });
    await append(sessions, session, MANY);
    const expected = { initial: 1, k: 1, 'user:k': 2, 'app:k': 3 };
    expect((await load(sessions)).state.toRecord()).toEqual(expected);
  });

  test('ids of trimmed events stay known', async ({ open }) => {
    const { sessions } = await open(KEEP_FIVE);
    const event = userSays('one', { id: 'e1', timestamp: 1_700_000_000_000 });
    const session = await sessionWith(sessions, [event]);
    const [original] = await wholeLog(sessions);
    await append(sessions, session, MANY);
    expect((await sessions.listEvents(KEY)).firstSeq).toBeGreaterThan(1);
    expect(await sessions.append({ session, event })).toEqual({ event: original, duplicate: true });
    const other = { ...event, author: 'agent' };
    await expectRefusal(sessions.appendEvent({ session, event: other }), 'EVENT_CONFLICT', { eventId: 'e1', seq: 1 });
  });

  test('a stored rewind is a duplicate after its target was trimmed', async ({ open }) => {
    const { sessions } = await open(KEEP_FIVE);
    const rewind = { ...rewindTo(2), id: 'rewind' };
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u'), rewind]);
    await append(sessions, session, MANY);
    expect(await sessions.append({ session: REFERENCE, event: rewind })).toMatchObject({
      duplicate: true,
      event: { seq: 4, actions: { rewind: { toSeq: 2 } } },
    });
  });

  test('a rewind to before the first retained event is refused', async ({ open }) => {
    const { sessions } = await open(KEEP_FIVE);
    await append(sessions, await sessionWith(sessions), MANY);
    const { firstSeq } = await sessions.listEvents(KEY);
    const append1 = sessions.appendEvent({ session: REFERENCE, event: rewindTo(firstSeq - 2) });
    await expectRefusal(append1, 'INVALID_INPUT', { path: '$.actions.rewind.toSeq' });
    await appendAll(sessions, [rewindTo(firstSeq)]);
    expect(await view(sessions)).toEqual([`x${firstSeq}`]);
  });

  test('events that the current summary covers are retained', async ({ open }) => {
    const { sessions } = await open(KEEP_FIVE);
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u'), createSummaryEvent(1, 3)]);
    await append(sessions, session, MANY);
    expect((await sessions.listEvents(KEY)).firstSeq).toBe(1);
    await appendAll(sessions, [rewindTo(3)]);
    expect(await view(sessions)).toEqual(['u1', 'a2', 'u3']);
  });

  test('events that the previous summary covers are removed', async ({ open }) => {
    const { sessions, raw } = await open(KEEP_FIVE);
    const session = await sessionWith(sessions, [userSays('canary'), ...turns('a', 'u', 'a')]);
    await append(sessions, session, 36);
    await appendAll(sessions, [createSummaryEvent(1, 30, 'first')]);
    await append(sessions, session, 60);
    expect((await sessions.listEvents(KEY)).firstSeq).toBe(1);
    await appendAll(sessions, [createSummaryEvent(1, 90, 'second')]);
    await append(sessions, session, MANY);
    expect((await sessions.listEvents(KEY)).firstSeq).toBe(31);
    expect((await raw()).text).not.toContain('canary');
    expect((await view(sessions))[0]).toBe('second');
    await appendAll(sessions, [rewindTo(100)]);
    expect((await view(sessions))[0]).toBe('first');
  });

  test('a call without a response is retained, with the message of the user before it', async ({ open }) => {
    const { sessions } = await open(KEEP_FIVE);
    const session = await sessionWith(sessions);
    await append(sessions, session, 50);
    await appendAll(sessions, [userSays('u51'), toolCalls('t')]);
    await append(sessions, session, 12);
    await append(sessions, await load(sessions), 3);
    await appendAll(sessions, [toolAnswers('t')]);
    expect((await sessions.listEvents(KEY)).firstSeq).toBe(51);
    const read = await view(sessions);
    expect([...read.slice(0, 2), read.at(-1)]).toEqual(['u51', 'call:t', 'answer:t']);
  });

  test('without any limit on the view nothing is removed', async ({ open }) => {
    const { sessions } = await open({ history: { keepHistory: false, numRecentEvents: 3 } });
    await append(sessions, await sessionWith(sessions), MANY);
    expect((await sessions.listEvents(KEY)).firstSeq).toBe(1);
  });

  test('events that are too old for the view are removed as well', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 10, keepHistory: false } });
    const session = await sessionWith(sessions, turns('a', 'a', 'a'));
    clock.advanceSeconds(11);
    await append(sessions, session, 61);
    expect((await sessions.listEvents(KEY)).firstSeq).toBe(4);
  });
});
