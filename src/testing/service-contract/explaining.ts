import type { EventInput } from '../../sessions/domain/event.js';
import { topic } from '../contract-runner.js';
import type { SessionClient } from '../open-sessions.js';
import {
  KEY,
  type ServiceFixture,
  agentSays,
  appendAll,
  expectRefusal,
  load,
  rewindTo,
  sessionWith,
  summaryOf,
  times,
  toolAnswers,
  toolCalls,
  turns,
  userSays,
} from './support.js';

type Config = Parameters<SessionClient['explainView']>[0]['config'];

/** `kept`, or `summarised by 5`, for each event. Fails unless the events in the view are those of `getSession`. */
async function reasons(sessions: SessionClient, config?: Config): Promise<string[]> {
  const { events, view } = await sessions.explainView({ ...KEY, config });
  const shown = events.filter(({ inView }) => inView).map(({ seq }) => seq);
  const seqs = (await load(sessions, { config })).events.map(({ seq }) => seq);
  expect(shown).toEqual(seqs.toSorted((a, b) => a - b));
  expect(view.events).toBe(shown.length);
  return events.map(({ reason, by }) => (by === undefined ? reason : `${reason} by ${by}`));
}

export const explaining = topic<ServiceFixture>('explaining a view', (test) => {
  test('without limits every event is kept', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    expect(await reasons(sessions)).toEqual(['kept', 'kept']);
  });

  test('an explained event has its id, author and an estimate of its tokens', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays('12345678', { id: 'e-1' })]);
    const { events, view, ...log } = await sessions.explainView(KEY);
    expect(events).toEqual([{ seq: 1, id: 'e-1', author: 'user', inView: true, reason: 'kept', tokens: 2 }]);
    expect(view).toEqual({ events: 1, tokens: 2, isTruncated: false });
    expect(log).toEqual({ firstSeq: 1, lastSeq: 1 });
  });

  test('names the summary, and the later one that replaced it', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      ...turns('u', 'a'),
      summaryOf(1, 2),
      userSays('u4'),
      summaryOf(1, 4),
      agentSays('a6'),
    ]);
    const summarised = times(4, () => 'summarised by 5');
    expect(await reasons(sessions)).toEqual([...summarised, 'summary', 'kept']);
  });

  test('names the rewind', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u'), rewindTo(1), agentSays('a5')]);
    expect(await reasons(sessions)).toEqual(['kept', ...times(3, () => 'rewound by 4'), 'kept']);
  });

  test('says what is over the limit, and which event the view begins with', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, turns('u', 'a', 'a', 'u', 'a'));
    expect(await reasons(sessions)).toEqual(['overLimit', 'overLimit', 'beforeAnchor by 4', 'kept', 'kept']);
  });

  test('says what is too old', async ({ open, clock }) => {
    const { sessions } = await open({ history: { eventTtlSeconds: 60 } });
    const session = await sessionWith(sessions, turns('u', 'a'));
    clock.advance(61_000);
    await sessions.appendEvent({ session, event: userSays('u3') });
    expect(await reasons(sessions)).toEqual(['tooOld', 'tooOld', 'kept']);
  });

  test('says which event is the anchor that the view needs', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, turns('u', 'a', 'a', 'a'));
    expect(await reasons(sessions)).toEqual(['anchor', 'overLimit', 'kept', 'kept']);
  });

  test('names the response that needs a call, and the events between them', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, [userSays('u1'), toolCalls('t'), agentSays('a3'), toolAnswers('t'), agentSays('a5')]);
    expect(await reasons(sessions)).toEqual(['anchor', 'calledFor by 4', 'calledFor by 4', 'kept', 'kept']);
  });

  test('says which response is left out, since its call is too far back', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const between = times(20, (index) => agentSays(`x${index}`));
    const log: EventInput[] = [userSays('u1'), toolCalls('t'), ...between, toolAnswers('t'), agentSays('last')];
    await sessionWith(sessions, log);
    expect((await reasons(sessions)).slice(-2)).toEqual(['unpaired', 'kept']);
  });

  test('explains the view of a config', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    expect(await reasons(sessions, { numRecentEvents: 1 })).toEqual([...times(3, () => 'notAsked'), 'kept']);
    expect(await reasons(sessions, { afterSeq: 2 })).toEqual(['notAsked', 'notAsked', 'kept', 'kept']);
    expect(await reasons(sessions, { numRecentEvents: 0 })).toEqual(times(4, () => 'notAsked'));
  });

  test('says what does not fit', async ({ open }) => {
    const { sessions } = await open({ limits: { maxViewBytes: 1_000 } });
    await sessionWith(sessions, [userSays('u'.repeat(900)), userSays('u2'), agentSays('a3')]);
    expect(await reasons(sessions)).toEqual(['overBytes', 'kept', 'kept']);
    expect((await sessions.explainView(KEY)).view.isTruncated).toBe(true);
  });

  test('pages through the log in both orders', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, turns('u', 'a', 'u', 'a', 'u'));
    for (const order of ['asc', 'desc'] as const) {
      const seqs: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await sessions.explainView({ ...KEY, limit: 2, order, cursor });
        expect(page.events.length).toBeLessThanOrEqual(2);
        expect(page.lastSeq).toBe(5);
        seqs.push(...page.events.map(({ seq }) => seq));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seqs).toEqual(order === 'asc' ? [1, 2, 3, 4, 5] : [5, 4, 3, 2, 1]);
    }
    const part = await sessions.explainView({ ...KEY, fromSeq: 2, toSeq: 3 });
    expect(part.events.map(({ seq, reason }) => [seq, reason])).toEqual([
      [2, 'overLimit'],
      [3, 'overLimit'],
    ]);
  });

  test('an empty session has nothing to explain', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession(KEY);
    const view = { events: 0, tokens: 0, isTruncated: false };
    expect(await sessions.explainView(KEY)).toEqual({ events: [], view, firstSeq: 1, lastSeq: 0 });
  });

  test('refuses wrong requests, and sessions that are not there', async ({ open }) => {
    const { sessions } = await open();
    await expectRefusal(sessions.explainView(KEY), 'SESSION_NOT_FOUND');
    await sessions.createSession(KEY);
    await expectRefusal(sessions.explainView({ ...KEY, limit: 1_001 }), 'INVALID_INPUT', { path: 'limit' });
    await expectRefusal(sessions.explainView({ ...KEY, fromSeq: -1 }), 'INVALID_INPUT', { path: 'fromSeq' });
    await expectRefusal(sessions.explainView({ ...KEY, cursor: 'x' }), 'INVALID_INPUT', { path: 'cursor' });
    await appendAll(sessions, turns('u', 'a'));
    const { nextCursor } = await sessions.explainView({ ...KEY, limit: 1 });
    await expectRefusal(sessions.explainView({ ...KEY, cursor: nextCursor, order: 'desc' }), 'INVALID_INPUT');
    await sessions.deleteSession(KEY);
    await sessionWith(sessions, turns('u', 'a'));
    await expectRefusal(sessions.explainView({ ...KEY, cursor: nextCursor }), 'SESSION_NOT_FOUND');
  });
});
