import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  agentSays,
  appendAll,
  expectRefusal,
  load,
  sessionWith,
  shown,
  createSummaryEvent,
  times,
  toolAnswers,
  toolCalls,
  turns,
  userSays,
  wholeLog,
} from './support.js';

const FORK = { ...KEY, sessionId: 'fork' };
const FORK_REFERENCE = { ...REFERENCE, id: 'fork' };

export const forkViews = topic<ServiceFixture>('views and duplicates in a fork', (test) => {
  for (const history of [{ maxEvents: 3 }, { numRecentEvents: 2 }, { eventTtlSeconds: 25 }, { maxEvents: 1 }]) {
    test(`a fork has the same view with ${JSON.stringify(history)}, also as time passes`, async ({ open, clock }) => {
      const { sessions } = await open({ history });
      const session = await sessions.createSession(KEY);
      const events = [...turns('u', 'a', 'u'), toolCalls('c'), toolAnswers('c'), agentSays('done')];
      for (const event of [...events, createSummaryEvent(1, 2), ...turns('u', 'a')]) {
        await sessions.appendEvent({ session, event });
        clock.advanceSeconds(5);
      }
      const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
      for (let wait = 0; wait < 6; wait++) {
        const source = shown(await load(sessions));
        if (wait === 0) expect(shown(fork)).toEqual(source);
        expect(shown(await load(sessions, FORK))).toEqual(source);
        const config = { numRecentEvents: 2, afterTimestamp: clock.now() - 15_000 };
        expect(shown(await load(sessions, { ...FORK, config }))).toEqual(shown(await load(sessions, { config })));
        clock.advanceSeconds(5);
      }
      const [source, copy] = [await load(sessions), await load(sessions, FORK)];
      for (const object of [source, copy]) await sessions.appendEvent({ session: object, event: userSays('more') });
      expect(shown(copy)).toEqual(shown(source));
      expect(shown(await load(sessions, FORK))).toEqual(shown(await load(sessions)));
    });
  }

  test('events that a filter hides are forked too', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(shown(fork)).toEqual(['u3', 'a4']);
    expect(fork.conversationCount).toBe(2);
    expect(shown(await sessions.rewindSession({ ...FORK, toSeq: 2 }))).toEqual(['u1', 'a2']);
  });

  test('a fork of trimmed history has the remaining events, with their state', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 5, keepHistory: false } });
    const events = times(64, (index) => userSays(`u${index + 1}`, { actions: { stateDelta: { [`k${index}`]: 1 } } }));
    await sessionWith(sessions, events);
    await sessions.whenIdle();
    const { firstSeq } = await sessions.listEvents(KEY);
    expect(firstSeq).toBeGreaterThan(1);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(shown(fork)).toEqual(['u60', 'u61', 'u62', 'u63', 'u64']);
    expect(fork.version).toBe(65 - firstSeq);
    expect(Object.keys(fork.state.toRecord())).toHaveLength(64);
    await expectRefusal(sessions.forkSession({ ...KEY, atSeq: firstSeq - 2 }), 'INVALID_INPUT');
    const start = await sessions.rewindSession({ ...FORK, toSeq: 0 });
    expect(Object.keys(start.state.toRecord())).toHaveLength(firstSeq - 1);
  });

  test('the summary of a fork covers no event there, and the next one replaces it', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), createSummaryEvent(1, 3), userSays('u6')]);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(shown(fork)).toEqual(['summary to 3', 'a4', 'u6']);
    expect(fork.events[0]?.actions.compaction).toEqual({ fromSeq: 0, toSeq: 0 });
    expect(fork.conversationCount).toBe(1);
    // In the fork, the number of its boundary belongs to another event.
    await sessions.appendEvent({ session: fork, event: createSummaryEvent(1, 3, 'all of it') });
    expect(shown(fork)).toEqual(['all of it']);
    expect(shown(await load(sessions, FORK))).toEqual(['all of it']);
    expect(shown(await sessions.rewindSession({ ...FORK, toSeq: 2 }))).toEqual(['summary to 3', 'a4']);
    expect(shown(await load(sessions))).toEqual(['summary to 3', 'a4', 'u6']);
  });

  test('a fork from before a summary has the events that the summary covers', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      ...turns('u', 'a', 'u'),
      createSummaryEvent(1, 2),
      agentSays('a5'),
      createSummaryEvent(1, 3),
    ]);
    const at = async (atSeq: number): Promise<string[]> => shown(await sessions.forkSession({ ...KEY, atSeq }));
    expect(await at(3)).toEqual(['u1', 'a2', 'u3']);
    expect(await at(4)).toEqual(['summary to 2', 'u3']);
    expect(await at(5)).toEqual(['summary to 2', 'u3', 'a5']);
    expect(await at(6)).toEqual(['summary to 3', 'a5']);
  });

  test('a fork can be forked', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u'), createSummaryEvent(1, 2)]);
    const first = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    const second = await sessions.forkSession({ ...FORK, newSessionId: 'again' });
    expect(second.events).toEqual(first.events);
    expect(shown(await load(sessions, { sessionId: 'again' }))).toEqual(['summary to 2', 'u3']);
  });

  test('a copied event is a duplicate by its id', async ({ open }) => {
    const { sessions } = await open();
    const said = userSays('u1', { id: 'said', actions: { stateDelta: { step: 1 } } });
    await sessionWith(sessions, [said, userSays('u2', { id: 'undone' })]);
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    const again = await sessions.append({ session: fork, event: said, expectedVersion: 0 });
    expect(again).toMatchObject({ duplicate: true, event: { id: 'said', seq: 1 } });
    const other = { session: FORK_REFERENCE, event: userSays('other', { id: 'said' }) };
    await expectRefusal(sessions.append(other), 'EVENT_CONFLICT', { seq: 1 });
    // Rewound events are not forked, so this id is free.
    expect(await sessions.append({ session: fork, event: userSays('new', { id: 'undone' }) })).toMatchObject({
      duplicate: false,
      event: { seq: 2 },
    });
    expect(await wholeLog(sessions)).toHaveLength(3);
  });

  test('versions of the fork do not depend on its source', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), createSummaryEvent(1, 3)]);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(fork.version).toBe(2);
    await sessions.appendEvent({ session: fork, event: agentSays('a3'), expectedVersion: fork.version });
    const late = { session: FORK_REFERENCE, event: agentSays('late'), expectedVersion: 2 };
    await expectRefusal(sessions.appendEvent(late), 'STALE_SESSION', { currentVersion: 3 });
  });

  test('a fork has its own creation time and lifetime, and is first in a list', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: { enabled: true, sessionSeconds: 60 } });
    await sessionWith(sessions, turns('u', 'a'));
    clock.advanceSeconds(50);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(fork).toMatchObject({ createTime: clock.now(), lastUpdateTime: clock.now() });
    const { sessions: listed } = await sessions.listSessions(KEY);
    expect(listed.map(({ id, version }) => [id, version])).toEqual([
      ['fork', 2],
      ['s-1', 2],
    ]);
    clock.advanceSeconds(10);
    expect(await sessions.getSession(KEY)).toBeUndefined();
    expect(shown(await load(sessions, FORK))).toEqual(['u1', 'a2']);
    await expectRefusal(sessions.forkSession(KEY), 'SESSION_NOT_FOUND');
    await sessions.forkSession({ ...FORK, newSessionId: KEY.sessionId });
    expect(shown(await load(sessions))).toEqual(['u1', 'a2']);
  });

  test('a fork is consistent despite concurrent appends', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { count: 0 } });
    const events = times(40, (index) => userSays(`u${index}`, { actions: { stateDelta: { count: index + 1 } } }));
    const appends = appendAll(sessions, events);
    const forks = [];
    for (let index = 0; index < 8; index++) forks.push(await sessions.forkSession(KEY));
    await appends;
    for (const fork of forks) {
      expect(fork.state.get('count')).toBe(fork.events.length);
      expect(fork.conversationCount).toBe(fork.version);
    }
  });
});
