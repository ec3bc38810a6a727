import { fileIn, isByUser, isPlainObject } from '../../adapter.js';
import type { EventInput, LoggedEvent, Part } from '../../index.js';
import { type CopiedItem, type Path, type PlainItem, replaceAt, valueAt } from './plain-item.js';
import type { SaidPart } from './said-item.js';

/** A text of an item that is not repeated: the part of the event that has it, and its place in the item. */
type Link = readonly [part: number, at: Path, is?: 'data'];

/** An item, except for texts that the parts of its event have. */
export interface StoredItem {
  readonly item?: PlainItem;
  /** Instead of `item`, if its texts cannot be stored as they are. */
  readonly json?: string;
  readonly links?: readonly Link[];
  /** Where base64 stands for bytes. */
  readonly bytes?: readonly Path[];
}

/** What this adapter keeps in `customMetadata` of an event. */
export interface ItemRecord extends StoredItem {
  /** The item is what the event before says: clients can write that one, but not this. */
  readonly isOfPrevious?: true;
  /** The replacement of the history that the event is a piece of. */
  readonly replacement?: string;
  /** On its first piece, and on what an edit leaves of it. */
  readonly isFirst?: true;
  /**
   * On its last piece, with which it counts: the id of the last event that it replaces, or '' for none. Not its `seq`, which is
   * another one in a fork.
   */
  readonly replaces?: string;
  /** With `replaces`: the version that was read, for views that do not begin before that event. What came later is not replaced. */
  readonly readVersion?: number;
  /** The digest of a transaction. */
  readonly operation?: string;
  readonly usage?: UsageRecord;
}

/** The tokens of model requests, with what tells them from those of other runs. */
export interface UsageRecord {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** How many requests of the run are counted now. */
  readonly counted: number;
  /** A digest of the tokens of those requests. */
  readonly run: string;
}

/** The author of events that say nothing to other readers. Clients that write as users cannot make any. */
export const RECORD_AUTHOR = 'openai';

const FIELD = 'openai';

export function recordFields(record: ItemRecord): Pick<EventInput, 'customMetadata'> {
  return Object.keys(record).length > 0 ? { customMetadata: { [FIELD]: record } } : {};
}

/** The record of an event, by whoever wrote it. */
export function readItemRecord({ customMetadata }: Pick<LoggedEvent, 'customMetadata'>): ItemRecord {
  const record = customMetadata?.[FIELD];
  return isPlainObject(record) ? record : {};
}

/** The record of an event that only this adapter writes. */
export function ownRecordOf(event: LoggedEvent): ItemRecord {
  return event.author === RECORD_AUTHOR ? readItemRecord(event) : {};
}

/** The usage that an event reports, if this adapter counted it. */
export function usageRecordsOf(event: LoggedEvent): UsageRecord[] {
  const { usage } = isByUser(event) ? {} : readItemRecord(event);
  const counts = isPlainObject(usage) ? [usage.requests, usage.inputTokens, usage.outputTokens, usage.totalTokens] : [];
  const isWhole =
    counts.length > 0 && [...counts, usage?.counted].every(Number.isSafeInteger) && typeof usage?.run === 'string';
  return isWhole && usage ? [usage] : [];
}

/** An item for an event with these parts. */
export function storedItem({ item, bytes, isWellFormed }: CopiedItem, parts: readonly SaidPart[]): StoredItem {
  const ofBytes = bytes.length > 0 ? { bytes } : {};
  if (!isWellFormed) return { json: JSON.stringify(item), ...ofBytes };
  const links = parts.flatMap(({ part, at }, index): Link[] => {
    const text = at && valueAt(item, at);
    if (!at || typeof text !== 'string' || text === '') return [];
    if (toItemText(part) === text) return [[index, at]];
    return part.inlineData?.data === text ? [[index, at, 'data']] : [];
  });
  const left = structuredClone(item);
  for (const [, at] of links) replaceAt(left, at, '');
  return { item: left, ...(links.length > 0 && { links }), ...ofBytes };
}

/** The item that was stored with these parts, if the record has one. */
export function revivedItem(stored: StoredItem, parts: readonly Part[]): PlainItem | undefined {
  const item = stored.json === undefined ? structuredClone(stored.item) : parsedItem(stored.json);
  if (!isPlainObject(item)) return undefined;
  for (const [index, at, is] of toListOrEmpty(stored.links)) {
    const part = parts[index];
    if (part) replaceAt(item, at, (is === 'data' ? part.inlineData?.data : toItemText(part)) ?? '');
  }
  for (const at of toListOrEmpty(stored.bytes)) {
    const text = valueAt(item, at);
    if (typeof text === 'string') replaceAt(item, at, new Uint8Array(Buffer.from(text, 'base64')));
  }
  return item;
}

function parsedItem(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function toListOrEmpty<Value>(list: readonly Value[] | undefined): readonly Value[] {
  return Array.isArray(list) ? list : [];
}

/** The text that an item has where its event has this part. */
function toItemText(part: Part): string | undefined {
  const { text, functionCall, functionResponse, inlineData, fileData, executableCode, codeExecutionResult } = part;
  if (functionCall) return JSON.stringify(functionCall.args ?? {});
  if (functionResponse) return responseText(functionResponse.response);
  if (inlineData) return fileIn(part)?.url;
  return text ?? fileData?.fileUri ?? executableCode?.code ?? codeExecutionResult?.output;
}

function responseText(response: unknown): string {
  const isOnlyOutput = isPlainObject(response) && Object.keys(response).length === 1;
  return isOnlyOutput && typeof response.output === 'string' ? response.output : JSON.stringify(response);
}

const MESSAGE_FIELDS = new Set(['type', 'role', 'content']);

/**
 * Whether the record says nothing but how the message of a user is written down: all texts are those of the parts. Events of
 * users come from clients too, so of them only such records count.
 */
export function isPlainMessage({ item, links, ...others }: ItemRecord): boolean {
  if (!item || Object.keys(others).length > 0) return false;
  if (Object.keys(item).some((name) => !MESSAGE_FIELDS.has(name)) || item.role !== 'user') return false;
  if (item.type !== undefined && item.type !== 'message') return false;
  const { content } = item;
  const isLinked = toListOrEmpty(links).every((link) => isTextOfContent(link));
  return isLinked && (content === '' || (Array.isArray(content) && content.every(isPlainEntry)));
}

/** Not the type of an entry, nor anything else but its text. */
function isTextOfContent(link: unknown): boolean {
  const [, at, is] = Array.isArray(link) ? (link as unknown[]) : [];
  if (!Array.isArray(at) || at[0] !== 'content' || (is !== undefined && is !== 'data')) return false;
  return at.length === 1 || (at.length === 3 && at[2] !== 'type');
}

const TEXT_OF_ENTRY: Readonly<Record<string, string>> = {
  input_text: 'text',
  input_image: 'image',
  input_file: 'file',
};

function isPlainEntry(entry: unknown): boolean {
  if (!isPlainObject(entry) || typeof entry.type !== 'string') return false;
  const { type, ...others } = entry;
  const text = Object.hasOwn(TEXT_OF_ENTRY, type) ? TEXT_OF_ENTRY[type] : undefined;
  return text !== undefined && others[text] === '' && Object.keys(others).length === 1;
}
