import type { SessionKey } from '../values/ids.js';
import { countedSize, readExcess, readExcessError, type StateLimits } from './state-size.js';
import { DamagedDataError } from './stored-json.js';

/**
 * A session's own state as one text, while it is small: a line for each key, with its name as JSON, a colon and its value, and commas
 * between the lines. In braces it is JSON. So it is read and written with the session, and lists need no rows of its keys.
 */
export type StateText = string;

type Entry = readonly [name: string, value: string];

/** More is kept key by key, so that a change of one key does not write all others. */
const MOST_CHARACTERS = 1_000;

/** The text of a state. Undefined if the state is to be kept key by key. */
export function stateText(entries: Iterable<Entry>): StateText | undefined {
  let text = '';
  for (const [name, value] of entries) {
    text += `${text && SEPARATOR}${JSON.stringify(name)}:${value}`;
    // Names and values as JSON have no line break, but a store may be given any text.
    if (text.length > MOST_CHARACTERS || value.includes('\n')) return undefined;
  }
  return text;
}

const SEPARATOR = ',\n';

/** The keys of a state that is one text, and their values as JSON text. */
export function entriesOfText(text: StateText): Entry[] {
  return text === '' ? [] : text.split(SEPARATOR).map(entryOfLine);
}

const NAME = /^"(?:[^"\\]|\\.)*"(?=:)/;

function entryOfLine(line: string): Entry {
  const name = NAME.exec(line)?.[0];
  if (name === undefined) throw new DamagedDataError('the state of a session');
  return [JSON.parse(name) as string, line.slice(name.length + 1)];
}

/** Refuses a text that is larger than a state may be to be read. */
export function expectReadableText(text: StateText, limits: StateLimits | undefined, owner: SessionKey): void {
  if (!limits || text.length * MOST_BYTES_PER_CHARACTER <= limits.session) return;
  const excess = readExcess('session', countedSize(entriesOfText(text)), limits);
  if (excess) throw readExcessError(excess, owner);
}

const MOST_BYTES_PER_CHARACTER = 3;

/** The keys after some were set, and those without a value removed. */
export function entriesAfter(text: StateText, changes: ReadonlyMap<string, string | undefined>): Map<string, string> {
  const entries = new Map(entriesOfText(text));
  for (const [name, value] of changes) {
    if (value === undefined) entries.delete(name);
    else entries.set(name, value);
  }
  return entries;
}
