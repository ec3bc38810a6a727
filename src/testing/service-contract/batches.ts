import type { EventInput } from '../../sessions/domain/event/event.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  USER,
  agentSays,
  changing,
  expectRefusal,
  load,
  sessionWith,
  shown,
  times,
  toolAnswers,
  toolCalls,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

const FIRST = userSays('one', { id: 'e1', actions: { stateDelta: { k: 1, 'user:k': 1 } } });
const SECOND = agentSays('two', { id: 'e2', actions: { stateDelta: { k: 2 }, stateRemovals: ['user:k'] } });

/** Three events with ids that no other batch has. */
function createEventBatch(index: number): EventInput[] {
  return times(3, (part) => changing(`${index}.${part}`, { [`k${index}`]: part, last: index }));
}

export const batches = topic<ServiceFixture>('several events in one append', (test) => {
  test('events appended together have consecutive numbers, and each is returned as it is stored', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [userSays('before')]);
    const stored = await sessions.appendEvents({ session, events: turns('u', 'a', 'a') });
    expect(stored.map(({ seq }) => seq)).toEqual([2, 3, 4]);
    expect(await wholeLog(sessions)).toEqual([...session.events.slice(0, 1), ...stored]);
    expect(shown(session)).toEqual(['before', 'u1', 'a2', 'a3']);
    expect(session).toMatchObject({ version: 4, conversationCount: 2 });
    await sessions.appendEvent({ session, event: agentSays('after'), expectedVersion: 4 });
  });

  test('after a batch, an object has the view of a new reader', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 4 } });
    const session = await sessionWith(sessions, turns('u', 'a', 'u', 'a', 'u'));
    const older = await load(sessions);
    const batch = [toolCalls('c'), agentSays('meanwhile'), toolAnswers('c'), agentSays('done'), changing('', { k: 1 })];
    for (const object of [session, older]) {
      await sessions.appendEvents({ session: object, events: batch.map((event) => ({ ...event })) });
    }
    expect(shown(older)).toEqual(await view(sessions));
    const fresh = await load(sessions);
    const { events, state, version, conversationCount, lastUpdateTime } = fresh;
    expect(older).toMatchObject({ events, conversationCount, lastUpdateTime });
    expect(older.state.toRecord()).toEqual(state.toRecord());
    expect(version).toBe(15);
  });

  test('state changes are applied in the order of the events', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({
      ...KEY,
      state: { gone: 1, back: 1, 'app:gone': 1, 'user:back': 1 },
    });
    const events = [
      changing('e1', { twice: 1, gone: 2, 'app:gone': 2, short: 1, 'user:short': 1 }, 'back'),
      changing('e2', { twice: { b: 1, a: [] }, back: 2, 'app:new': null }, 'gone', 'user:back', 'never there'),
      changing('e3', { 'user:back': 3 }, 'app:gone', 'short', 'user:short'),
    ];
    await sessions.appendEvents({ session, events });
    const expected = { twice: { b: 1, a: [] }, back: 2, 'app:new': null, 'user:back': 3 };
    expect((await load(sessions)).state.toRecord()).toEqual(expected);
    expect(session.state.toRecord()).toEqual(expected);
    expect(await sessions.getUserState(USER)).toEqual({ back: 3 });
    expect(await sessions.getAppState(USER)).toEqual({ new: null });
    const log = await wholeLog(sessions);
    expect(log.map(({ actions }) => actions.stateDelta)).toEqual(events.map(({ actions }) => actions?.stateDelta));
  });

  test('temp: keys are applied to the object only, in the order of the events', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const stored = await sessions.appendEvents({
      session,
      events: [
        changing('e1', { 'temp:a': 'secret 1', 'temp:b': 'secret 2' }),
        changing('e2', { 'temp:a': 'secret 3', k: 1 }, 'temp:b'),
      ],
    });
    expect(session.state.toRecord()).toEqual({ k: 1, 'temp:a': 'secret 3' });
    expect(stored.map(({ actions }) => actions.stateDelta)).toEqual([{}, { k: 1 }]);
    expect((await raw()).text).not.toContain('secret');
  });

  test('partial events are returned unchanged in their place, and not stored', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const partial: EventInput = { partial: true, actions: { stateDelta: { 'temp:t': 1, k: 1 } } };
    const stored = await sessions.appendEvents({ session, events: [partial, FIRST, partial, SECOND] });
    expect([stored[0], stored[2]]).toEqual([partial, partial]);
    expect(stored.map(({ seq }) => seq)).toEqual([undefined, 1, undefined, 2]);
    expect(session.state.toRecord()).toEqual({ k: 2 });
    expect((await raw()).events).toBe(2);
    expect(await sessions.appendBatch({ session, events: [partial] })).toEqual({ events: [partial], duplicate: false });
    expect(session.version).toBe(2);
  });

  test('an empty batch appends nothing, but its session and its version are checked', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, [FIRST]);
    const before = await raw();
    expect(await sessions.appendEvents({ session, events: [] })).toEqual([]);
    expect(await sessions.appendEvents({ session, events: [], expectedVersion: 7 })).toEqual([]);
    expect(await raw()).toEqual(before);
    const wrong = [
      { session: { ...REFERENCE, id: ' ' }, events: [] },
      { session, events: [], expectedVersion: -1 },
      { session, events: undefined },
      { session, events: FIRST },
    ];
    for (const request of wrong) await expectRefusal(sessions.appendEvents(request as never), 'INVALID_INPUT');
  });

  test('concurrent batches are not interleaved, and the same batch is stored once', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const results = await Promise.all(
      times(12, async (index) => sessions.appendBatch({ session, events: createEventBatch(index >> 1) })),
    );
    expect(results.filter(({ duplicate }) => duplicate)).toHaveLength(6);
    const log = await wholeLog(sessions);
    expect(log.map(({ seq }) => seq)).toEqual(times(18, (index) => index + 1));
    const order = times(6, (index) => Number.parseInt(log[3 * index]?.id ?? '', 10));
    expect(log.map(({ id }) => id)).toEqual(order.flatMap((index) => createEventBatch(index).map(({ id }) => id)));
    expect(session.state.toRecord()).toEqual((await load(sessions)).state.toRecord());
    expect(session.state.get('last')).toBe(order.at(-1));
    expect(session.events.map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq));
  });

  test('a watch delivers each event of a batch', async ({ open }) => {
    const { sessions } = await open({ watchPollMs: 20 });
    const session = await sessionWith(sessions, turns('u'));
    const watch = sessions.watch({ ...KEY, afterSeq: 1 });
    const first = watch.next();
    const stored = await sessions.appendEvents({ session, events: turns('a', 'a', 'u') });
    const seen = [(await first).value];
    while (seen.length < stored.length) seen.push((await watch.next()).value);
    await watch.return?.();
    expect(seen).toEqual(stored);
  });
});
