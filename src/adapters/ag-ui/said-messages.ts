import { type Event, EventType } from '@ag-ui/core';
import { readTexts } from '../../adapter.js';
import type { EventInput } from '../../index.js';
import type { OpenMessage } from './stream-token.js';

const NOTHING: OpenMessage = { sent: 0, hasText: false, thought: 0, thoughts: 0 };

/** The messages that are being said: what was sent of each, so that every character is sent once. */
export class SaidMessages {
  readonly #open: Map<string, OpenMessage>;

  constructor(open: Readonly<Record<string, OpenMessage>> = {}) {
    this.#open = new Map(Object.entries(open));
  }

  get open(): Readonly<Record<string, OpenMessage>> {
    return Object.fromEntries(this.#open);
  }

  /** What an event adds to its message. @param offset how much of the message is before the event */
  say(id: string, event: EventInput, offset: number): Event[] {
    const before = this.#open.get(id) ?? NOTHING;
    // A piece may overlap with what was sent.
    let skipped = Math.max(0, before.sent - offset);
    const events: Event[] = [];
    for (const { text, thought } of readTexts(event)) {
      const delta = text.slice(skipped);
      skipped = Math.max(0, skipped - text.length);
      if (delta !== '') events.push(...this.#piece(id, delta, thought === true, event.author));
    }
    return events;
  }

  /** Ends a message. */
  end(id: string): Event[] {
    const message = this.#open.get(id);
    if (!message) return [];
    this.#open.delete(id);
    return [
      ...endOfThought(id, message.thought),
      ...(message.hasText ? [{ type: EventType.TEXT_MESSAGE_END, messageId: id } as const] : []),
    ];
  }

  /** Ends all messages, for instance when a run ends before it said them to the end. */
  endAll(): Event[] {
    return [...this.#open.keys()].flatMap((id) => this.end(id));
  }

  #piece(id: string, delta: string, isThought: boolean, name: string | undefined): Event[] {
    const message = this.#open.get(id) ?? NOTHING;
    const sent = message.sent + delta.length;
    if (isThought) {
      const isNew = message.thought === 0;
      const thought = isNew ? message.thoughts + 1 : message.thought;
      this.#open.set(id, { ...message, sent, thought, thoughts: thought });
      return [...(isNew ? beginOfThought(id, thought) : []), contentOfThought(id, thought, delta)];
    }
    this.#open.set(id, { ...message, sent, hasText: true, thought: 0 });
    const begin = {
      type: EventType.TEXT_MESSAGE_START,
      messageId: id,
      role: 'assistant',
      ...(name && { name }),
    } as const;
    return [
      ...endOfThought(id, message.thought),
      ...(message.hasText ? [] : [begin]),
      { type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, delta },
    ];
  }
}

/** The id of a thought of a message. */
export function thoughtId(id: string, number: number): string {
  return `${id}:thought-${number}`;
}

function beginOfThought(id: string, number: number): Event[] {
  const messageId = thoughtId(id, number);
  return [
    { type: EventType.REASONING_START, messageId },
    { type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning' },
  ];
}

function contentOfThought(id: string, number: number, delta: string): Event {
  return { type: EventType.REASONING_MESSAGE_CONTENT, messageId: thoughtId(id, number), delta };
}

function endOfThought(id: string, number: number): Event[] {
  if (number === 0) return [];
  const messageId = thoughtId(id, number);
  return [
    { type: EventType.REASONING_MESSAGE_END, messageId },
    { type: EventType.REASONING_END, messageId },
  ];
}
