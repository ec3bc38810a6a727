import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { InMemorySessionStorage, type SessionSignals, SessionService } from '../../src/index.js';
import { InProcessSignals } from '../../src/sessions/session-signals.js';
import { signalsOf } from '../../src/sessions/session-signals.js';
import { storeOfEachKind } from '../support/stores.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };
const SESSION = { appName: 'shop', userId: 'ann', id: 'one' };
const NO_POLL = 1_000_000;
const ENDED = { done: true, value: undefined };

async function watchedSessions({ signals }: { signals?: SessionSignals } = {}) {
  const storage = new InMemorySessionStorage();
  const sessions = new SessionService({ storage, watchPollMs: NO_POLL, signals });
  await sessions.createSession(KEY);
  return { storage, sessions };
}

/** The number of active timers of this process. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

describe('watch', () => {
  it('delivers appends through other services on the same storage', async () => {
    const { storage, sessions } = await watchedSessions();
    const other = new SessionService({ storage });
    const next = sessions.watch(KEY).next();
    await setImmediate();
    await other.appendEvent({ session: SESSION, event: { author: 'user', id: 'e1' } });
    expect((await next).value).toMatchObject({ id: 'e1', seq: 1 });
    await sessions.close();
  });

  it.each(['before', 'after'] as const)('starts at the call, if the store answers %s a later append', async (order) => {
    const { storage, sessions } = await watchedSessions();
    await sessions.appendEvent({ session: SESSION, event: { author: 'user', id: 'e1' } });
    const [read, append] = [storage.read.bind(storage), storage.append.bind(storage)];
    const store = new EventEmitter();
    jest.spyOn(storage, 'read').mockImplementationOnce(async (request) => {
      await once(store, 'append');
      const answer = await read(request);
      store.emit('read');
      return answer;
    });
    jest.spyOn(storage, 'append').mockImplementationOnce(async (commit) => {
      const outcome = await append(commit);
      const isRead = once(store, 'read');
      store.emit('append');
      if (order === 'before') await isRead.then(() => setImmediate());
      return outcome;
    });
    const watch = sessions.watch(KEY);
    const first = watch.next();
    await sessions.appendEvents({ session: SESSION, events: [{ author: 'user' }, { author: 'user' }] });
    expect([(await first).value?.seq, (await watch.next()).value?.seq]).toEqual([2, 3]);
    await sessions.close();
  });

  it('continues after an event that is announced while the session is read', async () => {
    const { storage, sessions } = await watchedSessions();
    await sessions.appendEvent({ session: SESSION, event: { author: 'user', id: 'e1' } });
    const read = storage.read.bind(storage);
    jest.spyOn(storage, 'read').mockImplementationOnce((request) => {
      signalsOf(storage).announce(KEY);
      return read(request);
    });
    const watch = sessions.watch({ ...KEY, afterSeq: 1 });
    await sessions.appendEvent({ session: SESSION, event: { author: 'user', id: 'e2' } });
    expect((await watch.next()).value).toMatchObject({ id: 'e2', seq: 2 });
    await sessions.close();
  });

  it('finds events and deletions without a signal', async () => {
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage, watchPollMs: 5 });
    const elsewhere = new SessionService({ storage, signals: new InProcessSignals() });
    await sessions.createSession(KEY);
    const watch = sessions.watch(KEY);
    const next = watch.next();
    await setImmediate();
    await elsewhere.appendEvent({ session: SESSION, event: { author: 'user', id: 'e1' } });
    expect((await next).value).toMatchObject({ id: 'e1' });
    const end = expect(watch.next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await elsewhere.deleteSession(KEY);
    await end;
    await sessions.close();
  });

  it('leaves no listeners or timers, however it ends', async () => {
    const { storage, sessions } = await watchedSessions();
    const signals = signalsOf(storage);
    const before = timers();
    const abort = new AbortController();
    const broken = sessions.watch(KEY);
    const aborted = sessions.watch({ ...KEY, signal: abort.signal });
    const failing = sessions.watch(KEY);
    const waiting = [broken.next(), aborted.next()];
    const failure = expect(failing.next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await setImmediate();
    expect(signals.size).toBe(3);
    await broken.return?.();
    abort.abort();
    await Promise.all(waiting);
    expect(signals.size).toBe(1);
    await sessions.deleteSession(KEY);
    await failure;
    expect(signals.size).toBe(0);
    // Timers of other code in this process may have ended in the meantime.
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it('subscribes only while a call to next is pending, so that an abandoned watch holds nothing', async () => {
    const { storage, sessions } = await watchedSessions();
    const watch = sessions.watch({ ...KEY, afterSeq: 0 });
    await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
    await watch.next();
    sessions.watch(KEY);
    await setImmediate();
    expect(signalsOf(storage).size).toBe(0);
  });

  it('does not fail appends if the signals fail', async () => {
    const failures: unknown[] = [];
    const signals: SessionSignals = {
      subscribe: () => () => undefined,
      announce() {
        throw new Error('out of order');
      },
    };
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage, signals, onBackgroundError: (error) => failures.push(error) });
    await sessions.createSession(KEY);
    expect(await sessions.appendEvent({ session: SESSION, event: { author: 'user' } })).toMatchObject({ seq: 1 });
    await sessions.whenIdle();
    expect(failures).toHaveLength(2);
  });

  it('refuses a poll interval that timers do not support', () => {
    const storage = new InMemorySessionStorage();
    for (const watchPollMs of [0, -1, 0.5, NaN, 2 ** 31]) {
      expect(() => new SessionService({ storage, watchPollMs })).toThrow('watchPollMs');
    }
  });
});

describe.each(storeOfEachKind)('closing a service with watches on $name', ({ open }) => {
  it('ends every watch without an error, even if events are left', async () => {
    const { storage, destroy } = await open({});
    const sessions = new SessionService({ storage, watchPollMs: NO_POLL });
    await sessions.createSession(KEY);
    const waiting = sessions.watch(KEY).next();
    await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
    await waiting;
    const watch = sessions.watch({ ...KEY, afterSeq: 0 });
    for (let count = 0; count < 2; count++) await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
    await watch.next();
    const idle = sessions.watch(KEY).next();
    await sessions.close();
    expect(await idle).toEqual(ENDED);
    expect(await watch.next()).toEqual(ENDED);
    expect(await sessions.watch(KEY).next()).toEqual(ENDED);
    await destroy();
  });
});
