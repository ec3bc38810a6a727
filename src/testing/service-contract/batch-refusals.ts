import type { EventInput } from '../../sessions/domain/event/event.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  agentSays,
  appendAll,
  changing,
  expectRefusal,
  load,
  rewindTo,
  sessionWith,
  shown,
  createSummaryEvent,
  turns,
  userSays,
  view,
} from './support.js';

const FIRST = userSays('one', { id: 'e1', actions: { stateDelta: { k: 1, 'user:k': 1 } } });
const SECOND = agentSays('two', { id: 'e2', actions: { stateDelta: { k: 2 }, stateRemovals: ['user:k'] } });
const BATCH = [FIRST, SECOND];

/** An event that no session has yet, with changes that must not be seen. */
function unknownEvent(id: string): EventInput {
  return changing(id, { k: 9, 'app:k': 9, 'user:k': 9, 'temp:t': 9 });
}

function longEvent(id: string): EventInput {
  return userSays('x'.repeat(400), { id });
}

/** An event that sets these keys and removes another one. */
function settingKeys(id: string, ...names: string[]): EventInput {
  return changing(id, Object.fromEntries(names.map((name) => [name, 1])), 'gone');
}

export const batchRefusals = topic<ServiceFixture>('repeated and refused batches', (test) => {
  test('a repeated batch returns the originals and changes nothing', async ({ open, clock }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const originals = await sessions.appendEvents({ session, events: BATCH, expectedVersion: 0 });
    await appendAll(sessions, [changing('e3', { k: 3, 'user:k': 3 })]);
    clock.advance(1000);
    const before = await raw();
    const again = { events: originals, duplicate: true };
    expect(await sessions.appendBatch({ session, events: BATCH, expectedVersion: 0 })).toEqual(again);
    expect(await sessions.appendBatch({ session: REFERENCE, events: BATCH })).toEqual(again);
    expect(await sessions.appendBatch({ session: REFERENCE, events: originals })).toEqual(again);
    expect(await sessions.appendEvent({ session, event: SECOND })).toEqual(originals[1]);
    expect(await raw()).toEqual(before);
    const fresh = await load(sessions);
    expect(await sessions.appendBatch({ session: fresh, events: BATCH })).toEqual(again);
    expect(fresh.state.toRecord()).toEqual({ k: 3, 'user:k': 3 });
    expect(shown(session)).toEqual(['one', 'two']);
    expect(session).toMatchObject({ version: 2, conversationCount: 1 });
  });

  test('a repeated batch adds the events to an object that lacks them', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const events = await sessions.appendEvents({ session: REFERENCE, events: BATCH });
    expect(await sessions.appendEvents({ session, events: BATCH })).toEqual(events);
    expect(session).toMatchObject({ version: 2, events, conversationCount: 1 });
    expect(session.state.toRecord()).toEqual({ k: 2 });
  });

  test('a batch of events that were appended one by one is a duplicate', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const [first, , second] = await appendAll(sessions, [FIRST, agentSays('between'), SECOND]);
    const again = await sessions.appendBatch({ session: REFERENCE, events: [SECOND, FIRST] });
    expect(again).toEqual({ events: [second, first], duplicate: true });
  });

  test('a batch with only some stored events is a conflict, and writes nothing', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, [FIRST, SECOND]);
    const before = await raw();
    const conflicts: [events: EventInput[], eventId: string, seq: number][] = [
      [[FIRST, unknownEvent('new')], 'e1', 1],
      [[unknownEvent('new'), SECOND], 'e2', 2],
      [[unknownEvent('new'), SECOND, FIRST, unknownEvent('other')], 'e2', 2],
      [[unknownEvent('new'), { ...SECOND, author: 'other' }], 'e2', 2],
      [[FIRST, { ...SECOND, author: 'other' }], 'e2', 2],
      [
        [
          { ...SECOND, author: 'other' },
          { ...FIRST, author: 'other' },
        ],
        'e2',
        2,
      ],
    ];
    for (const [events, eventId, seq] of conflicts) {
      await expectRefusal(sessions.appendEvents({ session, events, expectedVersion: 0 }), 'EVENT_CONFLICT', {
        eventId,
        seq,
      });
    }
    expect(await raw()).toEqual(before);
    expect(session.version).toBe(2);
    expect(session.state.toRecord()).toEqual({ k: 2 });
    expect(await sessions.appendEvents({ session, events: [unknownEvent('new')] })).toMatchObject([{ seq: 3 }]);
  });

  test('a stale batch writes nothing, and summaries do not make it stale', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, turns('u', 'a'));
    const stale = await load(sessions);
    await appendAll(sessions, [agentSays('other')]);
    const before = await raw();
    const batch = sessions.appendEvents({ session: stale, events: BATCH, expectedVersion: 2 });
    await expectRefusal(batch, 'STALE_SESSION', { currentVersion: 3 });
    expect(await raw()).toEqual(before);
    expect(stale.version).toBe(2);
    await appendAll(sessions, [createSummaryEvent(1, 2)]);
    expect(await sessions.appendEvents({ session, events: BATCH, expectedVersion: 3 })).toMatchObject([
      { seq: 5 },
      { seq: 6 },
    ]);
  });

  test('a batch to a missing session is refused', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    await sessions.deleteSession(KEY);
    await expectRefusal(sessions.appendEvents({ session, events: BATCH }), 'SESSION_NOT_FOUND');
    await sessions.createSession(KEY);
    await expectRefusal(sessions.appendEvents({ session, events: BATCH }), 'SESSION_NOT_FOUND');
    expect(await sessions.appendEvents({ session: REFERENCE, events: BATCH })).toHaveLength(2);
  });

  test('the whole batch is checked before the write, and an error names the event', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, turns('u', 'a'));
    const before = await raw();
    const wrong: [event: unknown, path: string][] = [
      [null, '$.events[1]'],
      ['text', '$.events[1]'],
      [{ author: '' }, '$.events[1].author'],
      [{ author: 'a', id: ' x' }, '$.events[1].id'],
      [{ author: 'a', actions: { stateDelta: { k: [Number.NaN] } } }, '$.events[1].actions.stateDelta.k[0]'],
      [{ author: 'a', content: { parts: ['text'] } }, '$.events[1].content.parts[0]'],
      [{ ...FIRST }, '$.events[1].id'],
      [createSummaryEvent(1, 1), '$.events[1].actions.compaction'],
      [rewindTo(1), '$.events[1].actions.rewind'],
    ];
    for (const [event, path] of wrong) {
      const events = [FIRST, event, agentSays('last')] as EventInput[];
      await expectRefusal(sessions.appendEvents({ session, events }), 'INVALID_INPUT', { path });
    }
    expect(await raw()).toEqual(before);
    expect(session.version).toBe(2);
  });

  test('a summary cannot be in a batch with other events, and a rewind not after them', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    await sessions.appendEvents({ session, events: [createSummaryEvent(1, 2)] });
    expect(shown(session)).toEqual(['summary to 2', 'u3', 'a4']);
    await sessions.appendEvents({ session, events: [{ partial: true }, rewindTo(3)] });
    expect(shown(session)).toEqual(await view(sessions));
    expect(session.version).toBe(6);
  });

  test('a rewind may begin a batch, so that the others replace what it hides', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    const events = [{ ...rewindTo(2), id: 'r' }, userSays('again', { id: 'n' }), agentSays('answer', { id: 'o' })];
    const stored = await sessions.appendEvents({ session, events, expectedVersion: 4 });
    expect(stored.map(({ seq }) => seq)).toEqual([5, 6, 7]);
    expect(await view(sessions)).toEqual(['u1', 'a2', 'again', 'answer']);
    expect(shown(session)).toEqual(['u1', 'a2', 'again', 'answer']);
    expect(await load(sessions)).toMatchObject({ version: 7, conversationCount: 2 });
    expect(await sessions.appendBatch({ session: REFERENCE, events })).toEqual({ events: stored, duplicate: true });
    const stale = sessions.appendEvents({ session, events: [rewindTo(1), userSays('late')], expectedVersion: 4 });
    await expectRefusal(stale, 'STALE_SESSION', { currentVersion: 7 });
    await sessions.append({ session, event: createSummaryEvent(1, 2), expectedMarksSeq: 5 });
    expect(await view(sessions)).toEqual(['summary to 2', 'again', 'answer']);
    await sessions.rewindSession({ ...KEY, toSeq: 6 });
    expect(await view(sessions)).toEqual(['u1', 'a2', 'again']);
    await sessions.rewindSession({ ...KEY, toSeq: 4 });
    expect(await view(sessions)).toEqual(['u1', 'a2', 'u3', 'a4']);
    expect(await load(sessions)).toMatchObject({ version: 10, conversationCount: 2 });
  });

  test('number, size and keys of a batch are limited', async ({ open }) => {
    const { sessions, raw } = await open({ limits: { maxBatchEvents: 3, maxBatchBytes: 1_300, maxBatchDeltaKeys: 4 } });
    const session = await sessionWith(sessions);
    const before = await raw();
    const tooMuch: [events: EventInput[], path: string][] = [
      [turns('u', 'a', 'u', 'a'), '$.events'],
      [[longEvent('a'), longEvent('b'), longEvent('c')], '$.events[2]'],
      [[settingKeys('a', 'k', 'l'), settingKeys('b', 'temp:k')], '$.events[1]'],
    ];
    for (const [events, path] of tooMuch) {
      await expectRefusal(sessions.appendEvents({ session, events }), 'LIMIT_EXCEEDED', { path });
    }
    expect(await raw()).toEqual(before);
    await sessions.appendEvents({ session, events: [longEvent('a'), longEvent('b'), settingKeys('c', 'k', 'l', 'm')] });
    await sessions.appendEvents({ session, events: [userSays('x'.repeat(2_000)), { partial: true }] });
    await sessions.appendEvents({ session, events: [settingKeys('d', 'k', 'l', 'm', 'n', 'o')] });
    expect(session.version).toBe(5);
  });
});
