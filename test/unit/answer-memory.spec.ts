import { EventEmitter } from 'node:events';
import type { PageShare } from '../../src/sessions/operations/watch-session.js';
import { ByteSemaphore } from '../../src/sessions/transport/byte-semaphore.js';
import { READING_SECONDS, AnswerMemory } from '../../src/sessions/transport/answer-memory.js';

class Connection extends EventEmitter {
  closed = false;
  writableEnded = false;
  writableFinished = false;
  writableNeedDrain = false;
}

const MAX = 800;
const never = (): AbortSignal => new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

describe('ByteSemaphore', () => {
  it('admits a small request only after a larger one that came before', async () => {
    const semaphore = new ByteSemaphore();
    const seen: string[] = [];
    await semaphore.acquire(60, 100, never());
    void semaphore.acquire(90, 100, never()).then(() => seen.push('large'));
    void semaphore.acquire(10, 100, never()).then(() => seen.push('small'));
    await turn();
    expect([seen, semaphore.held, semaphore.wanted]).toEqual([[], 60, 100]);
    semaphore.change(-60);
    await turn();
    expect([seen, semaphore.held, semaphore.wanted]).toEqual([['large', 'small'], 100, 0]);
  });

  it('admits a request of any size if nothing is held', async () => {
    const semaphore = new ByteSemaphore();
    expect(await semaphore.acquire(1_000, 100, never())).toBe(true);
  });

  it('removes an aborted request and admits the next one', async () => {
    const semaphore = new ByteSemaphore();
    const leaving = new AbortController();
    await semaphore.acquire(50, 100, never());
    const large = semaphore.acquire(80, 100, leaving.signal);
    const small = semaphore.acquire(50, 100, never());
    leaving.abort();
    expect([await large, await small, semaphore.held]).toEqual([false, true, 100]);
    expect(await semaphore.acquire(1, 100, leaving.signal)).toBe(false);
  });
});

describe('AnswerMemory', () => {
  let memory: AnswerMemory;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    memory = new AnswerMemory();
  });

  afterEach(() => jest.useRealTimers());

  function reserve(
    connection: Connection,
    bytes: number,
    onStall = jest.fn(),
    client?: string,
  ): Promise<PageShare | undefined> {
    return memory.reserve({ connection, client, bytes, maxBytes: MAX, onStall, signal: never() });
  }

  it('is released when the connection has sent what was written', async () => {
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

  it.each(['close', 'finish'])('is released when the connection ends: %s', async (event) => {
    const connection = new Connection();
    const share = await reserve(connection, 100);
    Object.assign(connection, { writableNeedDrain: true, writableEnded: true });
    share?.release();
    expect(memory.held).toBe(100);
    connection.emit(event);
    expect(memory.held).toBe(0);
  });

  it('limits the part of one client over all its connections', async () => {
    const first = await reserve(new Connection(), MAX / 4, undefined, 'ann');
    const second = reserve(new Connection(), 1, undefined, 'ann');
    await reserve(new Connection(), MAX / 2, undefined, 'bob');
    expect(memory.held).toBe(MAX / 4 + MAX / 2);
    first?.release();
    expect(await second).toBeDefined();
  });

  it('takes a connection for a client if nobody says who that is', async () => {
    const busy = new Connection();
    const first = await reserve(busy, MAX / 4);
    const second = reserve(busy, 1);
    await reserve(new Connection(), MAX / 4);
    expect(memory.held).toBe(MAX / 2);
    first?.release();
    expect(await second).toBeDefined();
  });

  it('admits an answer that is larger than the part of a client, but no second one', async () => {
    const first = await reserve(new Connection(), MAX, undefined, 'ann');
    const second = reserve(new Connection(), MAX, undefined, 'ann');
    expect(memory.held).toBe(MAX);
    first?.release();
    expect(await second).toBeDefined();
    expect(memory.held).toBe(MAX);
  });

  it('ends only readers of the client that waits for its own part', async () => {
    const [ofAnn, ofBob] = [jest.fn(), jest.fn()];
    (await reserve(new Connection(), MAX / 4, ofBob, 'bob'))?.resize(MAX / 4);
    (await reserve(new Connection(), MAX / 4, ofAnn, 'ann'))?.resize(MAX / 4);
    void reserve(new Connection(), 10, undefined, 'ann');
    await turn();
    jest.advanceTimersByTime(READING_SECONDS * 2_000);
    expect([ofAnn.mock.calls.length, ofBob.mock.calls.length]).toEqual([1, 0]);
  });

  it('remembers no client that holds nothing', async () => {
    const leaving = new AbortController();
    const first = await reserve(new Connection(), MAX, undefined, 'ann');
    const { signal } = leaving;
    const request = {
      connection: new Connection(),
      client: 'bob',
      bytes: 1,
      maxBytes: MAX,
      onStall: jest.fn(),
      signal,
    };
    const second = memory.reserve(request);
    await turn();
    leaving.abort();
    expect(await second).toBeUndefined();
    first?.release();
    expect([memory.held, memory.clients]).toEqual([0, 0]);
  });

  it('ends as many of the slowest readers as the waiting requests need', async () => {
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

  it('does not end a reader while its events are read from the store', async () => {
    const onStall = jest.fn();
    await reserve(new Connection(), MAX, onStall);
    void reserve(new Connection(), 10);
    await turn();
    jest.advanceTimersByTime(READING_SECONDS * 10_000);
    expect(onStall).not.toHaveBeenCalled();
  });

  it('has no timer when no request waits', async () => {
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
