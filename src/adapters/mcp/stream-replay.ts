import type { PlacedEvent } from './message-log.js';
import { placeText } from './message-place.js';
import { type Message, MessageReader, recordOf } from './stored-message.js';

export type Send = (eventId: string, message: Message) => Promise<void>;

/** Sends the messages of one stream. */
export class StreamReplay {
  readonly #messages = new MessageReader();
  /** Whether any message was sent. */
  hasSent = false;
  /** Whether the answer to the request was sent. */
  isAnswered = false;

  constructor(
    private readonly stream: string,
    private readonly send: Send,
  ) {}

  /** Sends what the event holds, if it is of this stream. */
  async add({ part, event }: PlacedEvent): Promise<void> {
    const record = recordOf(event);
    if (record?.stream !== this.stream) return;
    const message = this.#messages.messageOf(record);
    if (!message) return;
    await this.send(placeText({ part, seq: event.seq, id: event.id }), message);
    this.hasSent = true;
    if ('result' in message || 'error' in message) this.isAnswered = true;
  }
}
