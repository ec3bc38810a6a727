import { LogWatcher } from '../../src/sessions/log-watcher.js';
import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';
import type { ChangeFeed, LogListener, LogReference, LogTail } from '../../src/storage.js';

const TICK = 1_000;
const CHECK = 30 * TICK;
/** By then, ticks without news are as far from each other as they become. */
const CALM = 10 * TICK;
const NO_EXPIRY_MS = 1e12;

/** A storage that has only the ends of logs, and records which were asked for. */
class FakeChanges {
  readonly queried: string[][] = [];
  readonly listeners = new Map<string, LogListener>();
  readonly tails = new Map<string, LogTail>();
  isLive = true;

  logs(options: { withFeed: boolean }): LogWatcher {
    const feed: ChangeFeed = {
      listen: ({ key: { sessionId } }, hear) => {
        this.listeners.set(sessionId, hear);
        const isLive = (): boolean => this.isLive;
        return {
          get isLive() {
            return isLive();
          },
          stop: () => this.listeners.delete(sessionId),
        };
      },
    };
    const tails: SessionStorage['tails'] = async (logs) => {
      this.queried.push(logs.map(({ key }) => key.sessionId));
      return logs.map(({ key }) => this.tails.get(key.sessionId));
    };
    return new LogWatcher({ tails, ...(options.withFeed && { feed }) } as unknown as SessionStorage, TICK);
  }

  put(sessionId: string, lastSeq: number, livesForMs = NO_EXPIRY_MS): void {
    this.tails.set(sessionId, { lastSeq, livesForMs, events: [] });
  }
}

function log(sessionId: string): LogReference {
  return { key: { appName: 'shop', userId: 'ann', sessionId }, incarnation: '1' };
}

function waiter(seq: number) {
  return { seq, wake: jest.fn() };
}

describe('LogWatcher', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('polls all logs with one query per tick, and wakes only waiters that missed an event', async () => {
    const changes = new FakeChanges();
    const logs = changes.logs({ withFeed: false });
    const waiters = Array.from({ length: 2_000 }, () => waiter(3));
    for (const [index, each] of waiters.entries()) {
      changes.put(`s-${index}`, 3);
      logs.add(log(`s-${index}`), each);
    }
    await jest.advanceTimersByTimeAsync(CALM);
    changes.queried.length = 0;
    await jest.advanceTimersByTimeAsync(10 * TICK);
    expect(changes.queried.map((queried) => queried.length)).toEqual(Array.from({ length: 10 }, () => 2_000));
    expect(waiters.filter(({ wake }) => wake.mock.calls.length > 0)).toEqual([]);

    changes.put('s-7', 4);
    changes.tails.delete('s-8');
    await jest.advanceTimersByTimeAsync(TICK);
    expect(waiters.flatMap(({ wake }, index) => (wake.mock.calls.length > 0 ? [index] : []))).toEqual([7, 8]);
  });

  it('polls often what is watched anew or has news, and more and more rarely what has none', async () => {
    const changes = new FakeChanges();
    const logs = changes.logs({ withFeed: false });
    const waits = waiter(1);
    changes.put('s', 1);
    logs.add(log('s'), waits);
    const pollsIn = async (ms: number): Promise<number> => {
      changes.queried.length = 0;
      await jest.advanceTimersByTimeAsync(ms);
      return changes.queried.length;
    };
    expect(await pollsIn(TICK / 2)).toBeGreaterThan(5);
    await pollsIn(CALM);
    expect(await pollsIn(CALM)).toBe(10);
    changes.put('s', 2);
    await pollsIn(TICK);
    expect(waits.wake).toHaveBeenCalled();
    waits.seq = 2;
    expect(await pollsIn(TICK / 2)).toBeGreaterThan(5);
    await pollsIn(CALM);
    expect(await pollsIn(CALM)).toBe(10);
  });

  it('stops polling when the last waiter leaves', async () => {
    const changes = new FakeChanges();
    const logs = changes.logs({ withFeed: false });
    changes.put('s', 1);
    const stop = logs.add(log('s'), waiter(1));
    await jest.advanceTimersByTimeAsync(TICK);
    stop();
    expect(logs.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('polls a log with a live feed only at the start, at long intervals, and when it expires', async () => {
    const changes = new FakeChanges();
    const logs = changes.logs({ withFeed: true });
    const [lasting, ending] = [waiter(1), waiter(1)];
    changes.put('lasting', 1);
    changes.put('ending', 1, 10 * TICK);
    logs.add(log('lasting'), lasting);
    logs.add(log('ending'), ending);
    await jest.advanceTimersByTimeAsync(5 * TICK);
    expect(changes.queried).toEqual([['lasting', 'ending']]);

    changes.tails.delete('ending');
    await jest.advanceTimersByTimeAsync(6 * TICK);
    expect(changes.queried.slice(1)).toEqual([['ending']]);
    expect(ending.wake).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(CHECK);
    expect(changes.queried.filter((queried) => queried.includes('lasting'))).toHaveLength(2);
    expect(lasting.wake).not.toHaveBeenCalled();

    changes.listeners.get('lasting')?.(1);
    expect(lasting.wake).not.toHaveBeenCalled();
    changes.listeners.get('lasting')?.(2);
    expect(lasting.wake).toHaveBeenCalledTimes(1);
  });

  it('queries logs at once and together when the feed reports a possible gap', async () => {
    const changes = new FakeChanges();
    const logs = changes.logs({ withFeed: true });
    const waiters = ['a', 'b', 'c'].map((name) => {
      changes.put(name, 1);
      const each = waiter(1);
      logs.add(log(name), each);
      return each;
    });
    changes.put('b', 2);
    for (const name of ['a', 'b', 'c']) changes.listeners.get(name)?.();
    await jest.advanceTimersByTimeAsync(1);
    expect(changes.queried).toEqual([['a', 'b', 'c']]);
    expect(waiters.map(({ wake }) => wake.mock.calls.length)).toEqual([0, 1, 0]);
  });

  it('polls on each tick while the feed is not live', async () => {
    const changes = new FakeChanges();
    changes.isLive = false;
    const logs = changes.logs({ withFeed: true });
    changes.put('s', 1);
    logs.add(log('s'), waiter(1));
    await jest.advanceTimersByTimeAsync(5 * TICK);
    expect(changes.queried).toHaveLength(5);
  });

  it('keeps its listener between events, and stops it some time after the last one', async () => {
    const changes = new FakeChanges();
    const logs = changes.logs({ withFeed: true });
    changes.put('s', 1);
    logs.add(log('s'), waiter(1))();
    await jest.advanceTimersByTimeAsync(CHECK / 2);
    logs.add(log('s'), waiter(1))();
    expect([...changes.listeners.keys()]).toEqual(['s']);
    await jest.advanceTimersByTimeAsync(2 * CHECK);
    expect(changes.listeners.size).toBe(0);
    expect(logs.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('wakes every waiter on each tick if positions are not available', async () => {
    const failing = { changes: { positions: () => Promise.reject(new Error('out of order')) } };
    for (const storage of [failing, {}]) {
      const logs = new LogWatcher(storage as unknown as SessionStorage, TICK);
      const waits = waiter(1);
      logs.add(log('s'), waits);
      await jest.advanceTimersByTimeAsync(CALM);
      waits.wake.mockClear();
      await jest.advanceTimersByTimeAsync(2 * TICK);
      expect(waits.wake).toHaveBeenCalledTimes(2);
    }
  });
});
