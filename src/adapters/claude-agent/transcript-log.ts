import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import { readPages } from '../../adapter.js';
import { type LoggedEvent, type SessionKey, SessionNotFoundError, type SessionService } from '../../index.js';
import { entryIdOf } from './entry-events.js';
import { type EntryRecord, readEntryRecord } from './entry-records.js';

/** A record, and the one before it that is not rewound. */
interface Link {
  /** The id of the event, which names the entry. */
  readonly id: string;
  readonly record: EntryRecord;
  readonly before: Link | undefined;
}

const PAGE = 1_000;

/** The entries of a transcript, without what was rewound; `null` if there are none. */
export async function loadEntries(sessions: SessionService, key: SessionKey): Promise<SessionStoreEntry[] | null> {
  /** The last record after each event, by `seq`. */
  const ends: (Link | undefined)[] = [undefined];
  try {
    for await (const event of eventsAfter(sessions, key, 0)) {
      const end = endAfter(event, ends);
      while (ends.length < event.seq) ends.push(ends.at(-1));
      ends[event.seq] = end;
    }
  } catch (error) {
    if (error instanceof SessionNotFoundError) return null;
    throw error;
  }
  const entries = joinTranscriptEntries(ends.at(-1));
  return entries.length > 0 ? entries : null;
}

function endAfter(event: LoggedEvent, ends: readonly (Link | undefined)[]): Link | undefined {
  const { rewind } = event.actions;
  if (rewind) return ends[Math.min(rewind.toSeq, ends.length - 1)];
  const record = readEntryRecord(event);
  return record ? { id: event.id, record, before: ends.at(-1) } : ends.at(-1);
}

/** An entry stands where its first piece does. Pieces of others may be between its own; one that lacks a piece is left out. */
function joinTranscriptEntries(end: Link | undefined): SessionStoreEntry[] {
  const links: Link[] = [];
  for (let link = end; link; link = link.before) links.push(link);
  const texts = new Map<string, string[]>();
  const counts = new Map<string, number>();
  for (const { id, record } of links.toReversed()) {
    const name = entryIdOf(id);
    const pieces = texts.get(name) ?? [];
    pieces[record.piece ?? 0] = record.entry;
    texts.set(name, pieces);
    counts.set(name, record.pieces ?? 1);
  }
  const whole = [...texts].filter(([name, pieces]) => Object.keys(pieces).length === counts.get(name));
  return whole.map(([, pieces]) => JSON.parse(pieces.join('')) as SessionStoreEntry);
}

/** Which of these ids the log has, from the event at `seq`. */
export async function storedIds(
  sessions: SessionService,
  key: SessionKey,
  ids: ReadonlySet<string>,
  seq: number,
): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { id } of eventsAfter(sessions, key, seq - 1)) {
    if (ids.has(id)) found.add(id);
    if (found.size === ids.size) break;
  }
  return found;
}

async function* eventsAfter(sessions: SessionService, key: SessionKey, seq: number): AsyncGenerator<LoggedEvent> {
  const pages = readPages((cursor) => sessions.listEvents({ ...key, afterSeq: seq, limit: PAGE, cursor }));
  for await (const { events } of pages) yield* events;
}
