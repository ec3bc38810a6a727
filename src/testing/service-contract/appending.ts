import { Event, type EventInput } from '../../sessions/domain/event/event.js';
import { topic } from '../contract-runner.js';
import {
  REFERENCE,
  type ServiceFixture,
  agentSays,
  appendAll,
  expectRefusal,
  load,
  sessionWith,
  shown,
  times,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

export const appending = topic<ServiceFixture>('appendEvent', (test) => {
  test('events are numbered 1, 2, 3 across session objects', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a'));
    const [third] = await appendAll(sessions, [userSays('u3')]);
    const fourth = await sessions.appendEvent({ session, event: agentSays('a4') });
    expect([third?.seq, fourth.seq]).toEqual([3, 4]);
    expect((await wholeLog(sessions)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(await view(sessions)).toEqual(['u1', 'a2', 'u3', 'a4']);
  });

  test('concurrent appends leave no gap and lose no event', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const stored = await Promise.all(
      times(20, async (index) => sessions.appendEvent({ session: REFERENCE, event: agentSays(`a${index}`) })),
    );
    const seqs = stored.map(({ seq }) => seq).sort((a, b) => a - b);
    expect(seqs).toEqual(times(20, (index) => index + 1));
    const log = await wholeLog(sessions);
    for (const event of stored) expect(log[event.seq - 1]).toEqual(event);
  });

  test('all readers get the stored event', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const stored = await sessions.appendEvent({ session, event: userSays('hello', { id: 'e1', branch: 'b' }) });
    expect(stored).toMatchObject({ ...userSays('hello'), id: 'e1', branch: 'b', seq: 1 });
    expect((await load(sessions)).events).toEqual([stored]);
    expect(await wholeLog(sessions)).toEqual([stored]);
    expect(session.events).toEqual([stored]);
  });

  test('missing id, timestamp and invocation id are generated', async ({ open, clock }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    clock.advance(77);
    const [first, second] = await appendAll(sessions, [userSays('one'), userSays('two')]);
    expect(first).toMatchObject({ timestamp: clock.now(), invocationId: '', actions: { stateDelta: {} } });
    expect(first?.id).toMatch(/^\S{16,}$/);
    expect(first?.id).not.toBe(second?.id);
  });

  test('a timestamp in seconds is converted', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const stored = await appendAll(sessions, [
      userSays('seconds', { timestamp: 1_700_000_000.123 }),
      userSays('milliseconds', { timestamp: 1_700_000_000_123 }),
      userSays('least milliseconds', { timestamp: 1e11 }),
      userSays('most seconds', { timestamp: 1e11 - 1 }),
    ]);
    expect(stored.map(({ timestamp }) => timestamp)).toEqual([
      1_700_000_000_123, 1_700_000_000_123, 1e11, 99_999_999_999_000,
    ]);
    expect((await wholeLog(sessions)).map(({ timestamp }) => timestamp)).toEqual(
      stored.map(({ timestamp }) => timestamp),
    );
  });

  test('the store assigns the number of an event, not the caller', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const [stored] = await appendAll(sessions, [Object.assign(userSays('one'), { seq: 99 })]);
    expect(stored?.seq).toBe(1);
    expect((await wholeLog(sessions)).map(({ seq }) => seq)).toEqual([1]);
  });

  test('a partial event is returned unchanged, and nothing is stored', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const before = await raw();
    const event = agentSays('hal', { partial: true, actions: { stateDelta: { k: 1, 'temp:k': 1 } } });
    const copy = structuredClone(event);
    expect(await sessions.appendEvent({ session, event })).toBe(event);
    expect(event).toEqual(copy);
    expect(session).toMatchObject({ version: 0, events: [] });
    expect(session.state.toRecord()).toEqual({});
    expect(await raw()).toEqual(before);
  });

  test('neither appendEvent nor appendEvents stores a partial event', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const before = await raw();
    const event = agentSays('hal', { partial: true });
    await sessions.append({ session, event }).catch(() => undefined);
    expect(await raw()).toEqual(before);
  });

  test('an event without content is an event', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    await appendAll(sessions, [
      { author: 'agent' },
      { author: 'agent', content: null },
      { author: 'user', content: { role: 'user' } },
    ]);
    expect((await wholeLog(sessions)).map(({ content }) => content)).toEqual([undefined, null, { role: 'user' }]);
    expect((await load(sessions)).conversationCount).toBe(0);
  });

  test('an event without author is refused', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const before = await raw();
    const { content } = userSays('hello');
    const nobodys = [
      {},
      { event: userSays('hello') },
      { content },
      { content, author: ' ' },
      { id: 'e1', author: null },
    ];
    for (const event of nobodys as EventInput[]) {
      await expectRefusal(sessions.appendEvent({ session, event }), 'INVALID_INPUT', { path: '$.author' });
    }
    expect(await raw()).toEqual(before);
    expect(session).toMatchObject({ version: 0, events: [] });
  });

  test('an instance of Event is accepted like a plain object', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const event = new Event({ ...userSays('hello'), actions: { stateDelta: { k: 1 }, stateRemovals: ['gone'] } });
    const stored = await sessions.appendEvent({ session, event });
    const plain = JSON.parse(JSON.stringify(event)) as Record<string, unknown>;
    expect(stored).toEqual({ ...plain, seq: 1 });
    expect((await load(sessions)).events).toEqual([stored]);
  });

  test('a refused event leaves store and session object as they were', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, turns('u'));
    const before = await raw();
    const bad = userSays('bad', { actions: { stateDelta: { ok: 1, 'temp:ok': 1, bad: NaN } } });
    await expectRefusal(sessions.appendEvent({ session, event: bad }), 'INVALID_INPUT', {
      path: '$.actions.stateDelta.bad',
    });
    expect(await raw()).toEqual(before);
    expect(shown(session)).toEqual(['u1']);
    expect(session.state.toRecord()).toEqual({});
    expect(session.version).toBe(1);
  });

  test('an append to a session that never existed is refused', async ({ open }) => {
    const { sessions, raw } = await open();
    const before = await raw();
    await expectRefusal(sessions.appendEvent({ session: REFERENCE, event: userSays('one') }), 'SESSION_NOT_FOUND');
    expect(await raw()).toEqual(before);
  });

  test('lastUpdateTime is the time of the append, and never decreases', async ({ open, clock }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    clock.advance(1000);
    const reached = clock.now();
    await sessions.appendEvent({ session, event: userSays('one', { timestamp: reached + 5_000 }) });
    expect([session.lastUpdateTime, (await load(sessions)).lastUpdateTime]).toEqual([reached, reached]);
    clock.advance(-60_000);
    await sessions.appendEvent({ session, event: userSays('two') });
    expect([session.lastUpdateTime, (await load(sessions)).lastUpdateTime]).toEqual([reached, reached]);
    expect((await load(sessions)).createTime).toBe(reached - 1000);
  });

  test('conversationCount counts user events with text', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [
      userSays('one'),
      agentSays('two'),
      userSays('three', { author: 'User' }),
      userSays(''),
      { author: 'user', content: { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: '' } }] } },
      { author: 'user', actions: { stateDelta: { k: 1 } } },
    ]);
    expect(session.conversationCount).toBe(2);
    expect((await load(sessions)).conversationCount).toBe(2);
  });
});
