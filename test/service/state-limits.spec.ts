import { LimitExceededError, SessionService } from '../../src/index.js';
import { firstStore } from '../support/stores.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const LIMITS = { maxSessionStateBytes: 1_000, maxUserStateBytes: 500, maxAppStateBytes: 400 };

const text = (length: number): string => 'x'.repeat(length);
const write = (stateDelta: Record<string, unknown>) => ({ author: 'user', actions: { stateDelta } });

describe.each(firstStore)('limits of state with $name', ({ open }) => {
  async function opened(work: (small: SessionService, large: SessionService) => Promise<void>): Promise<void> {
    const { storage, destroy } = await open({});
    const [small, large] = [new SessionService({ storage, limits: LIMITS }), new SessionService({ storage })];
    try {
      await work(small, large);
    } finally {
      await small.whenIdle();
      await destroy();
    }
  }

  it('refuse each way to write, name scope, size and limit, and store nothing', async () => {
    await opened(async (sessions) => {
      await sessions.createSession({ ...KEY, state: { a: text(600) } });
      const appended = sessions.appendEvent({ session: SESSION, event: write({ b: text(600) }) });
      await expect(appended).rejects.toMatchObject({
        code: 'LIMIT_EXCEEDED',
        status: 413,
        path: '$.actions.stateDelta',
      });
      await expect(appended).rejects.toThrow(/state of the session would have 1206 bytes; at most 1000/);
      const batch = sessions.appendEvents({
        session: SESSION,
        events: [write({ b: text(300) }), write({ c: text(300) })],
      });
      await expect(batch).rejects.toThrow(LimitExceededError);
      const created = sessions.createSession({ ...KEY, sessionId: 's-2', state: { 'user:a': text(600) } });
      await expect(created).rejects.toThrow(/state of the user would have 603 bytes; at most 500/);
      const user = sessions.updateUserState({ ...KEY, stateDelta: { a: text(600) } });
      await expect(user).rejects.toThrow(/limits\.maxUserStateBytes/);
      const app = sessions.updateAppState({ ...KEY, stateDelta: { a: text(600) } });
      await expect(app).rejects.toThrow(/limits\.maxAppStateBytes/);
      const session = await sessions.getSession(KEY);
      expect(session?.version).toBe(0);
      expect(Object.keys(session?.state.toRecord() ?? {})).toEqual(['a']);
      expect(await sessions.getSession({ ...KEY, sessionId: 's-2' })).toBeUndefined();
    });
  });

  it('hold for a rewind and a fork that would restore more', async () => {
    await opened(async (small, large) => {
      await large.createSession({ ...KEY, state: {} });
      await large.appendEvent({ session: SESSION, event: write({ a: text(900) }) });
      await large.appendEvent({ session: SESSION, event: write({ b: text(900) }) });
      await large.appendEvent({ session: SESSION, event: { author: 'user', actions: { stateRemovals: ['a'] } } });
      await expect(small.rewindSession({ ...KEY, toSeq: 2 })).rejects.toThrow(LimitExceededError);
      await expect(small.forkSession({ ...KEY, atSeq: 2 })).rejects.toThrow(LimitExceededError);
      await expect(small.rewindSession({ ...KEY, toSeq: 1 })).resolves.toMatchObject({ version: 4 });
    });
  });

  it('refuse reads of state that is larger, while the rest can be read and state can be removed', async () => {
    await opened(async (small, large) => {
      await large.createSession({ ...KEY, state: { a: text(900), b: text(900), 'user:a': text(900) } });
      await expect(small.getSession(KEY)).rejects.toThrow(/too many to load/);
      await expect(small.getUserState(KEY)).rejects.toThrow(/stateRemovals/);
      await expect(small.listSessions(KEY)).rejects.toMatchObject({ status: 413 });
      expect((await small.listSessions({ ...KEY, includeState: false })).sessions).toHaveLength(1);
      expect((await small.listEvents(KEY)).events).toEqual([]);
      await small.appendEvent({ session: SESSION, event: { author: 'user', actions: { stateRemovals: ['a'] } } });
      await small.updateUserState({ ...KEY, stateRemovals: ['a'] });
      expect((await small.getSession(KEY))?.state.toRecord()).toEqual({ b: text(900) });
    });
  });

  it('refuse the history of state that was far larger', async () => {
    await opened(async (small, large) => {
      await large.createSession(KEY);
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        await large.appendEvent({ session: SESSION, event: write({ [name]: text(900) }) });
      }
      await expect(small.stateAt({ ...KEY, seq: 5 })).rejects.toMatchObject({ status: 413 });
      await expect(small.stateAt({ ...KEY, seq: 1 })).resolves.toMatchObject({ state: { a: text(900) } });
    });
  });
});
