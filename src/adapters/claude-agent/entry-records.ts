import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import type { EventInput, LoggedEvent } from '../../index.js';
import { textPieces } from '../shared/text-pieces.js';

/** The author of what Claude says and does. */
export const CLAUDE = 'claude';
/** The author of entries that say nothing to others. Clients that write as users cannot make any. */
export const RECORDER = 'claude-agent';

/** An entry as text, or a piece of one that is too long for an event. */
export interface EntryRecord {
  readonly entry: string;
  /** From 0. */
  readonly piece?: number;
  readonly pieces?: number;
}

const FIELD = 'claude-agent';
/** The text of an entry in pieces. JSON text keeps what events cannot: depth, and halves of surrogate pairs. */
export function recordsOf(entry: SessionStoreEntry): EntryRecord[] {
  const texts = textPieces(JSON.stringify(entry));
  if (texts.length === 1) return texts.map((text) => ({ entry: text }));
  return texts.map((piece, index) => ({ entry: piece, piece: index, pieces: texts.length }));
}

/** The fields of an event that holds an entry. */
export function recordFields(record: EntryRecord): Pick<EventInput, 'customMetadata'> {
  return { customMetadata: { [FIELD]: record } };
}

/** The entry of an event, unless a client may have written it. */
export function readEntryRecord({ author, customMetadata }: LoggedEvent): EntryRecord | undefined {
  if (author !== CLAUDE && author !== RECORDER) return undefined;
  const record = customMetadata?.[FIELD] as EntryRecord | undefined;
  return typeof record?.entry === 'string' ? record : undefined;
}
