import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { JsonToSseTransformStream, type UIMessageChunk } from 'ai';
import { StreamAccess } from '../../adapter.js';

/** For streams whose rule is not known here: only readers that read nothing are ended. */
export function unchecked(): StreamAccess {
  return new StreamAccess(() => Promise.resolve(), { maxAgeSeconds: 0, recheckSeconds: 0 });
}

/** Chunks as bytes of server-sent events. */
export function eventBytes(chunks: ReadableStream<UIMessageChunk>): ReadableStream<Uint8Array> {
  return chunks.pipeThrough(new JsonToSseTransformStream()).pipeThrough(new TextEncoderStream());
}

/**
 * Chunks for a response. Its connection ends when the reader reads nothing although something waits, or when access ends; what is not
 * read then is dropped. Closes `access`.
 */
export function sentChunks(
  chunks: ReadableStream<UIMessageChunk>,
  response: ServerResponse,
  access: StreamAccess,
): Readable {
  const bytes = new SentBytes(eventBytes(chunks), access);
  const leave = (): void => {
    bytes.end();
    bytes.destroy();
  };
  access.signal.addEventListener('abort', () => void response.destroy());
  // Pipelines, limits of the app and Fastify listen as well.
  response.setMaxListeners(MOST_LISTENERS);
  response.once('finish', () => bytes.end()).once('close', leave);
  // It emits no `close` any more.
  if (response.destroyed) leave();
  return bytes;
}

const MOST_LISTENERS = 20;

/** Expects that each piece is read: the response asks for the next one when it has room, and has sent the last one when it ends. */
class SentBytes extends Readable {
  readonly #pieces: ReadableStreamDefaultReader<Uint8Array>;
  #stopExpecting: () => void = () => undefined;
  #hasEnded = false;

  constructor(
    pieces: ReadableStream<Uint8Array>,
    private readonly access: StreamAccess,
  ) {
    // Reads nothing ahead.
    super({ highWaterMark: 0 });
    this.#pieces = pieces.getReader();
  }

  override _read(): void {
    this.#stopExpecting();
    this.#pieces.read().then(
      ({ value }) => {
        if (!this.#hasEnded) this.#stopExpecting = this.access.expectReading();
        this.push(value ?? null);
      },
      (error: Error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#pieces.cancel().then(
      () => done(error),
      () => done(error),
    );
  }

  /** All is sent, or nobody reads the rest. */
  end(): void {
    this.#hasEnded = true;
    this.#stopExpecting();
    this.access.close();
  }
}
