import { setImmediate } from 'node:timers/promises';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
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
} from './support.js';

/** Short enough that tests do not wait long, and long enough that it does not disturb them. */
const POLL = { watchPollMs: 10 };
/** Long enough that a test fails if no signal comes. */
const NO_POLL = { watchPollMs: 1_000_000 };

/** Reads the next events, then ends the watch. */
async function take(watch: AsyncIterableIterator<LoggedEvent>, count: number): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of watch) {
    events.push(event);
    if (events.length >= count) break;
  }
  return events;
}

function listSeqs(events: readonly LoggedEvent[]): number[] {
  return events.map(({ seq }) => seq);
}

export const watching = topic<ServiceFixture>('watch', (test) => {
  test('a watch delivers events appended from now on, as they are logged', async ({ open }) => {
    const { sessions } = await open(NO_POLL);
    const session = await sessionWith(sessions, turns('u', 'a'));
    const watch = sessions.watch(KEY);
    const first = watch.next();
    await sessions.appendEvent({ session, event: agentSays('half', { partial: true }) });
    await sessions.appendEvent({
      session,
      event: userSays('u3', { actions: { stateDelta: { step: 1, 'temp:t': 1 } } }),
    });
    expect((await first).value).toMatchObject({ seq: 3, actions: { stateDelta: { step: 1 } } });
    const second = watch.next();
    session.state.set('step', 2);
    await sessions.updateSession(session);
    expect((await second).value).toEqual((await sessions.listEvents({ ...KEY, afterSeq: 3 })).events[0]);
    await watch.return?.();
  });

  test('a watch starts at the time of the call', async ({ open }) => {
    const { sessions } = await open(NO_POLL);
    await sessionWith(sessions, turns('u'));
    const watch = sessions.watch(KEY);
    await appendAll(sessions, turns('u', 'a'));
    expect(listSeqs(await take(watch, 2))).toEqual([2, 3]);
  });

  test('a watch after an event delivers all later events, including summaries and rewinds', async ({ open }) => {
    const { sessions } = await open(NO_POLL);
    await sessionWith(sessions, [...turns('u', 'a', 'u'), createSummaryEvent(1, 2), rewindTo(3)]);
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    const { events } = await sessions.listEvents(KEY);
    expect(await take(sessions.watch({ ...KEY, afterSeq: 0 }), 6)).toEqual(events);
    expect(await take(sessions.watch({ ...KEY, afterSeq: 3 }), 3)).toEqual(events.slice(3));
    const later = take(sessions.watch({ ...KEY, afterSeq: 6 }), 2);
    await appendAll(sessions, [createSummaryEvent(1, 1)]);
    await sessions.rewindSession({ ...KEY, toSeq: 2 });
    expect(listSeqs(await later)).toEqual([7, 8]);
  });

  test('all watches deliver two hundred concurrent appends in order, each once', async ({ open }) => {
    const { sessions } = await open(NO_POLL);
    await sessionWith(sessions);
    const watches = times(3, () => take(sessions.watch(KEY), 200));
    const objects = await Promise.all(times(5, () => load(sessions)));
    await Promise.all(
      times(200, (index) =>
        sessions.appendEvent({ session: objects[index % 5] ?? REFERENCE, event: userSays(`u${index}`) }),
      ),
    );
    const { events } = await sessions.listEvents({ ...KEY, limit: 1_000 });
    for (const watched of await Promise.all(watches)) expect(watched).toEqual(events);
    expect(listSeqs(events)).toEqual(times(200, (index) => index + 1));
  });

  test('an interrupted watch continues without loss or duplicates', async ({ open }) => {
    const { sessions } = await open(POLL);
    await sessionWith(sessions);
    const appending = appendAll(sessions, turns(...times(250, () => 'u' as const)));
    const seqs: number[] = [];
    for (let cut = 0; cut < 50; cut++) {
      // Sizes from 1 to 9, in a pseudo-random order.
      seqs.push(...listSeqs(await take(sessions.watch({ ...KEY, afterSeq: seqs.at(-1) ?? 0 }), 1 + ((cut * 7) % 9))));
    }
    expect(seqs).toEqual(times(seqs.length, (index) => index + 1));
    expect(seqs.length).toBeGreaterThan(200);
    await appending;
  });

  test('a slow reader misses no event', async ({ open }) => {
    const { sessions } = await open(NO_POLL);
    await sessionWith(sessions);
    const watch = sessions.watch(KEY);
    await appendAll(sessions, turns('u'));
    const seqs = [(await watch.next()).value?.seq];
    await appendAll(sessions, turns(...times(230, () => 'a' as const)));
    for (let index = 0; index < 230; index++) seqs.push((await watch.next()).value?.seq);
    expect(seqs).toEqual(times(231, (index) => index + 1));
    await watch.return?.();
  });

  test('a watch ends if the session is deleted, expires or is missing', async ({ open, clock }) => {
    const { sessions } = await open({ ...POLL, ttl: { enabled: true, sessionSeconds: 60 } });
    await expectRefusal(sessions.watch(KEY).next(), 'SESSION_NOT_FOUND', { sessionId: 's-1' });
    await sessionWith(sessions, turns('u'));
    const deleted = sessions.watch(KEY).next();
    await Promise.all([expectRefusal(deleted, 'SESSION_NOT_FOUND'), sessions.deleteSession(KEY)]);
    await sessionWith(sessions, turns('u'));
    const watch = sessions.watch({ ...KEY, afterSeq: 0 });
    expect(listSeqs([(await watch.next()).value as LoggedEvent])).toEqual([1]);
    const expired = watch.next();
    clock.advanceSeconds(60);
    await expectRefusal(expired, 'SESSION_NOT_FOUND');
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });

  test('a watch renews no lifetime', async ({ open, clock }) => {
    const { sessions } = await open({ ...POLL, ttl: { enabled: true, sessionSeconds: 60 } });
    await sessionWith(sessions, turns('u', 'u'));
    const watch = sessions.watch({ ...KEY, afterSeq: 0 });
    await watch.next();
    clock.advanceSeconds(50);
    await watch.next();
    clock.advanceSeconds(10);
    await expectRefusal(watch.next(), 'SESSION_NOT_FOUND');
  });

  test('a watch does not continue with a new session of the same id', async ({ open }) => {
    const { sessions } = await open(POLL);
    await sessionWith(sessions, turns('u'));
    const watch = sessions.watch({ ...KEY, afterSeq: 0 });
    await watch.next();
    const next = watch.next();
    const end = expectRefusal(next, 'SESSION_NOT_FOUND');
    await sessions.deleteSession(KEY);
    await sessionWith(sessions, turns('u', 'a', 'u'));
    await end;
    // A reconnected watch does not either: its position is beyond the end of the new session.
    await expectRefusal(sessions.watch({ ...KEY, afterSeq: 4 }).next(), 'INVALID_INPUT', { path: 'afterSeq' });
  });

  test('a reader can end a watch, also while it waits', async ({ open }) => {
    const { sessions } = await open(NO_POLL);
    await sessionWith(sessions, turns('u'));
    const ended = { done: true, value: undefined };
    const watch = sessions.watch(KEY);
    const next = watch.next();
    await setImmediate();
    expect(await watch.return?.()).toEqual(ended);
    expect(await next).toEqual(ended);
    expect(await watch.next()).toEqual(ended);

    const abort = new AbortController();
    const aborted = sessions.watch({ ...KEY, signal: abort.signal });
    const waiting = aborted.next();
    await setImmediate();
    abort.abort();
    expect(await waiting).toEqual(ended);
    expect(await sessions.watch({ ...KEY, afterSeq: 0, signal: abort.signal }).next()).toEqual(ended);
  });

  test('ambiguous requests are refused', async ({ open }) => {
    const { sessions } = await open(POLL);
    await sessionWith(sessions, turns('u'));
    for (const afterSeq of [-1, 0.5, 2]) {
      await expectRefusal(sessions.watch({ ...KEY, afterSeq }).next(), 'INVALID_INPUT', { path: 'afterSeq' });
    }
    await expectRefusal(sessions.watch({ ...KEY, userId: '' }).next(), 'INVALID_INPUT');
    expect(shown(await load(sessions))).toEqual(['u1']);
  });
});
