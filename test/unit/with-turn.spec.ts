import {
  type HeldTurn,
  InMemorySessionStorage,
  SessionService,
  StoreUnavailableError,
  TurnLostError,
} from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const TTL_MS = 30_000;
const TURN = { ...KEY, holder: 'one', ttlMs: TTL_MS };
const noAnswer = new StoreUnavailableError('No answer.', true);

describe('withTurn', () => {
  let storage: InMemorySessionStorage;
  let sessions: SessionService;
  let turns: jest.SpyInstance;
  const errors: unknown[] = [];

  beforeEach(async () => {
    jest.useFakeTimers();
    errors.length = 0;
    storage = new InMemorySessionStorage();
    turns = jest.spyOn(storage, 'turn');
    sessions = new SessionService({ storage, onBackgroundError: (error) => errors.push(error) });
    await sessions.createSession(KEY);
  });

  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const renewals = (): number => turns.mock.calls.filter(([{ action }]) => action === 'renew').length;

  /** Starts work that lasts until the test settles it. */
  async function start() {
    let settle: { resolve: (result: string) => void; reject: (error: unknown) => void } | undefined;
    let held: HeldTurn | undefined;
    const outcome = sessions
      .withTurn(TURN, (turn) => {
        held = turn;
        return new Promise<string>((resolve, reject) => (settle = { resolve, reject }));
      })
      .catch((error: unknown) => ({ error }));
    await jest.advanceTimersByTimeAsync(0);
    if (!held || !settle) throw new Error('The work did not start');
    return { outcome, turn: held, ...settle };
  }

  it('runs work in a turn, which its writes can name, and ends the turn', async () => {
    const result = await sessions.withTurn(TURN, async (turn) => {
      expect(turn).toMatchObject({ ...TURN, number: 1 });
      expect(turn.signal.aborted).toBe(false);
      await expect(sessions.beginTurn(KEY)).rejects.toMatchObject({ code: 'TURN_HELD' });
      const session = { id: KEY.sessionId, appName: 'shop', userId: 'ann' };
      return sessions.appendEvent({ session, event: { author: 'agent' }, turn });
    });
    expect(result.seq).toBe(1);
    expect(await sessions.getTurn(KEY)).toBeUndefined();
  });

  it('makes no call for the end of a turn that a write of the work ended', async () => {
    await sessions.withTurn(TURN, async (turn) => {
      const session = { id: KEY.sessionId, appName: 'shop', userId: 'ann' };
      await sessions.appendEvent({ session, event: { author: 'agent' }, turn, endTurn: true });
      turn.markEnded();
    });
    expect(turns.mock.calls.map(([{ action }]) => action as string)).toEqual(['begin']);
    expect(await sessions.getTurn(KEY)).toBeUndefined();
  });

  it('does not run work if the turn is held', async () => {
    const other = await sessions.beginTurn(KEY);
    const work = jest.fn();
    await expect(sessions.withTurn(TURN, work)).rejects.toMatchObject({ code: 'TURN_HELD' });
    expect(work).not.toHaveBeenCalled();
    expect(await sessions.getTurn(KEY)).toMatchObject({ number: other.number });
  });

  it('ends the turn and rethrows if the work fails, at once or later', async () => {
    const error = new Error('work failed');
    const later = sessions.withTurn(TURN, () => Promise.reject(error));
    await expect(later).rejects.toBe(error);
    const atOnce = sessions.withTurn(TURN, () => {
      throw error;
    });
    await expect(atOnce).rejects.toBe(error);
    await expect(sessions.withTurn(TURN, 'work' as never)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      path: 'work',
    });
    expect(await sessions.getTurn(KEY)).toBeUndefined();
  });

  it('renews the turn in time while the work runs', async () => {
    const { outcome, turn, resolve } = await start();
    await jest.advanceTimersByTimeAsync(10 * TTL_MS);
    expect(renewals()).toBe(30);
    turns.mockRejectedValueOnce(noAnswer);
    await jest.advanceTimersByTimeAsync((2 * TTL_MS) / 3);
    expect(errors).toEqual([noAnswer]);
    expect(await sessions.getTurn(KEY)).toMatchObject({ holder: 'one', number: 1 });
    expect(turn.signal.aborted).toBe(false);
    resolve('done');
    expect(await outcome).toBe('done');
  });

  it.each([
    ['another writer has it', { kind: 'lost' }],
    ['its session was deleted', { kind: 'missing' }],
  ])('aborts the signal if a renewal finds that %s, and does not return the result', async (_how, answer) => {
    const { outcome, turn, resolve } = await start();
    turns.mockResolvedValueOnce(answer);
    await jest.advanceTimersByTimeAsync(TTL_MS / 3);
    expect(turn.signal.reason).toBeInstanceOf(TurnLostError);
    await jest.advanceTimersByTimeAsync(TTL_MS);
    expect(renewals()).toBe(1);
    resolve('too late');
    expect(await outcome).toEqual({ error: turn.signal.reason });
  });

  it('aborts the signal in time if the store never answers', async () => {
    const { outcome, turn, reject } = await start();
    turns.mockReturnValueOnce(new Promise(() => undefined));
    await jest.advanceTimersByTimeAsync(TTL_MS - 1);
    expect(turn.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(turn.signal.aborted).toBe(true);
    reject(new DOMException('stopped', 'AbortError'));
    expect(await outcome).toEqual({ error: expect.any(TurnLostError) });
  });

  it('rethrows the error of work that was stopped, unless it only says so', async () => {
    const { outcome, turn, reject } = await start();
    turns.mockResolvedValueOnce({ kind: 'lost' });
    await jest.advanceTimersByTimeAsync(TTL_MS / 3);
    const error = new Error('no stock', { cause: turn.signal.reason });
    reject(error);
    expect(await outcome).toEqual({ error });
  });

  it('notices a pause of the process before its timers run', async () => {
    const { outcome, resolve } = await start();
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(now + TTL_MS);
    resolve('too late');
    expect(await outcome).toEqual({ error: expect.any(TurnLostError) });
    clock.mockRestore();
  });

  it('returns the result if the turn cannot be ended, and reports why', async () => {
    const { outcome, resolve } = await start();
    turns.mockRejectedValueOnce(noAnswer);
    resolve('done');
    expect(await outcome).toBe('done');
    expect(errors).toEqual([noAnswer]);
    await jest.advanceTimersByTimeAsync(TTL_MS);

    const result = await sessions.withTurn(TURN, async () => {
      await sessions.deleteSession(KEY);
      return 'deleted';
    });
    expect(result).toBe('deleted');
    expect(errors).toHaveLength(1);
  });
});
