import type { ComponentHead } from '../../domain/stored/component.js';
import { NEVER, isExpired } from '../../domain/values/expiry.js';
import { newStamp } from '../../domain/values/stamp.js';
import { DamagedDataError, storedJson } from '../../domain/stored/stored-json.js';
import { type NewEntry, PARKED, type StoredEntry } from '../../storage/entry-store.js';

const SESSION = 'a session of components';
const COMPONENT = 'a component';

/** What the head of a session says. The `since` of its entry is when the session expires. */
export interface SessionHead {
  /** A session that was removed or has expired never comes back: the next one of this id has another incarnation. */
  readonly incarnation: number;
  /** The number of values and lists. */
  readonly parts: number;
  /** The rank of the entry that says when to look at the session. Missing: there may be none. */
  readonly due?: number | undefined;
}

/** A value or a list without the texts that are in entries of their own. */
export interface ComponentPart extends ComponentHead {
  readonly session: string;
  readonly incarnation: number;
  /** The stamp of all its text entries. */
  readonly generation: number;
  /** The number of its text entries. */
  readonly entries: number;
  /** The texts after those of the text entries. */
  readonly tail: readonly string[];
}

/** The head of a session, if there is one that has not expired. */
export function liveHead(stored: StoredEntry | undefined, now: number): SessionHead | undefined {
  if (!stored || isExpired(stored.since, now)) return undefined;
  return storedJson(stored.text, SESSION) as SessionHead;
}

/** A part, if it is one of this session. */
export function livePart(stored: StoredEntry | undefined, head: SessionHead | undefined): ComponentPart | undefined {
  if (!stored || !head) return undefined;
  const part = partIn(stored);
  return part.incarnation === head.incarnation ? part : undefined;
}

/** When a session expires: so long after the write or, as it is known, at that time. */
export type SessionExpiry = { readonly ttlMs: number } | { readonly at: number; readonly now: number };

export function entryOfHead({ incarnation, parts, due }: SessionHead, expiry: SessionExpiry): NewEntry {
  const ttlMs = 'ttlMs' in expiry ? expiry.ttlMs : expiry.at - expiry.now;
  const isEndless = ttlMs >= NEVER || ('at' in expiry && expiry.at >= NEVER);
  const since = isEndless ? NEVER : 'at' in expiry ? expiry.at : { inMs: ttlMs };
  const text = JSON.stringify({ incarnation, parts, due } satisfies SessionHead);
  return { stamp: newStamp(), rank: PARKED, since, text, ttlMs: isEndless ? NEVER : ttlMs };
}

/** When to look at a session. */
export function entryOfDue(rank: number): NewEntry {
  return { stamp: newStamp(), rank, since: 0, text: '', ttlMs: NEVER };
}

/** Its first line says what it is. */
export function entryOfPart({ tail, ...part }: ComponentPart): NewEntry {
  const text = `${JSON.stringify(part satisfies Omit<ComponentPart, 'tail'>)}\n${joinTexts(tail)}`;
  return { stamp: newStamp(), rank: PARKED, since: 0, text, ttlMs: NEVER };
}

export function partIn({ text }: Pick<StoredEntry, 'text'>): ComponentPart {
  const end = text.indexOf('\n');
  const part = storedJson(text.slice(0, Math.max(0, end)), COMPONENT) as Omit<ComponentPart, 'tail'>;
  return { ...part, tail: splitTexts(text.slice(end + 1)) };
}

/** Some texts of a value or a list. The entry is never changed, and all of a generation have one stamp. */
export function entryOfTexts(texts: readonly string[], generation: number): NewEntry {
  return { stamp: generation, rank: PARKED, since: 0, text: joinTexts(texts), ttlMs: NEVER };
}

export function textsIn({ text }: Pick<StoredEntry, 'text'>): string[] {
  return splitTexts(text);
}

/** A line of lengths, then the texts, so that they stay as they are. */
function joinTexts(texts: readonly string[]): string {
  return `${JSON.stringify(texts.map(({ length }) => length))}\n${texts.join('')}`;
}

function splitTexts(joined: string): string[] {
  const begin = joined.indexOf('\n') + 1;
  const lengths = storedJson(joined.slice(0, Math.max(0, begin - 1)), COMPONENT);
  if (!Array.isArray(lengths)) throw new DamagedDataError(COMPONENT);
  let end = begin;
  const texts = (lengths as readonly number[]).map((length) => joined.slice(end, (end += length)));
  if (end !== joined.length) throw new DamagedDataError(COMPONENT);
  return texts;
}
