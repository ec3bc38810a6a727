import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import type { ReadRequest, StoredSession } from '../../src/storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };
const SESSION = { appName: 'shop', userId: 'ann', id: 'one' };

/** Runs `interruption` after the next read, so that it happens between two reads of one operation. */
class InterruptedStorage extends InMemorySessionStorage {
  interruption: (() => Promise<void>) | undefined;

  override async read(request: ReadRequest): Promise<StoredSession | undefined> {
    const read = await super.read(request);
    const interruption = this.interruption;
    this.interruption = undefined;
    await interruption?.();
    return read;
  }
}

async function numberedSession(length: number) {
  const storage = new InterruptedStorage();
  const sessions = new SessionService({ storage });
  await sessions.createSession({ ...KEY, state: { count: 0 } });
  const append = async (count: number): Promise<unknown> =>
    sessions.appendEvent({
      session: SESSION,
      event: { author: 'user', id: `e${count}`, actions: { stateDelta: { count } } },
    });
  for (let count = 1; count <= length; count++) await append(count);
  return { storage, sessions, append };
}

describe('forkSession on a session that changes', () => {
  it('does not copy an event that is appended after the fork starts', async () => {
    const { storage, sessions, append } = await numberedSession(3);
    storage.interruption = async () => void (await append(4));
    const fork = await sessions.forkSession(KEY);
    expect(fork.events.map(({ id }) => id)).toEqual(['e1', 'e2', 'e3']);
    expect(fork.state.toRecord()).toEqual({ count: 3 });
  });

  it('starts again if the log is trimmed', async () => {
    const { storage, sessions } = await numberedSession(6);
    const { incarnation, firstSeq, marksSeq } = (await storage.read({ key: KEY }))?.record ?? { incarnation: '' };
    storage.interruption = async () =>
      storage.trim({
        key: KEY,
        incarnation,
        firstSeq: firstSeq ?? 1,
        marksSeq: marksSeq ?? 0,
        newFirstSeq: 4,
        digests: ['d1', 'd2', 'd3'],
        baseState: '{"count":3}',
      });
    const fork = await sessions.forkSession({ ...KEY, atSeq: 5 });
    expect(fork.events.map(({ id, seq }) => [id, seq])).toEqual([
      ['e4', 1],
      ['e5', 2],
    ]);
    expect(fork.state.toRecord()).toEqual({ count: 5 });
    expect((await sessions.rewindSession({ ...KEY, sessionId: fork.id, toSeq: 0 })).state.toRecord()).toEqual({
      count: 3,
    });
  });

  it('fails if the session is deleted and created again', async () => {
    const { storage, sessions } = await numberedSession(3);
    storage.interruption = async () => {
      await sessions.deleteSession(KEY);
      await sessions.createSession(KEY);
    };
    await expect(sessions.forkSession(KEY)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });
});
