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
}

/** The author of messages. Clients that write as users cannot make any. */
const AUTHOR = 'mcp';

/** The events of a message, in their order. The last one is the message, as far as readers know. */
export function eventsOf(stream: string, message: Message): EventInput[] {
  const of = randomBytes(12).toString('hex');
  const pieces = textPieces(JSON.stringify(message));
  return pieces.map((text, index): EventInput => {
    const left = pieces.length - 1 - index;
    const record: MessageRecord = { stream, text, left, of };
    return { id: left === 0 ? of : `${of}.${left}`, author: AUTHOR, customMetadata: { mcp: record } };
  });
}

export function recordOf({ author, customMetadata }: LoggedEvent): MessageRecord | undefined {
  return author === AUTHOR ? (customMetadata?.mcp as MessageRecord | undefined) : undefined;
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
