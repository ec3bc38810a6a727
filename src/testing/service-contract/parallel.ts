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
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

export const parallel = topic<ServiceFixture>('parallel appends through one object', (test) => {
  test('after parallel appends, an object equals what a new reader gets', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    await Promise.all(
      times(12, async (index) =>
        sessions.appendEvent({
          session,
          event: userSays(`u${index}`, { actions: { stateDelta: { last: index, [`k${index}`]: index } } }),
        }),
      ),
    );
    const read = await load(sessions);
    expect(session.events).toEqual(read.events);
    expect(session.state.toRecord()).toEqual(read.state.toRecord());
    const { version, conversationCount, lastUpdateTime } = read;
    expect(session).toMatchObject({ version, conversationCount, lastUpdateTime });
    expect(version).toBe(12);
  });

  test('the event with the highest number decides each key, for sets and removals', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    await Promise.all(
      times(12, async (index) =>
        sessions.appendEvent({
          session,
          event: agentSays(`a${index}`, {
            actions: index % 2 ? { stateDelta: { k: index, 'user:k': index } } : { stateRemovals: ['k', 'user:k'] },
          }),
        }),
      ),
    );
    expect(session.state.toRecord()).toEqual((await load(sessions)).state.toRecord());
  });

  test('after parallel appends, a filtered object has the view of a new reader', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 4 } });
    const session = await sessionWith(sessions, turns('u', 'a'));
    await Promise.all(times(9, async (index) => sessions.appendEvent({ session, event: agentSays(`p${index}`) })));
    expect(shown(session)).toEqual(await view(sessions));
  });

  test('two objects that append alternately lose no event', async ({ open }) => {
    const { sessions } = await open();
    const first = await sessionWith(sessions);
    const second = await load(sessions);
    for (let index = 0; index < 4; index++) {
      const delta = { [`k${index}`]: index, both: index };
      await sessions.appendEvent({
        session: index % 2 ? first : second,
        event: agentSays(`a${index}`, { actions: { stateDelta: delta } }),
      });
    }
    expect((await load(sessions)).state.toRecord()).toEqual({ k0: 0, k1: 1, k2: 2, k3: 3, both: 3 });
    expect((await wholeLog(sessions)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  test('an object does not replace a newer value by an older one', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const event = agentSays('one', { id: 'one', actions: { stateDelta: { k: 'old' } } });
    await appendAll(sessions, [event]);
    await sessions.appendEvent({ session, event: agentSays('two', { actions: { stateDelta: { k: 'new' } } }) });
    await sessions.appendEvent({ session, event });
    expect(session.state.get('k')).toBe('new');
    expect(shown(session)).toEqual(['one', 'two']);
    expect(session.version).toBe(2);
  });

  test('a summary appended through an object has the same place for a new reader', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, [...turns('u', 'a', 'u'), createSummaryEvent(1, 2)]);
    await sessions.appendEvent({ session, event: agentSays('a5') });
    expect(shown(session)).toEqual(['summary to 2', 'u3', 'a5']);
    expect(shown(session)).toEqual(await view(sessions));
  });
});
