import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UI_MESSAGE_STREAM_HEADERS, type UIMessageChunk } from 'ai';
import { eventBytes, sentChunks, unchecked } from './sent-chunks.js';

/** A response of Express or Node. */
export type NodeResponse = ServerResponse;

/** A reply of Fastify, as far as it is used. */
export interface FastifyReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
}

/**
 * The chunks of an answer, for one reader. What nobody reads is dropped when the reader leaves.
 *
 * @example await (await chats.resume(key))?.pipeTo(response);
 */
export class ChatStream {
  readonly readable: ReadableStream<UIMessageChunk>;
  #controller: ReadableStreamDefaultController<UIMessageChunk> | undefined;

  /** @param onLeave called when the reader leaves */
  constructor(onLeave: () => void = () => undefined) {
    this.readable = new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#controller = undefined;
        onLeave();
      },
    });
  }

  send(chunk: UIMessageChunk): void {
    this.#controller?.enqueue(chunk);
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  /** Sends the chunks as server-sent events. Resolves when all are sent, or when the client left, or read nothing for a minute. */
  async pipeTo(response: NodeResponse | FastifyReply): Promise<void> {
    const raw = 'raw' in response ? hijacked(response) : response;
    raw.writeHead(200, UI_MESSAGE_STREAM_HEADERS);
    raw.flushHeaders();
    await pipeline(sentChunks(this.readable, raw, unchecked()), raw).catch((error: unknown) => {
      if (!raw.closed && !raw.destroyed) throw error;
    });
  }

  /** The same as a stream of Node. */
  bytes(): Readable {
    return Readable.fromWeb(eventBytes(this.readable) as Parameters<typeof Readable.fromWeb>[0]);
  }
}

/** Fastify sends nothing any more. Headers that its plugins have set are kept, for instance those of CORS. */
function hijacked(reply: FastifyReply): ServerResponse {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  return reply.raw;
}
