import { hash } from 'node:crypto';
import { isBaseMessage } from '@langchain/core/messages';
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { SerializedValue } from './thread-records.js';

/** Serializes a value for an event. */
export async function serializedValue(serde: SerializerProtocol, value: unknown): Promise<SerializedValue> {
  const [type, bytes] = await serde.dumpsTyped(value);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = type === 'json' ? buffer.toString('utf8') : undefined;
  if (text !== undefined && Buffer.byteLength(text) === buffer.length && Buffer.from(text).equals(buffer))
    return { type, text };
  return { type, base64: buffer.toString('base64') };
}

/** The value that {@link serializedValue} stored. */
export async function revivedValue(serde: SerializerProtocol, stored: SerializedValue): Promise<unknown> {
  const bytes = Buffer.from(stored.text ?? stored.base64 ?? '', stored.text === undefined ? 'base64' : 'utf8');
  return serde.loadsTyped(stored.type, new Uint8Array(bytes));
}

/** Tells whether two values are the same. */
export function fingerprintOf({ type, text, base64 }: SerializedValue): string {
  return hash('sha256', `${type}\n${text ?? base64 ?? ''}`, 'base64url');
}

/**
 * The same for a message of LangChain, many times as fast as serializing it: all messages of a thread are compared for each
 * checkpoint. `undefined` for anything else.
 */
export function messageFingerprint(item: unknown): string | undefined {
  if (!isBaseMessage(item)) return undefined;
  try {
    // What it was made of is among its fields, too.
    return hash('sha256', JSON.stringify({ ...item, lc_kwargs: undefined }), 'base64url');
  } catch {
    return undefined;
  }
}

export function countSerializedBytes({ text, base64 }: SerializedValue): number {
  return text === undefined ? (base64?.length ?? 0) : Buffer.byteLength(text);
}
