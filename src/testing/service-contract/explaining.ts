import type { EventInput } from '../../sessions/domain/event/event.js';
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
  createSummaryEvent,
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

/** A log in which much is taken back and replaced. */
const EVENTFUL: readonly EventInput[] = [
  ...turns('u', 'a', 'u'),
  toolCalls('t'),
  toolAnswers('t'),
  agentSays('a6'),
  createSummaryEvent(1, 2),
  userSays('u8'),
  rewindTo(6),
  ...turns('u', 'a', 'a', 'a'),
  createSummaryEvent(1, 10),
  rewindTo(11),
  userSays('u16'),
];

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
      createSummaryEvent(1, 2),
      userSays('u4'),
      createSummaryEvent(1, 4),
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

  test('explains the view as it was at any moment', async ({ open, clock }) => {
    for (const history of [{}, { maxEvents: 3 }, { maxEvents: 6, eventTtlSeconds: 100 }]) {
      const { sessions } = await open({ history });
      const session = await sessionWith(sessions, []);
      const explained = async (atSeq?: number): Promise<unknown> => {
        const { events, view, lastSeq } = await sessions.explainView({ ...KEY, atSeq });
        return { events, view, lastSeq };
      };
      const then = [await explained()];
      for (const event of EVENTFUL) {
        clock.advance(20_000);
        await sessions.appendEvent({ session, event });
        then.push(await explained());
      }
      for (const [atSeq, wasExplained] of then.entries()) expect(await explained(atSeq)).toEqual(wasExplained);
    }
  });

  test('says what changed since an earlier view', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a'), createSummaryEvent(1, 2), userSays('u6'), rewindTo(5)]);
    const change = async (since: number, atSeq?: number): Promise<unknown> =>
      (await sessions.explainView({ ...KEY, since, atSeq })).view.change;
    const nothing = { added: [], removed: [] };
    expect(await change(7)).toEqual({ seq: 7, stableUntilSeq: 4, ...nothing });
    expect(await change(6)).toEqual({ seq: 6, stableUntilSeq: 4, added: [], removed: [[6, 6]] });
    expect(await change(4)).toEqual({ seq: 4, stableUntilSeq: 0, added: [[5, 5]], removed: [[1, 2]] });
    expect(await change(2, 4)).toEqual({ seq: 2, stableUntilSeq: 2, added: [[3, 4]], removed: [] });
    expect(await change(0, 2)).toEqual({ seq: 0, stableUntilSeq: 0, added: [[1, 2]], removed: [] });
    const narrowed = await sessions.explainView({ ...KEY, config: { numRecentEvents: 1 }, atSeq: 4, since: 2 });
    expect(narrowed.view.change).toEqual({ seq: 2, stableUntilSeq: 0, added: [[4, 4]], removed: [[2, 2]] });
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

  test('a page of an explanation has at most 1,000 events', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession(KEY);
    await expectRefusal(sessions.explainView({ ...KEY, limit: 1_001 }), 'INVALID_INPUT', { path: 'limit' });
    await expectRefusal(sessions.explainView({ ...KEY, cursor: 'x' }), 'INVALID_INPUT', { path: 'cursor' });
  });

  test('refuses wrong requests, and sessions that are not there', async ({ open }) => {
    const { sessions } = await open();
    await expectRefusal(sessions.explainView(KEY), 'SESSION_NOT_FOUND');
    await sessions.createSession(KEY);
    await expectRefusal(sessions.explainView({ ...KEY, fromSeq: -1 }), 'INVALID_INPUT', { path: 'fromSeq' });
    await expectRefusal(sessions.explainView({ ...KEY, cursor: 'x' }), 'INVALID_INPUT');
    await expectRefusal(sessions.explainView({ ...KEY, atSeq: 1 }), 'INVALID_INPUT', { path: 'atSeq' });
    await expectRefusal(sessions.explainView({ ...KEY, since: 1 }), 'INVALID_INPUT', { path: 'since' });
    await appendAll(sessions, turns('u', 'a'));
    const { nextCursor } = await sessions.explainView({ ...KEY, limit: 1 });
    await expectRefusal(sessions.explainView({ ...KEY, cursor: nextCursor, order: 'desc' }), 'INVALID_INPUT');
    await sessions.deleteSession(KEY);
    await sessionWith(sessions, turns('u', 'a'));
    await expectRefusal(sessions.explainView({ ...KEY, cursor: nextCursor }), 'SESSION_NOT_FOUND');
  });
});
