import type { StoredEvent } from '../../../domain/stored/commit.js';
import type { Lifetime } from '../../../domain/values/expiry.js';
import type { SessionKey } from '../../../domain/values/ids.js';
import type { StoredScope } from '../../../../state/scopes.js';
import type { StateWrites } from '../../../domain/stored/stored-json.js';
import type { StateText } from '../../../domain/stored/state-text.js';
import type { StateExcess, StateLimits, StateSize } from '../../../domain/stored/state-size.js';
import type { SessionHead } from '../../planned-write.js';
import { parseRecord, RECORD_LINES, type RecordLine, type RecordText, findRecordStamp } from '../../record-text.js';
import type { OwnState, SharedScope, StoredSession } from '../../session-storage.js';

/** What scripts take: the arguments after the time. */
export type ScriptArguments = (string | number)[];

/** The first arguments of every script of a session. */
export function keyArguments({ sessionId, userId, appName }: SessionKey): ScriptArguments {
  return [sessionId, userId, appName];
}

export function flag(value: boolean | undefined): string {
  return value ? '1' : '0';
}

export function optional(value: string | number | undefined): string | number {
  return value ?? '';
}

export function lifetimeArguments(lifetime: Lifetime | undefined): ScriptArguments {
  return [optional(lifetime?.ttlMs), optional(lifetime?.renewBelowMs)];
}

/** Decoded in Lua by `takeWrites`. */
export function writeArguments({ upserts, removals }: StateWrites): ScriptArguments {
  return [
    upserts.length,
    ...upserts.flatMap(({ name, value }) => [name, value]),
    removals.length,
    ...removals.map(({ name }) => name),
  ];
}

/** The most bytes of these scopes; '' = any. */
export function limitArguments(
  limits: StateLimits | undefined,
  scopes: readonly StoredScope[] = ['user', 'app'],
): ScriptArguments {
  return scopes.map((scope) => optional(limits?.[scope]));
}

/** What a script found to be too large. */
export function excessFrom(scope: string, bytes: string, limits: StateLimits | undefined): StateExcess {
  const found = scope as StoredScope;
  return { scope: found, bytes: Number(bytes), most: limits?.[found] ?? 0 };
}

/** The sizes of keys that a script counted: alternating names and bytes. */
export function sizesOf(reply: FlatHash): Required<StateSize> {
  const entries = new Map(parseHashPairs(reply).map(([name, bytes]) => [name, Number(bytes)]));
  return { atMost: [...entries.values()].reduce((sum, bytes) => sum + bytes, 0), entries };
}

/** What scripts reply: a hash as alternating names and values. */
export type FlatHash = readonly string[];

/** A Lua pattern that captures fields of a stored record. They are named in the order of their lines. */
export function recordPattern(...fields: readonly RecordLine[]): string {
  const places = fields.map((name) => RECORD_LINES.indexOf(name) + 1);
  const last = places.at(-1) ?? 0;
  if (places.some((place, index) => place <= (places[index - 1] ?? 0))) throw new Error('Name fields by their lines');
  const lines = RECORD_LINES.slice(0, last);
  return `'^${lines.map((name) => (fields.includes(name) ? '([^\\n]*)' : '[^\\n]*')).join('\\n')}'`;
}

/** What a line of a record can hold; numbers, if it is not named. */
const OTHER_LINES: Readonly<Partial<Record<RecordLine, string>>> = {
  incarnation: '[^\\n]+',
  expires: '%d+',
  counters: '[%d%. -]*',
  hidden: '[%d,-]*',
  covered: '[%d%. ]*',
  turnToken: '[^\\n]*',
  turnRequest: '[^\\n]*',
  turnHolder: '[^\\n]*',
  usage: '[^\\n]*',
};

