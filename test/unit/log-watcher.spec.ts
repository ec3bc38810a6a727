import { LogWatcher } from '../../src/sessions/log-watcher.js';
import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';
import type { LogListener, LogPosition, LogReference, SessionChanges } from '../../src/storage.js';

const TICK = 100;
const CHECK = 30 * TICK;
const NEVER_ENDING = 1e12;

/** A storage of which only the changes matter, with what it was asked. */
class Changes {
  readonly asked: string[][] = [];
  readonly ears = new Map<string, LogListener>();
  readonly positions = new Map<string, LogPosition>();
  isLive = true;

  logs(options: { withFeed: boolean }): LogWatcher {
    const feed: SessionChanges['feed'] = {
      listen: ({ key: { sessionId } }, hear) => {
        this.ears.set(sessionId, hear);
        const isLive = (): boolean => this.isLive;
        return {
          get isLive() {
            return isLive();
          },
          stop: () => this.ears.delete(sessionId),
        };
      },
    };
    const changes: SessionChanges = {
      positions: async (logs) => {
        this.asked.push(logs.map(({ key }) => key.sessionId));
        return logs.map(({ key }) => this.positions.get(key.sessionId));
      },
      ...(options.withFeed && { feed }),
    };
    return new LogWatcher({ changes } as unknown as SessionStorage, TICK);
  }

  put(sessionId: string, lastSeq: number, livesForMs = NEVER_ENDING): void {
    this.positions.set(sessionId, { lastSeq, livesForMs });
  }
}

function log(sessionId: string): LogReference {
  return { key: { appName: 'shop', userId: 'ann', sessionId }, incarnation: '1' };
}

function waiter(seq: number) {
  return { seq, wake: jest.fn() };
}

describe('logs that somebody waits for', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('are looked at together, one question a tick, and wake only those who miss something', async () => {
    const changes = new Changes();
    const logs = changes.logs({ withFeed: false });
    const waiters = Array.from({ length: 2_000 }, () => waiter(3));
    for (const [index, each] of waiters.entries()) {
      changes.put(`s-${index}`, 3);
      logs.add(log(`s-${index}`), each);
    }
    await jest.advanceTimersByTimeAsync(10 * TICK);
    expect(changes.asked.map((asked) => asked.length)).toEqual(Array.from({ length: 10 }, () => 2_000));
    expect(waiters.filter(({ wake }) => wake.mock.calls.length > 0)).toEqual([]);

    changes.put('s-7', 4);
    changes.positions.delete('s-8');
    await jest.advanceTimersByTimeAsync(TICK);
    expect(waiters.flatMap(({ wake }, index) => (wake.mock.calls.length > 0 ? [index] : []))).toEqual([7, 8]);
  });

  it('cost nothing once nobody waits', async () => {
    const changes = new Changes();
    const logs = changes.logs({ withFeed: false });
    changes.put('s', 1);
    const stop = logs.add(log('s'), waiter(1));
    await jest.advanceTimersByTimeAsync(TICK);
    stop();
    expect(logs.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are left alone while they are heard, but for a first look, a check now and then, and their end', async () => {
    const changes = new Changes();
    const logs = changes.logs({ withFeed: true });
    const [lasting, ending] = [waiter(1), waiter(1)];
    changes.put('lasting', 1);
    changes.put('ending', 1, 10 * TICK);
    logs.add(log('lasting'), lasting);
    logs.add(log('ending'), ending);
    await jest.advanceTimersByTimeAsync(5 * TICK);
    expect(changes.asked).toEqual([['lasting', 'ending']]);

    changes.positions.delete('ending');
    await jest.advanceTimersByTimeAsync(6 * TICK);
    expect(changes.asked.slice(1)).toEqual([['ending']]);
    expect(ending.wake).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(CHECK);
    expect(changes.asked.filter((asked) => asked.includes('lasting'))).toHaveLength(2);
    expect(lasting.wake).not.toHaveBeenCalled();

    changes.ears.get('lasting')?.(1);
    expect(lasting.wake).not.toHaveBeenCalled();
    changes.ears.get('lasting')?.(2);
    expect(lasting.wake).toHaveBeenCalledTimes(1);
  });

  it('are asked about at once and together where something may have been missed', async () => {
    const changes = new Changes();
    const logs = changes.logs({ withFeed: true });
    const waiters = ['a', 'b', 'c'].map((name) => {
      changes.put(name, 1);
      const each = waiter(1);
      logs.add(log(name), each);
      return each;
    });
    changes.put('b', 2);
    for (const name of ['a', 'b', 'c']) changes.ears.get(name)?.();
    await jest.advanceTimersByTimeAsync(1);
    expect(changes.asked).toEqual([['a', 'b', 'c']]);
    expect(waiters.map(({ wake }) => wake.mock.calls.length)).toEqual([0, 1, 0]);
  });

  it('are looked at with each tick while they cannot be heard', async () => {
    const changes = new Changes();
    changes.isLive = false;
    const logs = changes.logs({ withFeed: true });
    changes.put('s', 1);
    logs.add(log('s'), waiter(1));
    await jest.advanceTimersByTimeAsync(5 * TICK);
    expect(changes.asked).toHaveLength(5);
  });

  it('keep their ear from one event to the next, and lose it some time after the last', async () => {
    const changes = new Changes();
    const logs = changes.logs({ withFeed: true });
    changes.put('s', 1);
    logs.add(log('s'), waiter(1))();
    await jest.advanceTimersByTimeAsync(CHECK / 2);
    logs.add(log('s'), waiter(1))();
    expect([...changes.ears.keys()]).toEqual(['s']);
    await jest.advanceTimersByTimeAsync(2 * CHECK);
    expect(changes.ears.size).toBe(0);
    expect(logs.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('have everybody look where positions cannot be told', async () => {
    const failing = { changes: { positions: () => Promise.reject(new Error('out of order')) } };
    for (const storage of [failing, {}]) {
      const logs = new LogWatcher(storage as unknown as SessionStorage, TICK);
      const waits = waiter(1);
      logs.add(log('s'), waits);
      await jest.advanceTimersByTimeAsync(2 * TICK);
      expect(waits.wake).toHaveBeenCalledTimes(2);
    }
  });
});
