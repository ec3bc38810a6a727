import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { AnswerMemory } from '../../src/sessions/transport/answer-memory.js';
import {
  type AnswerRequest,
  ClientGoneError,
  NoRoomError,
  reserveAnswer,
} from '../../src/sessions/transport/answers.js';

/** The part of a response that is used, without a connection. */
class Response extends EventEmitter {
  destroyed = false;
  closed = false;
  writableEnded = false;
  writableFinished = false;
  writableNeedDrain = false;
  writableLength = 0;
  timeout: { readonly ms: number; readonly onTimeout: () => void } | undefined;
  readonly socket = { destroyed: false };

  setTimeout(ms: number, onTimeout: () => void): void {
    this.timeout = { ms, onTimeout };
  }

  end(text: string): this {
    this.writableEnded = true;
    this.writableLength = text.length;
    return this;
  }

  destroy(): void {
    this.destroyed = true;
    this.closed = true;
    this.emit('close');
  }
}

const LIMITS = { maxBufferedBytes: 400, stallSeconds: 60 };
const held = (): number => AnswerMemory.ofProcess.held;

describe('reserveAnswer', () => {
  const open: Response[] = [];
  let before: number;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    before = held();
  });

  afterEach(() => {
    for (const response of open.splice(0)) response.destroy();
    expect(held()).toBe(before);
    jest.useRealTimers();
  });

  function request(client: string, bytes: number): AnswerRequest & { readonly fake: Response } {
    const fake = new Response();
    open.push(fake);
    return { fake, response: fake as unknown as ServerResponse, client, bytes, limits: LIMITS };
  }

  it('holds what may be read until the answer is written, then what was written until it is sent', async () => {
    const answer = request('answers ann', 100);
    await reserveAnswer(answer);
    expect(held() - before).toBe(100);
    answer.response.end('x'.repeat(30));
    expect(held() - before).toBe(30);
    answer.fake.emit('finish');
    expect(held() - before).toBe(0);
  });

  it('refuses after a while if nothing is given back, and reserves nothing', async () => {
    await reserveAnswer(request('answers ann', 100));
    const refused = expect(reserveAnswer(request('answers ann', 100))).rejects.toThrow(NoRoomError);
    await jest.advanceTimersByTimeAsync(60_000);
    await refused;
    expect(held() - before).toBe(100);
  });

  it('says what happened to work whose answer is refused', async () => {
    await reserveAnswer(request('answers ann', 100));
    const refused = expect(
      reserveAnswer({ ...request('answers ann', 100), refusal: 'It is stored.' }),
    ).rejects.toMatchObject({ status: 429, message: 'It is stored.' });
    await jest.advanceTimersByTimeAsync(60_000);
    await refused;
  });

  it('ends a reader who does not read what others wait for', async () => {
    const answer = request('answers ann', 100);
    await reserveAnswer(answer);
    answer.response.end('x'.repeat(100));
    const next = reserveAnswer(request('answers ann', 100));
    await jest.advanceTimersByTimeAsync(8_000);
    await next;
    expect(answer.fake.destroyed).toBe(true);
  });

  it('ends a reader who reads nothing, although nobody waits', async () => {
    const answer = request('answers ann', 100);
    await reserveAnswer(answer);
    expect(answer.fake.timeout).toBeUndefined();
    answer.response.end('x');
    expect(answer.fake.timeout?.ms).toBe(60_000);
    answer.fake.timeout?.onTimeout();
    expect(answer.fake.destroyed).toBe(true);
  });

  it('gives up for a client that has left, or leaves while it waits', async () => {
    const gone = request('answers bob', 100);
    gone.fake.socket.destroyed = true;
    await expect(reserveAnswer(gone)).rejects.toThrow(ClientGoneError);
    await reserveAnswer(request('answers ann', 100));
    const leaving = request('answers ann', 100);
    const refused = expect(reserveAnswer(leaving)).rejects.toThrow(ClientGoneError);
    leaving.fake.destroy();
    await refused;
  });

  it('does not let one client wait for another one', async () => {
    await reserveAnswer(request('answers ann', 100));
    await reserveAnswer(request('answers bob', 100));
    expect(held() - before).toBe(200);
  });
});
