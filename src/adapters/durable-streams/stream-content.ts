import { InvalidInputError } from '../../sessions/domain/errors.js';
import type { EventInput, LoggedEvent } from '../../sessions/domain/event.js';

/** The author of what is appended over HTTP. */
export const AUTHOR = 'stream';
export const JSON_TYPE = 'application/json';

/** What an event adds to its stream: JSON messages, text, or bytes. */
type DataRecord = { readonly json: readonly string[] } | { readonly text: string } | { readonly base64: string };

/** Data of a stream, with the position after it. */
export interface StreamData {
  readonly seq: number;
  /** Of JSON streams. */
  readonly messages: readonly string[];
  readonly bytes: Buffer;
}

const FIELD = 'durable-streams';
/** As text in events, this is less than an event may have. */
const MOST_BYTES = 300_000;

/** The events that hold a body: one, unless it is long. */
export function dataEvents(contentType: string, body: Buffer): EventInput[] {
  if (contentType === JSON_TYPE) return jsonRecords(messagesOf(body)).map(recordEvent);
  const records: DataRecord[] = [];
  for (let start = 0; start < body.length; start += MOST_BYTES) {
    records.push(bytesRecord(body.subarray(start, start + MOST_BYTES)));
  }
  return records.map(recordEvent);
}

/** The messages of a JSON body: an array is several. */
export function messagesOf(body: Buffer): string[] {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new InvalidInputError('must be JSON', 'body');
  }
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map((message) => JSON.stringify(message));
}

/** An event of these messages. */
export function messagesEvent(messages: readonly string[]): EventInput {
  return recordEvent({ json: messages });
}

export function bytesEvent(bytes: Buffer): EventInput {
  return recordEvent(bytesRecord(bytes));
}

/** What the event adds to its stream, if it does. */
export function dataOf(event: LoggedEvent): StreamData | undefined {
  if (event.author !== AUTHOR) return undefined;
  const record = event.customMetadata?.[FIELD] as DataRecord | undefined;
  if (!record) return undefined;
  if ('json' in record) return { seq: event.seq, messages: record.json, bytes: Buffer.alloc(0) };
  const bytes = 'text' in record ? Buffer.from(record.text) : Buffer.from(record.base64, 'base64');
  return { seq: event.seq, messages: [], bytes };
}

/** An event of a conversation, as a message. */
export function eventData(event: LoggedEvent): StreamData {
  return { seq: event.seq, messages: [JSON.stringify(event)], bytes: Buffer.alloc(0) };
}

/** Data as the body of a response. */
export function bodyOf(contentType: string, data: readonly StreamData[]): Buffer {
  if (contentType !== JSON_TYPE) return Buffer.concat(data.map(({ bytes }) => bytes));
  return Buffer.from(`[${data.flatMap(({ messages }) => messages).join(',')}]`);
}

/** Whether server-sent events can hold it as it is. */
export function isText(contentType: string): boolean {
  return contentType === JSON_TYPE || contentType.startsWith('text/');
}

function jsonRecords(messages: readonly string[]): DataRecord[] {
  const records: { json: string[] }[] = [];
  let bytes = Infinity;
  for (const message of messages) {
    const size = Buffer.byteLength(message);
    if (bytes + size > MOST_BYTES) {
      records.push({ json: [] });
      bytes = 0;
    }
    records.at(-1)?.json.push(message);
    bytes += size;
  }
  return records;
}

function bytesRecord(bytes: Buffer): DataRecord {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? { text } : { base64: bytes.toString('base64') };
}

function recordEvent(record: DataRecord): EventInput {
  const parts = 'text' in record ? [{ text: record.text }] : [];
  return { author: AUTHOR, ...(parts.length > 0 && { content: { parts } }), customMetadata: { [FIELD]: record } };
}
