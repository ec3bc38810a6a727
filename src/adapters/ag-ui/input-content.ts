import type { Message, ToolMessage, UserMessage } from '@ag-ui/core';
import { type Content, InvalidInputError, type Part } from '../../index.js';
import { parsedObject } from '../shared/given-json.js';
import { toEventPart } from './content-parts.js';

/** A message that a client may add. */
type NewMessage = UserMessage | ToolMessage;

/**
 * The messages that the session does not have yet: clients send the whole conversation each time. New ones follow what the
 * session knows, and what agents said.
 */
export function newMessages(messages: readonly Message[], known: ReadonlySet<string>): NewMessage[] {
  const before = messages.findLastIndex((message) => !isOfClient(message) || known.has(message.id));
  return messages.slice(before + 1).filter(isOfClient);
}

function isOfClient(message: Message): message is NewMessage {
  return message.role === 'user' || message.role === 'tool';
}

/** New messages as one content, which is stored as one event. @param toolOf the tool of a call */
export function newContent(messages: readonly NewMessage[], toolOf: (callId: string) => string): Content {
  const parts = messages.flatMap((message, index): Part[] => {
    const path = `messages[${index}].content`;
    if (message.role !== 'tool') return parseContentParts(message.content, path);
    const said = parseContentParts(message.content, path);
    const files = said.filter(({ text }) => text === undefined);
    return [
      {
        functionResponse: {
          id: message.toolCallId,
          name: toolOf(message.toolCallId),
          response: toToolResponse(message, said),
          ...(files.length > 0 && { parts: files }),
        },
      },
    ];
  });
  return { role: 'user', parts };
}

function parseContentParts(content: unknown, path: string): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  if (!Array.isArray(content)) throw new InvalidInputError('must be a text or an array of parts', path);
  return content.map((part: unknown, index) => toEventPart(part, `${path}[${index}]`));
}

/** An object as it is; a text as `{ result }`. */
function toToolResponse({ error }: ToolMessage, said: readonly Part[]): Record<string, unknown> {
  const text = said.map((part) => part.text ?? '').join('');
  if (typeof error === 'string' && error !== '')
    return { error, ...(text !== '' && text !== error && { result: text }) };
  return parsedObject(text) ?? { result: text };
}
