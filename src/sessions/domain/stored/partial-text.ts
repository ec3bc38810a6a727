import type { Part } from '../event/content.js';
import { Event, type EventInput, type LoggedEvent } from '../event/event.js';
import { type StoredPartial, type StreamPosition, positionText } from './partial-event.js';
import { storedJson } from './stored-json.js';

/** A piece of text of a message. */
export interface TextPart {
  readonly text: string;
  readonly thought?: true | undefined;
}

/** What a partial event holds: who says it, and a piece of what is said. */
export interface PartialText {
  readonly author: string;
  readonly branch?: string | undefined;
  readonly invocationId: string;
  readonly timestamp: number;
  /** How many characters (UTF-16 code units) of the message come before. */
  readonly offset: number;
  readonly parts: readonly TextPart[];
}

/**
 * The text and the thoughts of an event, partial or not. Other parts are not saved before the event is complete.
 *
 * @example for (const { text, thought } of readTexts(event)) send(thought ? 'reasoning' : 'text', text);
 */
export function readTexts({ content }: EventInput): TextPart[] {
  return (content?.parts ?? []).flatMap(({ text, thought }: Part) =>
    typeof text === 'string' && text !== '' ? [{ text, ...(thought === true && { thought }) }] : [],
  );
}

/** Adds parts to parts; text to text, and thoughts to thoughts. */
export function joinedParts(before: readonly TextPart[], after: readonly TextPart[]): TextPart[] {
  const joined = [...before];
  for (const part of after) {
    const last = joined.at(-1);
    if (last?.thought === part.thought && last) joined[joined.length - 1] = { ...last, text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}

/** The number of characters of parts. */
export function countCharacters(parts: readonly TextPart[]): number {
  return parts.reduce((sum, { text }) => sum + text.length, 0);
}

/** The content of a stored partial event. */
function partialTextOf({ content, number }: Pick<StoredPartial, 'content' | 'number'>): PartialText {
  return storedJson(content, `a partial event (${number})`) as PartialText;
}

/** Several pieces of the same message. */
interface Pieces {
  readonly messageId: string;
  readonly afterSeq: number;
  readonly number: number;
  readonly said: PartialText;
}

/** Joins pieces that follow each other, so that a late reader gets few of them. */
function joinedPieces(partials: readonly StoredPartial[]): Pieces[] {
  const joined: Pieces[] = [];
  for (const partial of partials) {
    const { messageId, afterSeq, number } = partial;
    const text = partialTextOf(partial);
    const last = joined.at(-1);
    const follows =
      last?.messageId === messageId &&
      last.afterSeq === afterSeq &&
      last.said.offset + countCharacters(last.said.parts) === text.offset;
    const said = follows ? { ...last.said, parts: joinedParts(last.said.parts, text.parts) } : text;
    if (follows) joined.pop();
    joined.push({ messageId, afterSeq, number, said });
  }
  return joined;
}

/** An event of a stream: stored, or partial. */
export type StreamedEvent = LoggedEvent & { readonly position: string; readonly offset?: number };

/**
 * Events and partial events in order, each with the position after it. A partial event has the `seq` of the event before it.
 *
 * @param from the position before them
 */
export function streamedEvents(
  events: readonly LoggedEvent[],
  partials: readonly StoredPartial[],
  from: StreamPosition,
): StreamedEvent[] {
  const streamed: StreamedEvent[] = [];
  let { seq, partial } = from;
  const pieces = joinedPieces(partials).values();
  let piece = pieces.next();
  const say = ({ messageId, number, said: { offset, parts, ...by } }: Pieces): void => {
    partial = number;
    const content = { role: 'model', parts: parts.map((part) => ({ ...part })) };
    const event = new Event({ ...by, id: messageId, partial: true, content });
    streamed.push(Object.assign(event, { seq, position: positionText({ seq, partial }), offset }));
  };
  for (const event of events) {
    for (; !piece.done && piece.value.afterSeq < event.seq; piece = pieces.next()) say(piece.value);
    seq = event.seq;
    streamed.push(Object.assign(event, { position: positionText({ seq, partial }) }));
  }
  for (; !piece.done; piece = pieces.next()) say(piece.value);
  return streamed;
}
