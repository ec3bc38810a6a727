import {
  type EventInput,
  QuotaExceededError,
  SessionService,
  type SessionServiceOptions,
  StaleSessionError,
} from '../../src/index.js';
import { ManualClock } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { withNotedCalls } from '../support/noted-calls.js';
import { storesAboveThePort } from '../support/stores.js';

const ANN = { appName: 'shop', userId: 'ann' };
const KEY = { ...ANN, sessionId: 's' };
const SESSION = { ...ANN, id: 's' };
const NOON = Date.UTC(2026, 10, 23, 12);

const says = (text: string, more: EventInput = {}): EventInput => ({
  author: 'user',
  content: { parts: [{ text }] },
  ...more,
});
const ONE = says('one', { id: 'e-1', actions: { stateDelta: { 'temp:draft': 1 } } });
const TWO = says('two', { id: 'e-2' });

describe.each(storesAboveThePort)('an append at a full quota on $name', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  let sessions: SessionService;
  const calls: string[] = [];

  beforeEach(async () => {
    clock = new ManualClock(NOON + 1_000);
    opened = await open({ clock });
  });

  afterEach(async () => {
    await sessions.finish();
    await opened.destroy();
  });

  /** A session with the events `e-1` and `e-2`, after which the quota has no room. */
  async function startFull(quotas: SessionServiceOptions['quotas'] = { user: { appendsPerMinute: 2 } }): Promise<void> {
    sessions = new SessionService({ storage: withNotedCalls(opened.storage, calls), clock, quotas });
    await sessions.createSession(KEY);
    for (const event of [ONE, TWO]) await sessions.append({ session: SESSION, event });
    await expect(sessions.append({ session: SESSION, event: says('three') })).rejects.toThrow(QuotaExceededError);
    calls.length = 0;
  }

  it('that repeats a stored event is answered with it, through a session object too', async () => {
    await startFull();
    const { events } = await sessions.listEvents(KEY);
    const stored = events[0];
    expect(await sessions.append({ session: SESSION, event: ONE })).toEqual({ event: stored, duplicate: true });
    const session = await sessions.getSession(KEY);
    expect(await sessions.append({ session: session ?? SESSION, event: ONE })).toEqual({
      event: stored,
      duplicate: true,
    });
    expect(session?.state.get('temp:draft')).toBe(1);
    expect((await sessions.listEvents(KEY)).events).toEqual(events);
  });

  it('that repeats a batch is answered with all of it, and a part of it is the conflict that it is with room', async () => {
    await startFull();
    const { events } = await sessions.listEvents(KEY);
    const batch = (...given: EventInput[]) => sessions.appendBatch({ session: SESSION, events: given });
    expect(await batch(ONE, TWO)).toEqual({ events, duplicate: true });
    await expect(batch(TWO, says('three', { id: 'e-3' }))).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
    expect((await sessions.listEvents(KEY)).lastSeq).toBe(2);
  });

  it('is answered whatever quota is full, and whatever the repeated append expected of the session', async () => {
    await startFull({ user: { storedBytes: 1_000_000 }, process: { appendsPerMinute: 2 } });
    const repeated = await sessions.append({ session: SESSION, event: ONE, expectedVersion: 0 });
    expect(repeated).toMatchObject({ event: { seq: 1 }, duplicate: true });
  });

  it('is refused and not stored if it is new, or only has the id of a stored event', async () => {
    await startFull();
    const append = (event: EventInput) => sessions.append({ session: SESSION, event });
    await expect(append(says('three', { id: 'e-3' }))).rejects.toThrow(QuotaExceededError);
    await expect(append(says('other', { id: 'e-1' }))).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
    const elsewhere = { ...ANN, id: 'missing' };
    await expect(sessions.append({ session: elsewhere, event: ONE })).rejects.toThrow(QuotaExceededError);
    expect((await sessions.listEvents(KEY)).lastSeq).toBe(2);
    clock.advanceSeconds(59);
    await expect(sessions.append({ session: SESSION, event: says('x'), expectedVersion: 9 })).rejects.toThrow(
      StaleSessionError,
    );
    expect(await append(says('three', { id: 'e-3' }))).toMatchObject({ event: { seq: 3 }, duplicate: false });
  });

  it('is refused without a question to the store if it has no id of its own', async () => {
    await startFull();
    for (const events of [[says('three')], [ONE, says('three')]]) {
      await expect(sessions.appendEvents({ session: SESSION, events })).rejects.toThrow(QuotaExceededError);
    }
    expect(calls).toEqual([]);
    await sessions.append({ session: SESSION, event: TWO });
    expect(calls).toEqual(['append']);
  });

  it('is answered by the id that a hook gives', async () => {
    await startFull();
    sessions.hooks.onBeforeAppend(({ event }) => ({ ...event, id: 'e-2' }));
    const { id: _id, ...withoutId } = TWO;
    expect(await sessions.append({ session: SESSION, event: withoutId })).toMatchObject({ duplicate: true });
  });
});
