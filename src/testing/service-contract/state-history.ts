import { CHECKPOINT_EVERY } from '../../sessions/domain/history/checkpoint.js';
import type { EventInput } from '../../sessions/domain/event/event.js';
import type { SessionClient } from '../open-sessions.js';
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
  createSummaryEvent,
  times,
  userSays,
} from './support.js';

function sets(stateDelta: Record<string, unknown>, ...stateRemovals: string[]): EventInput {
  return { author: 'agent', actions: { stateDelta, stateRemovals } };
}

/** Appends so many events, the last of which sets `step` to its number, and waits for their checkpoints. */
async function grow(sessions: SessionClient, count: number): Promise<number> {
  const { version } = await load(sessions, { config: { numRecentEvents: 0 } });
  const last = version + count;
  const events = times(count, (index) => (index === count - 1 ? sets({ step: last }) : agentSays('x')));
  for (let start = 0; start < count; start += 100) {
    await sessions.appendEvents({ session: REFERENCE, events: events.slice(start, start + 100) });
  }
  await sessions.whenIdle();
  return last;
}

async function readStatesAt(sessions: SessionClient, ...seqs: number[]): Promise<Record<string, unknown>[]> {
  const found = [];
  for (const seq of seqs) found.push((await sessions.stateAt({ ...KEY, seq })).state);
  return found;
}

export const stateAtMoments = topic<ServiceFixture>('stateAt', (test) => {
  test('the state at each event is the state that the session had', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { kept: [], gone: null, 'user:u': 0 } });
    const odd = JSON.parse('{"__proto__":{"a":1},"constructor":null}') as Record<string, unknown>;
    await appendAll(sessions, [sets({ n: 1.5 }, 'gone'), userSays('u'), sets(odd, 'n'), sets({ 'temp:t': 1 })]);
    const start = { kept: [], gone: null };
    expect(await readStatesAt(sessions, 0, 1, 2, 3, 4)).toEqual([
      start,
      { kept: [], n: 1.5 },
      { kept: [], n: 1.5 },
      { kept: [], ...Object.fromEntries(Object.entries(odd)) },
      { kept: [], ...Object.fromEntries(Object.entries(odd)) },
    ]);
    const { state } = await load(sessions);
    expect(await sessions.stateAt({ ...KEY, seq: 4 })).toEqual({
      seq: 4,
      state: Object.fromEntries(Object.entries(state.toRecord()).filter(([key]) => key !== 'user:u')),
      shared: {},
    });
  });

  test('rewinds restore the state, and states before a rewind can be read', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [sets({ a: 1 }), sets({ a: 2, b: 1 }), createSummaryEvent(1, 1)]);
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    await appendAll(sessions, [sets({ c: 1 }), rewindTo(2, { stateDelta: { own: true } })]);
    expect(await readStatesAt(sessions, 2, 3, 4, 5, 6)).toEqual([
      { a: 2, b: 1 },
      { a: 2, b: 1 },
      { a: 1 },
      { a: 1, c: 1 },
      { a: 1, c: 1, own: true },
    ]);
  });

  test('shared scopes have the values that events of this session gave', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [sets({ 'user:u': 1, 'app:a': null })]);
    await sessions.updateUserState({ ...KEY, stateDelta: { u: 'another', v: 1 } });
    await appendAll(sessions, [sets({ 'user:w': 2 }, 'user:u')]);
    expect(await sessions.stateAt({ ...KEY, seq: 1 })).toEqual({
      seq: 1,
      state: {},
      shared: { 'user:u': 1, 'app:a': null },
    });
    expect((await sessions.stateAt({ ...KEY, seq: 2 })).shared).toEqual({ 'app:a': null, 'user:w': 2 });
  });

  test('long logs have the same states, rewinds and forks as short ones', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, state: { start: true } });
    await appendAll(sessions, [{ ...sets({ early: 1, 'user:u': 1 }), ...userSays('u1') }, sets({ step: 2 })]);
    const first = await grow(sessions, CHECKPOINT_EVERY);
    const second = await grow(sessions, CHECKPOINT_EVERY);
    const at = { start: true, early: 1 };
    expect(await readStatesAt(sessions, 2, first - 1, first, second - 1, second)).toEqual([
      { ...at, step: 2 },
      { ...at, step: 2 },
      { ...at, step: first },
      { ...at, step: first },
      { ...at, step: second },
    ]);
    expect((await sessions.stateAt({ ...KEY, seq: second })).shared).toEqual({ 'user:u': 1 });
    const rewound = await sessions.rewindSession({ ...KEY, toSeq: 2 });
    expect(rewound).toMatchObject({ conversationCount: 1, version: second + 1 });
    expect(rewound.events.map(({ seq }) => seq)).toEqual([1, 2]);
    await grow(sessions, CHECKPOINT_EVERY);
    const back = await sessions.rewindSession({ ...KEY, toSeq: second + 2 });
    expect(back.events.map(({ seq }) => seq)).toEqual([1, 2, second + 2]);
    expect(back.state.toRecord()).toEqual({ ...at, step: 2, 'user:u': 1 });
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(fork.events.map(({ id }) => id)).toEqual(back.events.map(({ id }) => id));
    expect(fork.state.toRecord()).toEqual(back.state.toRecord());
  });

  test('a place outside the log and a missing session are refused', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 5, keepHistory: false } });
    await expectRefusal(sessions.stateAt({ ...KEY, seq: 0 }), 'SESSION_NOT_FOUND');
    await sessionWith(sessions, [sets({ a: 1 })]);
    await expectRefusal(sessions.stateAt({ ...KEY, seq: 2 }), 'INVALID_INPUT', { path: 'seq' });
    for (let batch = 0; batch < 4; batch++) await grow(sessions, 70);
    const { firstSeq } = await sessions.listEvents(KEY);
    expect(firstSeq).toBeGreaterThan(3);
    await expectRefusal(sessions.stateAt({ ...KEY, seq: firstSeq - 2 }), 'INVALID_INPUT', { path: 'seq' });
    expect(await readStatesAt(sessions, firstSeq - 1, 281)).toEqual([
      { a: 1, step: expect.any(Number) as number },
      { a: 1, step: 281 },
    ]);
    await sessions.rewindSession({ ...KEY, toSeq: firstSeq });
    expect((await load(sessions)).state.toRecord()).toEqual((await readStatesAt(sessions, firstSeq))[0]);
  });
});
