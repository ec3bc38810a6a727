import type { StoredEvent } from '../../../domain/commit.js';
import { COUNTERS, type Counters, countersWith } from '../../../domain/counters.js';
import type { Lifetime } from '../../../domain/expiry.js';
import type { SessionKey } from '../../../domain/ids.js';
import type { StoredScope } from '../../../../state/scopes.js';
import type { StateWrites } from '../../../domain/stored-json.js';
import { DamagedDataError } from '../../../domain/stored-json.js';
import type { SeqRange } from '../../../domain/seq-ranges.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import type { StateExcess, StateLimits, StateSize } from '../../../domain/state-size.js';
import type { SessionHead } from '../../planned-write.js';
import type { SharedScope, StoredSession } from '../../session-storage.js';

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
  const entries = new Map(pairsOf(reply).map(([name, bytes]) => [name, Number(bytes)]));
  return { atMost: [...entries.values()].reduce((sum, bytes) => sum + bytes, 0), entries };
}

/** What scripts reply: a hash as alternating names and values. */
export type FlatHash = readonly string[];

/** The field of each counter in a record. */
const COUNTER_FIELDS = {
  turns: 'turns',
  events: 'events',
  contentLength: 'length',
  tokens: 'tokens',
} as const satisfies Record<keyof Counters, string>;

/** The fields of all counters, in the order of {@link counterValues}. */
export const ALL_COUNTER_FIELDS = COUNTERS.map((name) => COUNTER_FIELDS[name]);

/** The lines of a stored record. What most scripts look at comes first. */
export const RECORD_FIELD_NAMES = [
  ...(['incarnation', 'created', 'expires', 'first', 'last', 'tip', 'water', 'updated'] as const),
  ...(['turns', 'events', 'length', 'tokens', 'dispatched', 'waiting', 'turnsOnly'] as const),
  ...(['hidden', 'viewFrom', 'summary', 'marks', 'covered', 'stateBytes', 'stamp'] as const),
  ...(['turnExpires', 'turnToken', 'turnNumber', 'turnRequest', 'turnHolder'] as const),
] as const;

export type RecordField = (typeof RECORD_FIELD_NAMES)[number];

/** The place of a field among the lines of a record. Lua counts from 1. */
export function luaPlaceOf(field: RecordField): number {
  return RECORD_FIELD_NAMES.indexOf(field) + 1;
}

/** A Lua pattern that captures fields of a stored record. They are named in the order of their lines. */
export function recordPattern(...fields: readonly RecordField[]): string {
  const places = fields.map(luaPlaceOf);
  const last = places.at(-1) ?? 0;
  if (places.some((place, index) => place <= (places[index - 1] ?? 0))) throw new Error('Name fields by their lines');
  const lines = RECORD_FIELD_NAMES.slice(0, last);
  return `'^${lines.map((name) => (fields.includes(name) ? '([^\\n]*)' : '[^\\n]*')).join('\\n')}'`;
}

/** What a line of a record can hold; numbers, if it is not named. */
const OTHER_LINES: Readonly<Partial<Record<RecordField, string>>> = {
  incarnation: '[^\\n]+',
  expires: '%d+',
  hidden: '[%d,-]*',
  covered: '[%d%. ]*',
  turnToken: '[^\\n]*',
  turnRequest: '[^\\n]*',
  turnHolder: '[^\\n]*',
};

/** A Lua pattern that a stored record matches unless it is damaged. Captures when it expires. */
export const READABLE_RECORD = `'^${RECORD_FIELD_NAMES.map((name) => {
  const line = OTHER_LINES[name] ?? '[%d%.-]*';
  return name === 'expires' ? `(${line})` : line;
}).join('\\n')}$'`;

/** A record as it is stored. */
export type RecordReply = string;

/** The incarnation of a record. It is the first line. */
export function incarnationOf(reply: RecordReply): string {
  return reply.slice(0, Math.max(0, reply.indexOf('\n')));
}

/** Decodes a record. Remembers its text: see {@link recordText}. */
export function recordOf(key: SessionKey, reply: RecordReply): SessionRecord {
  const record = decodedRecord(key, reply);
  const { createTime, lastUpdateTime, expiresAt, firstSeq, lastSeq, tipSeq, highWater } = record;
  const sum = createTime + lastUpdateTime + expiresAt + firstSeq + lastSeq + tipSeq + highWater;
  if (Number.isNaN(sum)) throw new DamagedDataError('the record of a session');
  knownTexts.set(record, reply);
  return record;
}

/** Records with their texts, as they are or will be stored. */
const knownTexts = new WeakMap<SessionRecord, RecordReply>();

/** The text of a record, so that a write can tell what must be stored. */
export function recordText({ record, stamp }: Pick<SessionHead, 'record' | 'stamp'>): RecordReply {
  const known = knownTexts.get(record);
  if (known !== undefined) return known;
  const { incarnation, createTime, expiresAt, firstSeq, lastSeq, tipSeq, highWater, lastUpdateTime, counters } = record;
  const { dispatchedSeq, waitingSince, turnsOnly, marks, marksSeq, stateBytes, turn } = record;
  const { turns, events, contentLength, tokens } = counters;
  const times = `${incarnation}\n${createTime}\n${expiresAt}\n${firstSeq}\n${lastSeq}\n${tipSeq}\n${highWater}\n${lastUpdateTime}`;
  const counts = `${turns}\n${events}\n${contentLength}\n${tokens}\n${dispatchedSeq}\n${waitingSince}\n${flag(turnsOnly)}`;
  const view = `${rangesText(marks.hidden)}\n${marks.viewFromSeq}\n${marks.summarySeq}\n${marksSeq}\n${countersText(marks.covered)}`;
  const ofTurn = `${turn.expiresAt}\n${turn.token}\n${turn.number}\n${turn.requestId}\n${turn.holder}`;
  const text = `${times}\n${counts}\n${view}\n${stateBytes}\n${stamp}\n${ofTurn}`;
  knownTexts.set(record, text);
  return text;
}

