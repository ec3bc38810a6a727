import { type Event, EventType, type JsonPatchOperation } from '@ag-ui/core';
import { isByUser, isRewind } from '../../adapter.js';
import type { EventLike, FunctionResponse, WatchedEvent } from '../../index.js';
import { formatCallArguments, listIdentifiedCalls, isShown, toAgUiMessages, toolMessage } from './event-messages.js';
import { SaidMessages } from './said-messages.js';
import type { OpenMessage } from './stream-token.js';

/** Says what happens in a session in the events of AG-UI. */
export class EventTranslator {
  readonly #said: SaidMessages;

  constructor(open?: Readonly<Record<string, OpenMessage>>) {
    this.#said = new SaidMessages(open);
  }

  get open(): Readonly<Record<string, OpenMessage>> {
    return this.#said.open;
  }

  /** @param hasSent whether the reader sent the message of this event, and need not be told */
  eventsOf(event: WatchedEvent & { readonly offset?: number }, hasSent: boolean): Event[] {
    if (event.partial === true) return this.#said.say(event.id, event, event.offset ?? 0);
    return [...this.#messages(event, hasSent), ...stateDelta(event)];
  }

  /** Ends a message that is taken back. Returns nothing if nothing was said of it. */
  discard(id: string): Event[] {
    return this.#said.end(id);
  }

  /** Ends what is being said. Returns nothing if all was said to the end. */
  endAll(): Event[] {
    return this.#said.endAll();
  }

  #messages(event: WatchedEvent, hasSent: boolean): Event[] {
    if (!isShown(event) || isRewind(event)) return [];
    if (isByUser(event)) return hasSent ? [] : userEvents(event);
    return [
      ...this.#said.say(event.id, event, 0),
      ...this.#said.end(event.id),
      ...listIdentifiedCalls(event).flatMap((call): Event[] => [
        {
          type: EventType.TOOL_CALL_START,
          toolCallId: call.id,
          toolCallName: call.name ?? '',
          parentMessageId: event.id,
        },
        { type: EventType.TOOL_CALL_ARGS, toolCallId: call.id, delta: formatCallArguments(call) },
        { type: EventType.TOOL_CALL_END, toolCallId: call.id },
      ]),
      ...resultEvents(event),
    ];
  }
}

/** What a user said elsewhere. Files come with the next snapshot of messages. */
function userEvents(event: WatchedEvent): Event[] {
  const said = toAgUiMessages(event).flatMap((message): Event[] => {
    if (message.role !== 'user') return [];
    const { id: messageId, content } = message;
    const delta =
      typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return [
      { type: EventType.TEXT_MESSAGE_START, messageId, role: 'user' },
      ...(delta === '' ? [] : [{ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta } as const]),
      { type: EventType.TEXT_MESSAGE_END, messageId },
    ];
  });
  return [...resultEvents(event), ...said];
}

function resultEvents(event: EventLike): Event[] {
  const results = (event.content?.parts ?? []).flatMap(({ functionResponse }): FunctionResponse[] =>
    functionResponse ? [functionResponse] : [],
  );
  return results.map((result, index) => {
    const { id: messageId, toolCallId, content, role } = toolMessage(event, result, index);
    return { type: EventType.TOOL_CALL_RESULT, messageId, toolCallId, content, role };
  });
}

function stateDelta({ statePatch }: WatchedEvent): Event[] {
  if (!statePatch || statePatch.length === 0) return [];
  return [
    { type: EventType.STATE_DELTA, delta: statePatch.map((operation): JsonPatchOperation => ({ ...operation })) },
  ];
}
