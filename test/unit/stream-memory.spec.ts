import { EventEmitter } from 'node:events';
import type { PageShare } from '../../src/sessions/operations/read-gate.js';
import { ByteLine } from '../../src/sessions/transport/byte-line.js';
import { READING_SECONDS, StreamMemory } from '../../src/sessions/transport/stream-memory.js';

class Connection extends EventEmitter {
  closed = false;
  writableEnded = false;
  writableFinished = false;
  writableNeedDrain = false;
}

const MAX = 800;
const never = (): AbortSignal => new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

describe('the line of those who wait for bytes', () => {
  it('lets small ones in after the large one that came before', async () => {
    const line = new ByteLine();
    const seen: string[] = [];
    await line.enter(60, 100, never());
    void line.enter(90, 100, never()).then(() => seen.push('large'));
    void line.enter(10, 100, never()).then(() => seen.push('small'));
    await turn();
    expect([seen, line.held, line.wanted]).toEqual([[], 60, 100]);
    line.change(-60);
    await turn();
    expect([seen, line.held, line.wanted]).toEqual([['large', 'small'], 100, 0]);
  });

  it('lets one in alone, however large it is', async () => {
    const line = new ByteLine();
    expect(await line.enter(1_000, 100, never())).toBe(true);
  });

  it('forgets who does not wait any more, and lets in the next', async () => {
    const line = new ByteLine();
    const leaving = new AbortController();
    await line.enter(50, 100, never());
    const large = line.enter(80, 100, leaving.signal);
    const small = line.enter(50, 100, never());
    leaving.abort();
    expect([await large, await small, line.held]).toEqual([false, true, 100]);
    expect(await line.enter(1, 100, leaving.signal)).toBe(false);
  });
});

describe('the memory of streams', () => {
  let memory: StreamMemory;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    memory = new StreamMemory();
  });

  afterEach(() => jest.useRealTimers());

  function reserve(connection: Connection, bytes: number, onStall = jest.fn()): Promise<PageShare | undefined> {
    return memory.reserve({ connection, bytes, maxBytes: MAX, onStall, signal: never() });
  }

  it('is returned when the connection has taken what was written', async () => {
    const connection = new Connection();
    const share = await reserve(connection, 100);
    share?.resize(80);
    connection.writableNeedDrain = true;
    share?.release();
    share?.release();
    expect(memory.held).toBe(80);
    connection.emit('drain');
    expect(memory.held).toBe(0);
  });

  it.each(['close', 'finish'])('is returned when the connection ends: %s', async (event) => {
    const connection = new Connection();
    const share = await reserve(connection, 100);
    Object.assign(connection, { writableNeedDrain: true, writableEnded: true });
    share?.release();
    expect(memory.held).toBe(100);
    connection.emit(event);
    expect(memory.held).toBe(0);
  });

  it('goes to one connection up to a part only', async () => {
    const busy = new Connection();
    const first = await reserve(busy, MAX / 8);
    const second = reserve(busy, 1);
    await reserve(new Connection(), MAX / 2);
    expect(memory.held).toBe(MAX / 8 + MAX / 2);
    first?.release();
    expect(await second).toBeDefined();
  });

  it('is taken from the slowest readers, as many as it takes, once others have waited', async () => {
    const slow = [jest.fn(), jest.fn()];
    for (const onStall of slow) (await reserve(new Connection(), MAX / 2, onStall))?.resize(MAX / 2);
    const waiting = reserve(new Connection(), 10);
    await turn();
    jest.advanceTimersByTime(READING_SECONDS * 900);
    expect(slow[0]).not.toHaveBeenCalled();
    jest.advanceTimersByTime(READING_SECONDS * 1_000);
    expect(slow.map((onStall) => onStall.mock.calls.length)).toEqual([1, 0]);
    expect(await Promise.race([waiting, turn()])).toBeUndefined();
  });

  it('is not taken from one whose events are still read from the store, nor if nobody waits', async () => {
    const onStall = jest.fn();
    await reserve(new Connection(), MAX, onStall);
    void reserve(new Connection(), 10);
    await turn();
    jest.advanceTimersByTime(READING_SECONDS * 10_000);
    expect(onStall).not.toHaveBeenCalled();
  });

  it('keeps no timer once nobody waits', async () => {
    const share = await reserve(new Connection(), MAX);
    const waiting = reserve(new Connection(), 10);
    await turn();
    expect(jest.getTimerCount()).toBe(1);
    share?.release();
    await waiting;
    jest.advanceTimersByTime(1_000);
    expect(jest.getTimerCount()).toBe(0);
  });
});
