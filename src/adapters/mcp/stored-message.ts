import { randomBytes } from 'node:crypto';
import type { EventInput, LoggedEvent } from '../../index.js';
import { textPieces } from '../shared/text-pieces.js';

/** A message of JSON-RPC. Each version of the SDK has types of its own for what is in it. */
export interface Message {
  readonly jsonrpc: '2.0';
  readonly [field: string]: unknown;
}

/** A message, or a piece of one that is too long for an event. */
interface MessageRecord {
  readonly stream: string;
  readonly text: string;
  /** How many pieces of the message come after this one. */
  readonly left: number;
  /** The id of the message that the piece belongs to. */
  readonly of: string;
  /** The `seq` of the first piece. Missing in that one. */
  readonly begin?: number | undefined;
}

/** The author of messages. Clients that write as users cannot make any. */
const AUTHOR = 'mcp';

/** The events of a message, in their order. The last one is the message, as far as readers know. */
export function createMessageEvents(stream: string, message: Message): EventInput[] {
  const of = randomBytes(12).toString('hex');
  const pieces = textPieces(JSON.stringify(message));
  return pieces.map((text, index): EventInput => {
    const left = pieces.length - 1 - index;
    const record: MessageRecord = { stream, text, left, of };
    return { id: left === 0 ? of : `${of}.${left}`, author: AUTHOR, customMetadata: { mcp: record } };
  });
}

export function readMessageRecord({ author, customMetadata }: LoggedEvent): MessageRecord | undefined {
  return author === AUTHOR ? (customMetadata?.mcp as MessageRecord | undefined) : undefined;
}

/** The piece, which says where its message began. */
export function begunAt(begin: number, { customMetadata, ...event }: EventInput): EventInput {
  return { ...event, customMetadata: { mcp: { ...(customMetadata?.mcp as MessageRecord), begin } } };
}

/** The `seq` at which the message of an event began. */
export function beginOf(event: LoggedEvent): number {
  return readMessageRecord(event)?.begin ?? event.seq;
}

/** Messages of which not all pieces were seen. */
export class OpenMessages {
  readonly #ids = new Set<string>();

  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  add(event: LoggedEvent): void {
    const record = readMessageRecord(event);
    if (!record) return;
    if (record.left > 0) this.#ids.add(record.of);
    else this.#ids.delete(record.of);
  }
}

/** Puts pieces together. */
export class MessageReader {
  readonly #pieces = new Map<string, string[]>();

  /** The message that ends with this event, if one does. Events that only give a place have none. */
  messageOf({ text, left, of }: MessageRecord): Message | undefined {
    const texts = [...(this.#pieces.get(of) ?? []), text];
    if (left > 0) {
      this.#pieces.set(of, texts);
      return undefined;
    }
    this.#pieces.delete(of);
    const message = JSON.parse(texts.join('')) as Message;
    return Object.keys(message).length > 0 ? message : undefined;
  }
}
