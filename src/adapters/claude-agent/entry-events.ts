import { hash, randomUUID } from 'node:crypto';
import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import { isId, jsonCopyOf } from '../../adapter.js';
import type { EventInput, Part } from '../../index.js';
import { saidBy } from './entry-content.js';
import { CLAUDE, RECORDER, recordFields, recordsOf } from './entry-records.js';
import type { UsageCounter } from './entry-usage.js';

/** An entry, and the events that keep it. */
export interface EntryEvents {
  readonly entry: SessionStoreEntry;
  readonly events: readonly EventInput[];
}

const LONGEST_ID = 150;
/** What an event shows has at most so many bytes, beside the entry itself. */
const MOST_SHOWN_BYTES = 400_000;
const LONGEST_TEXT = 100_000;
const LEFT_OUT = '(Left out: too large to show.)';
/** An event has 64 levels by default, and its parts begin at the fourth. */
const LIMITS = { maxDepth: 32, maxBytes: MOST_SHOWN_BYTES };

/**
 * The events of an entry: what it says, as every reader of the session understands it, and the entry itself. Both are one event, except
 * for prompts: clients can write events of users, so these hold no entry.
 */
export function toEntryEvents(entry: SessionStoreEntry, id: string, usage: UsageCounter): EventInput[] {
  const said = saidBy(entry);
  const records = recordsOf(entry);
  const common = { ...readTimestamp(entry), ...usage.usageOf(entry) };
  const place = (index: number, isAlone: boolean): string => (isAlone && index === 0 ? id : `${id}#${index}`);
  if (!said) {
    return records.map((record, index) => ({
      ...(index === 0 ? common : readTimestamp(entry)),
      id: place(index, true),
      author: RECORDER,
      ...recordFields(record),
    }));
  }
  const content = { role: said.role, parts: shownParts(said.parts) };
  const author = said.by === 'user' ? 'user' : CLAUDE;
  const [first] = records;
  if (author === CLAUDE && first && records.length === 1 && first.entry.length < MOST_SHOWN_BYTES / 4) {
    return [{ ...common, id, author, content, ...recordFields(first) }];
  }
  return [
    { ...common, id, author, content },
    ...records.map((record, index) => ({
      ...readTimestamp(entry),
      id: place(index, false),
      author: RECORDER,
      ...recordFields(record),
    })),
  ];
}

/** The id of the events of an entry: that of the entry, so that it is stored once, or a new one. */
export function toEntryId({ uuid }: SessionStoreEntry): string {
  if (typeof uuid !== 'string' || uuid === '') return randomUUID();
  const isKept = isId(uuid) && Buffer.byteLength(uuid) <= LONGEST_ID && !uuid.includes('#');
  return isKept ? uuid : hash('sha256', uuid);
}

/** The id that {@link toEntryId} gave the entry of an event. */
export function entryIdOf(eventId: string): string {
  return eventId.split('#', 1)[0] ?? eventId;
}

function readTimestamp({ timestamp }: SessionStoreEntry): Pick<EventInput, 'timestamp'> {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return time > 0 ? { timestamp: time } : {};
}

/** Parts as an event can hold them. What is too large or too deep is cut: the entry has all of it. */
function shownParts(parts: readonly Part[]): Part[] {
  const most = MOST_SHOWN_BYTES / Math.max(1, parts.length);
  return parts.map((part) => (fits(part, most) ? part : cut(part, Math.min(LONGEST_TEXT, Math.floor(most / 3)))));
}

function fits(part: Part, most: number): boolean {
  try {
    jsonCopyOf(part, '$', LIMITS);
    return Buffer.byteLength(JSON.stringify(part)) <= most;
  } catch {
    return false;
  }
}

function wellFormed<Call extends object>(call: Call): Call {
  return Object.fromEntries(
    Object.entries(call).map(([name, value]) => [name, typeof value === 'string' ? value.toWellFormed() : value]),
  ) as Call;
}

function cut(part: Part, most: number): Part {
  const note: object = { note: LEFT_OUT };
  const { text, thought, functionCall, functionResponse } = part;
  if (functionCall) return { functionCall: { ...wellFormed(functionCall), args: {} }, ...note };
  if (functionResponse)
    return { functionResponse: { ...wellFormed(functionResponse), response: { result: LEFT_OUT } } };
  // The signature of half a thought is worth nothing.
  if (text !== undefined) return { text: text.slice(0, most).toWellFormed(), ...(thought && { thought }) };
  return { text: LEFT_OUT };
}
