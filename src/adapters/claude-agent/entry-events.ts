import { createHash, randomUUID } from 'node:crypto';
import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import type { EventInput } from '../../sessions/domain/event.js';
import { idProblem } from '../../sessions/domain/ids.js';
import { saidBy } from './entry-content.js';
import { CLAUDE, RECORDER, recordFields, recordsOf } from './entry-records.js';
import type { UsageCounter } from './entry-usage.js';
import { MOST_SHOWN_BYTES, shownParts } from './shown-parts.js';

/** An entry, and the events that keep it. */
export interface EntryEvents {
  readonly entry: SessionStoreEntry;
  readonly events: readonly EventInput[];
}

const LONGEST_ID = 150;

/**
 * The events of an entry: what it says, as every reader of the session understands it, and the entry itself. Both are one event, except
 * for prompts: clients can write events of users, so these hold no entry.
 */
export function eventsOf(entry: SessionStoreEntry, id: string, usage: UsageCounter): EventInput[] {
  const said = saidBy(entry);
  const records = recordsOf(entry);
  const common = { ...timeOf(entry), ...usage.usageOf(entry) };
  const place = (index: number, isAlone: boolean): string => (isAlone && index === 0 ? id : `${id}#${index}`);
  if (!said) {
    return records.map((record, index) => ({
      ...(index === 0 ? common : timeOf(entry)),
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
      ...timeOf(entry),
      id: place(index, false),
      author: RECORDER,
      ...recordFields(record),
    })),
  ];
}

/** The id of the events of an entry: that of the entry, so that it is stored once, or a new one. */
export function idOf({ uuid }: SessionStoreEntry): string {
  if (typeof uuid !== 'string' || uuid === '') return randomUUID();
  const isId = idProblem(uuid) === undefined && Buffer.byteLength(uuid) <= LONGEST_ID && !uuid.includes('#');
  return isId ? uuid : createHash('sha256').update(uuid).digest('hex');
}

/** The id that {@link idOf} gave the entry of an event. */
export function entryIdOf(eventId: string): string {
  return eventId.split('#', 1)[0] ?? eventId;
}

function timeOf({ timestamp }: SessionStoreEntry): Pick<EventInput, 'timestamp'> {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return time > 0 ? { timestamp: time } : {};
}
