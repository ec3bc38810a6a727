import { InMemorySessionStorage, SessionService, StoreUnavailableError } from '../../src/index.js';
import type { AppendOutcome, Commit, ReadRequest, StoredSession } from '../../src/storage.js';
import type { TouchRequest } from '../../src/sessions/storage/delete-and-touch.js';
import { ManualClock } from '../../src/testing/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };

/** A store that can lose the response of an append, fail to read, or fail to renew an expiry. */
class FailingStorage extends InMemorySessionStorage {
  losesResponses = false;
  failsToRead = false;
  failsToTouch = false;

  override async touch(request: TouchRequest): Promise<void> {
    if (this.failsToTouch) throw new StoreUnavailableError('The disk is full.', false);
    return super.touch(request);
  }

  override async append(commit: Commit): Promise<AppendOutcome> {
    const outcome = await super.append(commit);
    if (this.losesResponses) throw new StoreUnavailableError('The answer was lost.', true);
    return outcome;
  }

  override async read(request: ReadRequest): Promise<StoredSession | undefined> {
    if (this.failsToRead && request.withSummary) throw new StoreUnavailableError('The net is down.', false);
    return super.read(request);
  }
}

describe('SessionService with a failing store', () => {
  it('names the event id to retry with, also if the id was generated', async () => {
    const storage = new FailingStorage();
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession(KEY);
    const event = { author: 'user', actions: { stateDelta: { count: 1 } } };
    storage.losesResponses = true;
    const lost: unknown = await sessions.appendEvent({ session, event }).catch((error: unknown) => error);
    if (!(lost instanceof StoreUnavailableError)) throw new Error('The append did not fail');
    storage.losesResponses = false;
    const again = await sessions.append({ session, event: { ...event, id: lost.eventId } });
    expect(again).toMatchObject({ duplicate: true, event: { seq: 1 } });
    expect(session.state.count).toBe(1);
  });

  it('names the event ids to retry a batch with', async () => {
    const storage = new FailingStorage();
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession(KEY);
    const events = [1, 2, 3].map((count) => ({ author: 'user', actions: { stateDelta: { count } } }));
    storage.losesResponses = true;
    const lost: unknown = await sessions.appendEvents({ session, events }).catch((error: unknown) => error);
    if (!(lost instanceof StoreUnavailableError)) throw new Error('The append did not fail');
    storage.losesResponses = false;
    expect([lost.eventIds?.length, lost.eventId]).toEqual([3, undefined]);
    const named = events.map((event, index) => ({ ...event, id: lost.eventIds?.[index] }));
    const again = await sessions.appendBatch({ session, events: named });
    expect(again).toMatchObject({ duplicate: true, events: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] });
    expect(session).toMatchObject({ version: 3 });
    expect(session.state.count).toBe(3);
  });

  it('saves state changes once if the save is retried', async () => {
    const storage = new FailingStorage();
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession(KEY);
    session.state.count = 1;
    storage.losesResponses = true;
    await expect(sessions.updateSession(session)).rejects.toMatchObject({ outcomeUnknown: true });
    storage.losesResponses = false;
    await Promise.all([sessions.updateSession(session), sessions.updateSession(session)]);
    expect((await sessions.listEvents(KEY)).lastSeq).toBe(1);
    expect(session.state.hasDelta()).toBe(false);
    session.state.count = 2;
    await sessions.updateSession(session);
    session.state.count = 1;
    await sessions.updateSession(session);
    expect((await sessions.listEvents(KEY)).lastSeq).toBe(3);
  });

  it('keeps a stored rewind and runs its hook', async () => {
    const storage = new FailingStorage();
    const failures: unknown[] = [];
    const sessions = new SessionService({ storage, onBackgroundError: (error) => failures.push(error) });
    const session = await sessions.createSession(KEY);
    await sessions.appendEvent({ session, event: { author: 'user' } });
    const received: number[] = [];
    sessions.hooks.onAfterAppend(({ event }) => void received.push(event.seq));
    storage.failsToRead = true;
    const stored = await sessions.appendEvent({
      session,
      event: { author: 'user', actions: { rewind: { toSeq: 0 } } },
    });
    await sessions.whenIdle();
    expect(stored.seq).toBe(2);
    expect(received).toEqual([2]);
    expect(failures).toEqual([expect.objectContaining({ code: 'STORE_UNAVAILABLE' })]);
  });

  it('returns a session whose expiry it cannot renew, and reports the failure', async () => {
    const clock = new ManualClock();
    const storage = new FailingStorage({ clock });
    const failures: unknown[] = [];
    const onBackgroundError = (error: unknown): unknown => failures.push(error);
    const ttl = { enabled: true, sessionSeconds: 100 };
    const sessions = new SessionService({ storage, clock, ttl, onBackgroundError });
    await sessions.createSession({ ...KEY, state: { step: 1 } });
    storage.failsToTouch = true;
    clock.advanceSeconds(90);
    expect((await sessions.getSession(KEY))?.state.step).toBe(1);
    await sessions.whenIdle();
    expect(failures).toEqual([expect.objectContaining({ code: 'STORE_UNAVAILABLE' })]);
    storage.failsToTouch = false;
    await sessions.getSession(KEY);
    clock.advanceSeconds(90);
    expect(await sessions.getSession(KEY)).toBeDefined();
  });
});

describe('SessionService settings', () => {
  it('use the default for undefined', async () => {
    const limits = { maxEventBytes: undefined, maxDeltaKeys: undefined } as unknown as { maxEventBytes: number };
    const sessions = new SessionService({ storage: new InMemorySessionStorage(), limits });
    const state = { text: 'x'.repeat(1_100_000) };
    await expect(sessions.createSession({ ...KEY, state })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it.each([
    [{ history: { maxEvents: 1.5 } }, 'history.maxEvents'],
    [{ history: { maxEvents: -1 } }, 'history.maxEvents'],
    [{ ttl: { sessionSeconds: Number.NaN } }, 'ttl.sessionSeconds'],
    [{ ttl: { enabled: 'yes' as unknown as boolean } }, 'ttl.enabled'],
    [{ limits: Object.fromEntries([['maxKeys', 1]]) }, 'limits.maxKeys'],
  ])('are refused by name: %j', (settings, path) => {
    const start = (): SessionService => new SessionService({ storage: new InMemorySessionStorage(), ...settings });
    const problems = [expect.stringMatching(`^${path} `)];
    expect(start).toThrow(expect.objectContaining({ code: 'CONFIGURATION_INVALID', problems }));
  });
});
