import type { EventInput, LoggedEvent } from '../../sessions/domain/event/event.js';
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
  wholeLog,
} from './support.js';

const EVENT = userSays('hello', { id: 'e1', actions: { stateDelta: { k: 1, 'user:k': 1 } } });

export const idempotency = topic<ServiceFixture>('duplicate events', (test) => {
  test('a repeated event returns the original and changes nothing', async ({ open, clock }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const original = await sessions.appendEvent({ session, event: EVENT });
    await appendAll(sessions, [agentSays('two', { actions: { stateDelta: { k: 2, 'user:k': 2 } } })]);
    clock.advance(1000);
    const before = await raw();
    expect(await sessions.appendEvent({ session, event: EVENT })).toEqual(original);
    expect(await sessions.append({ session: REFERENCE, event: EVENT })).toEqual({ event: original, duplicate: true });
    expect(await raw()).toEqual(before);
    expect((await load(sessions)).state.toRecord()).toEqual({ k: 2, 'user:k': 2 });
  });

  test('the first append of an event is no duplicate', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    expect(await sessions.append({ session: REFERENCE, event: EVENT })).toMatchObject({
      duplicate: false,
      event: { seq: 1 },
    });
  });

  test('the session object shows a repeated event once', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [EVENT, EVENT]);
    await sessions.appendEvent({ session, event: agentSays('two') });
    await sessions.appendEvent({ session, event: EVENT });
    expect(shown(session)).toEqual(['hello', 'two']);
    expect(session).toMatchObject({ version: 2, conversationCount: 1 });
  });

  test('a repeated append adds the event to an object that lacks it', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const [original] = await appendAll(sessions, [EVENT]);
    expect(await sessions.appendEvent({ session, event: EVENT })).toEqual(original);
    expect(session).toMatchObject({ version: 1, events: [original], conversationCount: 1 });
    expect(session.state.toRecord()).toEqual({ k: 1, 'user:k': 1 });
  });

  test('key order, temp: keys, seq and generated fields do not distinguish events', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, [EVENT]);
    const before = await raw();
    const { actions, content, author, id } = EVENT;
    const same = [
      { content, author, id, actions, seq: 77 },
      { ...EVENT, invocationId: '' },
      { ...EVENT, branch: undefined },
      { ...EVENT, actions: { stateDelta: { 'user:k': 1, 'temp:t': 5, k: 1 }, stateRemovals: ['temp:u'] } },
    ];
    for (const event of same) {
      expect(await sessions.append({ session, event })).toMatchObject({ duplicate: true, event: { seq: 1 } });
    }
    expect(await raw()).toEqual(before);
    expect(session.state.get('temp:t')).toBe(5);
  });

  test('an event sent again as the store returned it is a duplicate', async ({ open, clock }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const events = [
      userSays('without timestamp'),
      userSays('with timestamp', { timestamp: 1_700_000_000_123 }),
      userSays('in seconds', { timestamp: 1_700_000_000 }),
      userSays('of 1970', { timestamp: 5 }),
      agentSays('temp', { actions: { stateDelta: { k: 1, 'temp:t': 2 }, stateRemovals: ['b', 'a'] } }),
      { ...agentSays('nulls'), branch: null, errorCode: null } as unknown as EventInput,
      createSummaryEvent(1, 2),
      rewindTo(5),
    ];
    const returned = [];
    for (const event of events) {
      clock.advance(1000);
      returned.push(await sessions.appendEvent({ session, event }));
    }
    session.state.set('saved', [1]);
    returned.push(await sessions.updateSession(session));
    clock.advance(1000);
    const before = await raw();
    for (const event of [...returned, ...(await wholeLog(sessions)), ...session.events]) {
      const copy = JSON.parse(JSON.stringify(event)) as LoggedEvent;
      expect(await sessions.append({ session: REFERENCE, event: copy })).toEqual({ event: copy, duplicate: true });
    }
    expect(await raw()).toEqual(before);
  });

  test('a timestamp is compared only if the caller set it', async ({ open, clock }) => {
    const { sessions } = await open();
    const timestamp = 1_700_000_000_000;
    const session = await sessionWith(sessions, [userSays('filled in', { id: 'e1' })]);
    const { timestamp: filledIn = 0 } = session.events[0] ?? {};
    await sessions.appendEvent({ session, event: userSays('given', { id: 'e2', timestamp }) });
    clock.advance(1000);
    const same = [
      userSays('filled in', { id: 'e1', timestamp: filledIn }),
      userSays('given', { id: 'e2' }),
      userSays('given', { id: 'e2', timestamp: timestamp / 1000 }),
    ];
    for (const event of same) expect(await sessions.append({ session, event })).toMatchObject({ duplicate: true });
    const others = [
      userSays('filled in', { id: 'e1', timestamp: clock.now() }),
      userSays('given', { id: 'e2', timestamp: timestamp + 1 }),
    ];
    for (const event of others) await expectRefusal(sessions.appendEvent({ session, event }), 'EVENT_CONFLICT');
  });

  test('the same id with different content is a conflict', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, [EVENT]);
    const before = await raw();
    const others = [
      { ...EVENT, author: 'agent' },
      { ...EVENT, unknown: 1 },
      { ...EVENT, actions: { stateDelta: { k: 1, 'user:k': 2 } } },
      { ...EVENT, actions: { ...EVENT.actions, stateRemovals: ['z'] } },
      { ...userSays('other'), id: 'e1' },
      { ...createSummaryEvent(1, 1), id: 'e1' },
      { ...rewindTo(1), id: 'e1' },
    ];
    for (const event of others) {
      await expectRefusal(sessions.appendEvent({ session, event }), 'EVENT_CONFLICT', { eventId: 'e1', seq: 1 });
    }
    expect(await raw()).toEqual(before);
    expect(session.version).toBe(1);
  });

  test('a repeated event is found before its expected version is checked', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    await sessions.appendEvent({ session, event: EVENT, expectedVersion: 0 });
    await appendAll(sessions, [agentSays('two')]);
    expect(await sessions.append({ session, event: EVENT, expectedVersion: 0 })).toMatchObject({ duplicate: true });
    const other = { ...EVENT, author: 'agent' };
    await expectRefusal(sessions.appendEvent({ session, event: other, expectedVersion: 0 }), 'EVENT_CONFLICT');
  });

  test('concurrent repetitions are applied once, and all return the same event', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions);
    const results = await Promise.all(times(8, async () => sessions.append({ session: REFERENCE, event: EVENT })));
    expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    for (const { event } of results) expect(event).toEqual(results[0]?.event);
    expect((await raw()).events).toBe(1);
  });

  test('event ids are unique within a session only', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [EVENT]);
    const other = await sessions.createSession({ ...KEY, sessionId: 's-2' });
    const event = { ...agentSays('elsewhere'), id: 'e1' };
    expect(await sessions.append({ session: other, event })).toMatchObject({ duplicate: false, event: { seq: 1 } });
  });

  test('ids of rewound and summarised events stay known', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [EVENT, ...turns('a', 'u'), createSummaryEvent(1, 3), rewindTo(0)]);
    expect(await sessions.append({ session: REFERENCE, event: EVENT })).toMatchObject({
      duplicate: true,
      event: { seq: 1 },
    });
    await expectRefusal(
      sessions.appendEvent({ session: REFERENCE, event: { ...EVENT, author: 'agent' } }),
      'EVENT_CONFLICT',
    );
  });

  test('a repeated summary or rewind is stored once', async ({ open }) => {
    const { sessions } = await open();
    const rewind = { ...rewindTo(1), id: 'rewind' };
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u'), createSummaryEvent(1, 2), rewind]);
    for (const event of [createSummaryEvent(1, 2), rewind]) {
      expect(await sessions.append({ session, event })).toMatchObject({ duplicate: true });
    }
    expect(await wholeLog(sessions)).toHaveLength(5);
    expect(session.version).toBe(5);
  });
});