/** A Lua pattern that a stored record matches unless it is damaged. Captures when it expires. */
export const READABLE_RECORD = `'^${RECORD_LINES.map((name) => {
  const line = OTHER_LINES[name] ?? '[%d%.-]*';
  return name === 'expires' ? `(${line})` : line;
}).join('\\n')}$'`;

/** The head of a session, as scripts return it. */
export function parseSessionHead(
  key: SessionKey,
  text: RecordText,
  state: string | null,
  metadata?: string,
): SessionHead {
  const record = parseRecord(key, text);
  return { record, metadata, state: textOfState(state), stamp: findRecordStamp(record) };
}

/** In the hash of a session, the field that has the number of the event with this id. */
export function idField(id: string): string {
  return ID_FIELD + id;
}

/** What an id begins with as the name of a field. Names of others begin with a letter, a digit or NUL. */
export const ID_FIELD = '=';

/**
 * Decodes an event. Its lines are: append time, high water mark, checksum, id, payload. A trimmed event has its digest instead
 * of the checksum, and no payload line.
 */
export function parseStoredEvent(seq: string | number, text: string): StoredEvent {
  let start = 0;
  const nextLine = (): string => {
    if (start < 0) return '';
    const end = text.indexOf('\n', start);
    const line = end < 0 ? text.slice(start) : text.slice(start, end);
    start = end < 0 ? -1 : end + 1;
    return line;
  };
  const appendedAt = Number(nextLine());
  nextLine();
  const digest = nextLine();
  const id = nextLine();
  return { seq: Number(seq), id, digest, appendedAt, payload: start < 0 ? null : text.slice(start) };
}

/**
 * Decodes events. If their numbers are consecutive, `seqs` has only the first one, and the second one if they descend. Events
 * that a damaged log lacks are left out.
 */
export function storedEventsOf(seqs: readonly string[], texts: readonly (string | null)[]): StoredEvent[] {
  const first = Number(seqs[0]);
  const step = Number(seqs[1] ?? first + 1) < first ? -1 : 1;
  return texts.flatMap((text, index) =>
    text === null ? [] : [parseStoredEvent(seqs[index] ?? first + step * index, text)],
  );
}

export function parseHashPairs(reply: FlatHash): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index < reply.length; index += 2) pairs.push([reply[index] ?? '', reply[index + 1] ?? '']);
  return pairs;
}

/** Decodes shared state. The field with the empty name holds the expiry and the bytes; no state key is empty. */
export function sharedStateOf(reply: FlatHash): SharedScope {
  const pairs = parseHashPairs(reply);
  const expiry = pairs.find(([name]) => name === '')?.[1].split(' ', 1)[0];
  return {
    entries: pairs.filter(([name]) => name !== ''),
    ...(expiry !== undefined && { expiresAt: Number(expiry) }),
  };
}

/** Stands for the text of a session's own state that is a hash of keys. No text is like it. */
export const STATE_HAS_KEYS = '-';

/** A session's own state as one text; undefined if it is a hash of keys. */
export function textOfState(stored: string | null): StateText | undefined {
  return stored === null || stored === STATE_HAS_KEYS ? undefined : stored;
}

/** A session's own state, as scripts return it: one text, or a hash of keys. */
export type OwnStateReply = StateText | FlatHash;

/** Of a session in a list or a read. */
export function ownStateOf(reply: OwnStateReply): OwnState {
  return typeof reply === 'string' ? reply : parseHashPairs(reply);
}

/** The state of all scopes that a session sees. */
export function stateOfScopes(
  session: OwnStateReply,
  userReply: FlatHash,
  app: SharedScope,
): Pick<StoredSession, 'state' | 'scopeExpiry'> {
  const user = sharedStateOf(userReply);
  return {
    state: { session: ownStateOf(session), user: user.entries, app: app.entries },
    scopeExpiry: {
      ...(user.expiresAt !== undefined && { user: user.expiresAt }),
      ...(app.expiresAt !== undefined && { app: app.expiresAt }),
    },
  };
}
