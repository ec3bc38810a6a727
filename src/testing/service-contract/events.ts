import { readPages } from '../../sessions/domain/values/paging.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  type ServiceFixture,
  agentSays,
  appendAll,
  expectRefusal,
  rewindTo,
  sessionWith,
  shown,
  createSummaryEvent,
  times,
  turns,
} from './support.js';

export const events = topic<ServiceFixture>('listEvents', (test) => {
  test('the log is listed from its first event, with firstSeq and lastSeq', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    expect(await sessions.listEvents(KEY)).toEqual({ events: [], firstSeq: 1, lastSeq: 0 });
    const stored = await appendAll(sessions, turns('u', 'a', 'u'));
    expect(await sessions.listEvents(KEY)).toEqual({ events: stored, firstSeq: 1, lastSeq: 3 });
    expect(await sessions.listEvents({ ...KEY, order: 'desc' })).toMatchObject({ events: stored.toReversed() });
  });

  test('rewound and summarised events are included, with any settings of the view', async ({ open, clock }) => {
    const { sessions } = await open({ history: { maxEvents: 1, numRecentEvents: 1, eventTtlSeconds: 1 } });
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), createSummaryEvent(1, 2), rewindTo(3), agentSays('a7')]);
    clock.advanceSeconds(60);
    const page = await sessions.listEvents(KEY);
    expect(shown(page)).toEqual(['u1', 'a2', 'u3', 'a4', 'summary to 2', '', 'a7']);
  });

  test('afterSeq and beforeSeq are exclusive', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'a', 'a', 'a'));
    const list = async (request: object) => shown(await sessions.listEvents({ ...KEY, ...request }));
    expect(await list({ afterSeq: 3 })).toEqual(['a4', 'a5']);
    expect(await list({ beforeSeq: 3 })).toEqual(['u1', 'a2']);
    expect(await list({ afterSeq: 1, beforeSeq: 4 })).toEqual(['a2', 'a3']);
    expect(await list({ afterSeq: 1, beforeSeq: 4, order: 'desc' })).toEqual(['a3', 'a2']);
    expect(await list({ afterSeq: 3, beforeSeq: 4 })).toEqual([]);
    expect(await list({ afterSeq: 5 })).toEqual([]);
    expect(await list({ beforeSeq: 0 })).toEqual([]);
  });

  test('a page holds the first events of its order', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'a', 'a', 'a'));
    const list = async (request: object) => shown(await sessions.listEvents({ ...KEY, limit: 2, ...request }));
    expect(await list({})).toEqual(['u1', 'a2']);
    expect(await list({ order: 'desc' })).toEqual(['a5', 'a4']);
    expect(await list({ afterSeq: 2 })).toEqual(['a3', 'a4']);
    expect(await list({ beforeSeq: 4, order: 'desc' })).toEqual(['a3', 'a2']);
  });

  test('a page has 100 events by default, and at most 1,000', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(
      sessions,
      times(101, (index) => agentSays(`a${index}`)),
    );
    const page = await sessions.listEvents(KEY);
    expect(page.events).toHaveLength(100);
    expect((await sessions.listEvents({ ...KEY, limit: 1000 })).events).toHaveLength(101);
    await expectRefusal(sessions.listEvents({ ...KEY, limit: 1001 }), 'INVALID_INPUT', { path: 'limit' });
  });

  test('pages together hold every event once, including events appended between them', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'a', 'a', 'a'));
    const seqs: number[] = [];
    let cursor: string | undefined;
    for (let page = 0; page === 0 || cursor; page++) {
      const { events: listed, nextCursor } = await sessions.listEvents({ ...KEY, limit: 2, cursor });
      seqs.push(...listed.map(({ seq }) => seq));
      cursor = nextCursor;
      if (page === 1) await appendAll(sessions, turns('u', 'a'));
    }
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('pages in descending order end at the first event', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'a', 'a', 'a'));
    const first = await sessions.listEvents({ ...KEY, limit: 3, order: 'desc' });
    await appendAll(sessions, turns('u'));
    const second = await sessions.listEvents({ ...KEY, limit: 3, order: 'desc', cursor: first.nextCursor });
    expect([...first.events, ...second.events].map(({ seq }) => seq)).toEqual([5, 4, 3, 2, 1]);
    expect(second).not.toHaveProperty('nextCursor');
  });

  test('a cursor continues within the bounds of its list', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'a', 'a', 'a', 'a'));
    const limits = { ...KEY, afterSeq: 1, beforeSeq: 5, limit: 2 };
    const first = await sessions.listEvents(limits);
    const second = await sessions.listEvents({ ...limits, cursor: first.nextCursor });
    expect([...shown(first), ...shown(second)]).toEqual(['a2', 'a3', 'a4']);
    expect(second).not.toHaveProperty('nextCursor');
  });

  test('a cursor belongs to its order', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const { nextCursor: cursor } = await sessions.listEvents({ ...KEY, limit: 1 });
    const other = sessions.listEvents({ ...KEY, limit: 1, order: 'desc', cursor });
    await expectRefusal(other, 'INVALID_INPUT', { path: 'cursor' });
  });

  test('the events of an invocation are found among others, in both orders and page by page', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u'));
    // Far apart, so that reading the neighbours of one does not find the next one.
    const stretches = [3, 1, 2].map((count, index) =>
      times(count, (each) => agentSays(`a${index}.${each}`, { invocationId: 'wanted' })),
    );
    for (const stretch of stretches) {
      await sessions.appendEvents({
        session,
        events: [...stretch, ...times(40, () => agentSays('other', { invocationId: 'other' }))],
      });
    }
    const wanted = ['a0.0', 'a0.1', 'a0.2', 'a1.0', 'a2.0', 'a2.1'];
    const whole = { ...KEY, invocationId: 'wanted' };
    expect(shown(await sessions.listEvents(whole))).toEqual(wanted);
    expect(shown(await sessions.listEvents({ ...whole, order: 'desc' }))).toEqual(wanted.toReversed());
    for (const order of ['asc', 'desc'] as const) {
      const found: string[] = [];
      const pages = readPages((cursor) => sessions.listEvents({ ...whole, order, limit: 2, cursor }));
      for await (const page of pages) {
        expect(page).toMatchObject({ firstSeq: 1, lastSeq: 127 });
        expect(page.events).toHaveLength(2);
        found.push(...shown(page));
      }
      expect(found).toEqual(order === 'asc' ? wanted : wanted.toReversed());
    }
    const { events: all } = await sessions.listEvents({ ...KEY, limit: 1_000 });
    const seqs = all.filter(({ invocationId }) => invocationId === 'wanted').map(({ seq }) => seq);
    for (const [index, seq] of seqs.entries()) {
      const after = { ...whole, afterSeq: seq };
      const before = { ...whole, beforeSeq: seq, order: 'desc' as const };
      expect(shown(await sessions.listEvents(after))).toEqual(wanted.slice(index + 1));
      expect(shown(await sessions.listEvents(before))).toEqual(wanted.slice(0, index).toReversed());
    }
    expect(await sessions.listEvents({ ...KEY, invocationId: 'wan' })).toEqual({
      events: [],
      firstSeq: 1,
      lastSeq: 127,
    });
    await expectRefusal(sessions.listEvents({ ...KEY, invocationId: '' }), 'INVALID_INPUT', { path: 'invocationId' });
  });

  test('rewound events of an invocation are listed, and rewinds belong to none', async ({ open }) => {
    const { sessions } = await open();
    const said = { ...agentSays('a2'), invocationId: 'i' };
    await sessionWith(sessions, [...turns('u'), said, { ...rewindTo(1), invocationId: 'i' }, { ...said, id: 'again' }]);
    expect((await sessions.listEvents({ ...KEY, invocationId: 'i' })).events.map(({ seq }) => seq)).toEqual([2, 4]);
  });

  test('a missing session has no log', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u'));
    for (const key of [
      { ...KEY, sessionId: 'S-1' },
      { ...KEY, userId: 'bob' },
      { ...KEY, appName: 'other' },
    ]) {
      await expectRefusal(sessions.listEvents(key), 'SESSION_NOT_FOUND', { sessionId: key.sessionId });
    }
  });
});
