import type { Part } from '../../index.js';

/** What a serializer of LangGraph made of a value, as JSON. */
export interface SerializedValue {
  readonly type: string;
  readonly text?: string;
  /** Instead of `text`, for bytes that are no UTF-8. */
  readonly base64?: string;
}

/** A serialized message without the bytes of files that its event has: its text, and the numbers of parts whose bytes belong between. */
export interface LinkedItem {
  readonly type: string;
  readonly pieces: readonly (string | number)[];
}

/** Shorter ones are repeated. */
const LEAST_LENGTH = 256;

/** Leaves out the bytes that parts of the event have, so that an event has a file once. */
export function linkedItem(item: SerializedValue, parts: readonly Part[]): SerializedValue | LinkedItem {
  if (item.text === undefined) return item;
  let pieces: (string | number)[] = [item.text];
  for (const [index, { inlineData }] of parts.entries()) {
    const data = inlineData?.data ?? '';
    if (data.length < LEAST_LENGTH) continue;
    pieces = pieces.flatMap((piece) => (typeof piece === 'string' ? parted(piece, data, index) : [piece]));
  }
  return pieces.length === 1 ? item : { type: item.type, pieces };
}

function parted(text: string, data: string, index: number): (string | number)[] {
  return text.split(data).flatMap((piece, place) => (place === 0 ? [piece] : [index, piece]));
}

/** The serialized message that was linked with these parts. */
export function wholeItem(item: SerializedValue | LinkedItem, parts: readonly Part[]): SerializedValue {
  if (!('pieces' in item)) return item;
  const texts = item.pieces.map((piece) =>
    typeof piece === 'string' ? piece : (parts[piece]?.inlineData?.data ?? ''),
  );
  return { type: item.type, text: texts.join('') };
}
