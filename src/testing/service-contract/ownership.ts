import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import { topic } from '../contract-runner.js';
import { KEY, type ServiceFixture, load, sessionWith, userSays, wholeLog } from './support.js';

/** Mutates everything that is reachable from an event. */
function spoil(event: LoggedEvent): void {
  const [part] = event.content?.parts ?? [];
  if (part) part.text = 'spoiled';
  event.author = 'spoiled';
  event.actions.stateDelta.list = 'spoiled';
  const { deep } = event.customMetadata as { deep: string[] };
  deep.push('spoiled');
}

const EVENT = { customMetadata: { deep: ['kept'] }, actions: { stateDelta: { list: ['kept'] } } };

export const ownership = topic<ServiceFixture>('returned and given objects are copied', (test) => {
  test('changing the initial state after the call changes nothing stored', async ({ open }) => {
    const { sessions } = await open();
    const state = { list: ['kept'], 'user:list': ['kept'] };
    const created = await sessions.createSession({ ...KEY, state });
    state.list.push('spoiled');
    state['user:list'].push('spoiled');
    for (const session of [created, await load(sessions)]) {
      expect(session.state.toRecord()).toEqual({ list: ['kept'], 'user:list': ['kept'] });
    }
  });

  test('changing a value of a loaded state changes nothing stored', async ({ open }) => {
    const { sessions } = await open();
    const created = await sessions.createSession({ ...KEY, state: { list: ['kept'] } });
    const first = await load(sessions);
    created.state.get<string[]>('list')?.push('spoiled');
    first.state.get<string[]>('list')?.push('spoiled');
    expect((await load(sessions)).state.get('list')).toEqual(['kept']);
  });

  test('changing an event after its append changes nothing stored', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const event = structuredClone(userSays('kept', EVENT));
    await sessions.appendEvent({ session, event });
    spoil(event as LoggedEvent);
    expect(session.events[0]).toMatchObject(userSays('kept', EVENT));
    expect(session.state.get('list')).toEqual(['kept']);
    expect((await load(sessions)).events[0]).toMatchObject(userSays('kept', EVENT));
  });

  test('an append returns a copy of the event in the session object', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const stored = await sessions.appendEvent({ session, event: userSays('kept', EVENT) });
    spoil(stored);
    expect(session.events[0]).toMatchObject(userSays('kept', EVENT));
    expect(session.state.get('list')).toEqual(['kept']);
    expect(await wholeLog(sessions)).toEqual([expect.objectContaining(userSays('kept', EVENT))]);
  });

  test('changing an event of a session object changes neither its state nor stored data', async (fixture) => {
    const { sessions } = await fixture.open();
    const session = await sessionWith(sessions, [userSays('kept', EVENT)]);
    for (const event of session.events) spoil(event);
    expect(session.state.get('list')).toEqual(['kept']);
    expect((await load(sessions)).events[0]).toMatchObject(userSays('kept', EVENT));
  });

  test('two loaded objects share nothing', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays('kept', EVENT)]);
    const [first, second] = [await load(sessions), await load(sessions)];
    for (const event of first.events) spoil(event);
    first.events.pop();
    first.state.set('list', 'spoiled');
    expect(second.events[0]).toMatchObject(userSays('kept', EVENT));
    expect(second.state.get('list')).toEqual(['kept']);
  });

  test('changing a page of events or sessions changes nothing stored', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays('kept', EVENT)]);
    for (const event of await wholeLog(sessions)) spoil(event);
    const [listed] = (await sessions.listSessions(KEY)).sessions;
    listed?.state.get<string[]>('list')?.push('spoiled');
    expect((await wholeLog(sessions))[0]).toMatchObject(userSays('kept', EVENT));
    expect((await load(sessions)).state.get('list')).toEqual(['kept']);
  });

  test('changing shared state objects after a call changes nothing stored', async ({ open }) => {
    const { sessions } = await open();
    const stateDelta = { list: ['kept'] };
    const answer = await sessions.updateUserState({ ...KEY, stateDelta });
    stateDelta.list.push('spoiled');
    (answer.list as string[]).push('spoiled');
    ((await sessions.getUserState(KEY)).list as string[]).push('spoiled');
    expect(await sessions.getUserState(KEY)).toEqual({ list: ['kept'] });
  });

  test('changing an event right after the call changes nothing stored', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const event = structuredClone(userSays('kept', EVENT));
    const appending = sessions.appendEvent({ session, event });
    spoil(event as LoggedEvent);
    expect(await appending).toMatchObject(userSays('kept', EVENT));
    expect((await load(sessions)).events[0]).toMatchObject(userSays('kept', EVENT));
  });

  test('a request object may be reused right after the call', async ({ open }) => {
    const { sessions } = await open();
    const request = { ...KEY, state: { list: ['kept'] } };
    const asking = ['a', 'b'].map((sessionId) => {
      request.sessionId = sessionId;
      return sessions.getOrCreateSession(request);
    });
    request.state.list.push('spoiled');
    const created = await Promise.all(asking);
    expect(created.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(created.map(({ state }) => state.get('list'))).toEqual([['kept'], ['kept']]);
  });

  test('a watch ignores later changes of its request object', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays('kept')]);
    const other = await sessions.createSession({ ...KEY, sessionId: 'other' });
    await sessions.appendEvent({ session: other, event: userSays('spoiled') });
    const request = { ...KEY, afterSeq: 0 };
    const watch = sessions.watch(request);
    request.sessionId = other.id;
    request.afterSeq = 1;
    expect((await watch.next()).value).toMatchObject(userSays('kept'));
    await watch.return?.();
  });
});
