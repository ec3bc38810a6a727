import { eventOfSnakeCase } from './adk-event.js';
import { type ForeignRow, toBytes, parseJsonColumn } from './foreign-database.js';
import type { ForeignEvent } from '../foreign-log.js';

/** Columns that are no fields of the event. */
const OF_THE_SESSION = new Set(['app_name', 'user_id', 'session_id']);
const FLAGS = new Set(['partial', 'turn_complete', 'interrupted', 'visible', 'requires_completion']);
const JSON_COLUMN = /^(content|actions|.*_metadata|.*_json|.*_transcription)$/;

/**
 * An event that is stored with a column for each field. Its actions may be a Python pickle: that is not read, since
 * reading it can run code. Then the event changes no state.
 */
export function eventOfColumns(row: ForeignRow): ForeignEvent {
  const fields = Object.entries(row).flatMap(([column, value]) => {
    if (OF_THE_SESSION.has(column) || value === null || value === undefined) return [];
    const read = readColumnValue(column, value);
    return read === undefined ? [] : [[column.replace(/_json$/, ''), read] as const];
  });
  return eventOfSnakeCase(Object.fromEntries(fields));
}

function readColumnValue(column: string, value: unknown): unknown {
  if (FLAGS.has(column)) return value === true || value === 1 || value === '1';
  if (!JSON_COLUMN.test(column)) return toBytes(value) ? undefined : value;
  return isJsonText(value) || !(typeof value === 'string' || toBytes(value)) ? parseJsonColumn(value) : undefined;
}

/** A pickle begins with the byte 0x80. */
function isJsonText(value: unknown): boolean {
  const bytes = toBytes(value);
  if (bytes) return bytes[0] === 0x7b || bytes[0] === 0x5b;
  return typeof value === 'string' && /^\s*["{[\dtfn-]/.test(value);
}