/** The head of a session, as scripts return it. */
export function headOf(key: SessionKey, reply: RecordReply, metadata?: string): SessionHead {
  return { record: recordOf(key, reply), metadata, stamp: stampIn(reply) };
}

/** The stamp of a record that was read, or that of a new one. */
export function stampOf(record: SessionRecord): number {
  const text = knownTexts.get(record);
  return text === undefined ? 0 : stampIn(text);
}

function stampIn(reply: RecordReply): number {
  return Number(reply.split('\n', STAMP_LINE + 1)[STAMP_LINE]);
}

const STAMP_LINE = RECORD_FIELD_NAMES.indexOf('stamp');

function decodedRecord({ appName, userId, sessionId }: SessionKey, reply: RecordReply): SessionRecord {
  const values = reply.split('\n');
  const [incarnation = '', created, expires, first, last, tip, water, updated, turns, events, length, tokens] = values;
  const [dispatched, waiting, turnsOnly, hidden = '', viewFrom, summary, marks, covered = '', stateBytes] =
    values.slice(12);
  const [turnExpires, token = '', number, requestId = '', holder = ''] = values.slice(22);
  return {
    appName,
    userId,
    sessionId,
    incarnation,
    createTime: Number(created),
    lastUpdateTime: Number(updated),
    expiresAt: Number(expires),
    firstSeq: Number(first),
    lastSeq: Number(last),
    tipSeq: Number(tip),
    highWater: Number(water),
    counters: {
      turns: Number(turns),
      events: Number(events),
      contentLength: Number(length),
      tokens: Number(tokens),
    },
    marks: {
      hidden: rangesOf(hidden),
      viewFromSeq: Number(viewFrom),
      summarySeq: Number(summary),
      covered: countersOf(covered),
    },
    marksSeq: Number(marks),
    turn: { number: Number(number), token, holder, requestId, expiresAt: Number(turnExpires) },
    turnsOnly: turnsOnly === '1',
    stateBytes: Number(stateBytes),
    dispatchedSeq: Number(dispatched),
    waitingSince: Number(waiting),
  };
}

/** Ranges as text: `3-5,8-8`. */
export function rangesText(ranges: readonly SeqRange[]): string {
  return ranges.map(({ from, to }) => `${from}-${to}`).join(',');
}

function rangesOf(text: string): SeqRange[] {
  if (text === '') return [];
  return text.split(',').map((range) => {
    const [from, to] = range.split('-');
    return { from: Number(from), to: Number(to) };
  });
}

/** The values of all counters. */
export function counterValues(counters: Counters): number[] {
  return COUNTERS.map((name) => counters[name]);
}

/** In the hash of a session, the field that has the number of the event with this id. */
export function idField(id: string): string {
  return ID_FIELD + id;
}

/** What an id begins with as the name of a field. Names of others begin with a letter, a digit, NUL or `+`. */
export const ID_FIELD = '=';

/** Counters as text: their values. */
export function countersText(counters: Counters): string {
  return counterValues(counters).join(' ');
}

function countersOf(text: string): Counters {
  const values = text.split(' ').map(Number);
  return countersWith((name) => values[COUNTERS.indexOf(name)]);
}

/**
 * Decodes an event. Its lines are: append time, high water mark, checksum, id, payload. A trimmed event has its digest instead
 * of the checksum, and no payload line.
 */
export function storedEventOf(seq: string | number, text: string): StoredEvent {
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
    text === null ? [] : [storedEventOf(seqs[index] ?? first + step * index, text)],
  );
}

export function pairsOf(reply: FlatHash): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index < reply.length; index += 2) pairs.push([reply[index] ?? '', reply[index + 1] ?? '']);
  return pairs;
}

/** Decodes shared state. The field with the empty name holds the expiry and the bytes; no state key is empty. */
export function sharedStateOf(reply: FlatHash): SharedScope {
  const pairs = pairsOf(reply);
  const expiry = pairs.find(([name]) => name === '')?.[1].split(' ', 1)[0];
  return {
    entries: pairs.filter(([name]) => name !== ''),
    ...(expiry !== undefined && { expiresAt: Number(expiry) }),
  };
}

/** The state of all scopes that a session sees. */
export function stateOfScopes(
  session: FlatHash,
  userReply: FlatHash,
  app: SharedScope,
): Pick<StoredSession, 'state' | 'scopeExpiry'> {
  const user = sharedStateOf(userReply);
  return {
    state: { session: pairsOf(session), user: user.entries, app: app.entries },
    scopeExpiry: {
      ...(user.expiresAt !== undefined && { user: user.expiresAt }),
      ...(app.expiresAt !== undefined && { app: app.expiresAt }),
    },
  };
}
