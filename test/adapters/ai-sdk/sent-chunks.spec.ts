import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { UIMessageChunk } from 'ai';
import { sentChunks } from '../../../src/adapters/ai-sdk/sent-chunks.js';
import { StreamAccess } from '../../../src/sessions/transport/stream-access.js';
import { until } from '../../support/until.js';

/** Counts the pieces that are expected to be read, and can end. */
class Watched extends StreamAccess {
  expected = 0;
  readonly ending = new AbortController();

  constructor() {
    super(() => Promise.resolve(), { maxAgeSeconds: 0, recheckSeconds: 0 });
  }

  override get signal(): AbortSignal {
    return this.ending.signal;
  }

  override expectReading(): () => void {
    let isExpected = true;
    this.expected += 1;
    return () => {
      if (isExpected) this.expected -= 1;
      isExpected = false;
    };
  }
}

/** A response whose reader takes each piece when it is told to. */
class Response extends Writable {
  text = '';
  #takes: (() => void)[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#takes.push(() => {
      this.text += String(chunk);
      done();
    });
  }

  take(): boolean {
    const [next, ...others] = this.#takes;
    this.#takes = others;
    next?.();
    return next !== undefined;
  }
}

const LARGE = 'x'.repeat(1_000_000);

describe('sentChunks', () => {
  let access: Watched;
  let response: Response;
  let hasLeft: boolean;
  let controller: ReadableStreamDefaultController<UIMessageChunk>;
  let sent: Promise<void>;

  beforeEach(() => {
    access = new Watched();
    response = new Response();
    hasLeft = false;
    const chunks = new ReadableStream<UIMessageChunk>({
      start: (started) => void (controller = started),
      cancel: () => void (hasLeft = true),
    });
    sent = pipeline(sentChunks(chunks, response as unknown as ServerResponse, access), response);
    sent.catch(() => undefined);
  });

  const say = (delta: string): void => controller.enqueue({ type: 'text-delta', id: 't', delta });

  it('expects nothing while there is nothing to read', async () => {
    say('hi');
    await until(() => response.take());
    await until(() => access.expected === 0);
    say('again');
    await until(() => response.take());
    await until(() => access.expected === 0);
    controller.close();
    await until(() => response.take());
    await sent;
    expect(response.text).toContain('[DONE]');
    expect(access.expected).toBe(0);
  });

  it('expects that what waits is read, also the last piece', async () => {
    say(LARGE);
    await until(() => access.expected === 1);
    controller.close();
    for (const part of ['the text', 'the end']) {
      await until(() => access.expected === 1, part);
      await until(() => response.take(), part);
    }
    await sent;
    expect(access.expected).toBe(0);
  });

  it('drops what is not read when access ends, and expects nothing any more', async () => {
    say(LARGE);
    await until(() => access.expected === 1);
    access.ending.abort();
    await expect(sent).rejects.toThrow();
    await until(() => hasLeft);
    expect([response.destroyed, access.expected]).toEqual([true, 0]);
  });

  it('leaves at once when the client does, also if nothing comes', async () => {
    response.destroy();
    await until(() => hasLeft);
    expect(access.expected).toBe(0);
  });
});
