import type { StoredEvent } from '../../../domain/commit.js';
import type { Counters } from '../../../domain/counters.js';
import type { Lifetime } from '../../../domain/expiry.js';
import type { SessionKey } from '../../../domain/ids.js';
import type { StateWrites } from '../../../domain/stored-json.js';
import type { SeqRange } from '../../../domain/seq-ranges.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import { NO_TURN, type StoredTurn } from '../../../domain/turn.js';
import type { StateEntries, StoredSession } from '../../session-storage.js';

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

/** What scripts reply: a hash as alternating names and values. */
export type FlatHash = readonly string[];

/** The fields of a record, in the order of RECORD_FIELDS. */
export type RecordReply = readonly (string | null)[];

/** The state of a user or an app. `expiresAt` is missing when there is no state. */
export interface SharedState {
  readonly entries: StateEntries;
  readonly expiresAt?: number;
}

export function recordOf({ appName, userId, sessionId }: SessionKey, reply: RecordReply): SessionRecord {
  const number = (index: number): number => Number(reply[index]);
  return {
    appName,
    userId,
    sessionId,
    incarnation: reply[0] ?? '',
    createTime: number(1),
    lastUpdateTime: number(2),
    expiresAt: number(3),
    firstSeq: number(4),
    lastSeq: number(5),
    tipSeq: number(6),
    highWater: number(7),
    counters: { turns: number(8), events: number(9), contentLength: number(10), tokens: number(11) },
    marks: {
      hidden: rangesOf(reply[12] ?? ''),
      viewFromSeq: number(13),
      summarySeq: number(14),
      covered: countersOf(reply[16] ?? ''),
    },
    marksSeq: number(15),
    turn: turnOf(reply[17]),
    turnsOnly: reply[18] === '1',
    dispatchedSeq: number(19),
    waitingSince: number(20),
  };
}

/** Decodes a turn. Its lines are: expiry, token, number, request, holder. */
export function turnOf(text: string | null | undefined): StoredTurn {
  if (!text) return NO_TURN;
  const [expiresAt, token = '', number, requestId = '', holder = ''] = text.split('\n');
  return { number: Number(number), token, holder, requestId, expiresAt: Number(expiresAt) };
}

/** Ranges as text: `3-5,8-8`. */
export function rangesText(ranges: readonly { from: number | string; to: number | string }[]): string {
  return ranges.map(({ from, to }) => `${from}-${to}`).join(',');
}

function rangesOf(text: string): SeqRange[] {
  if (text === '') return [];
  return text.split(',').map((range) => {
    const [from, to] = range.split('-');
    return { from: Number(from), to: Number(to) };
  });
}

/** Counters as text: turns, events, content length, tokens. */
export function countersText({ turns, events, contentLength, tokens }: Counters): string {
  return [turns, events, contentLength, tokens].join(' ');
}

function countersOf(text: string): Counters {
  const [turns = 0, events = 0, contentLength = 0, tokens = 0] = text.split(' ').map(Number);
  return { turns, events, contentLength, tokens };
}

/**
 * Decodes an event. Its lines are: append time, high water mark, digest, id, payload. A trimmed event has no payload
 * line.
 */
export function storedEventOf(seq: string | number, text: string): StoredEvent {
  let start = 0;
  const nextLine = (): string => {
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

export function storedEventsOf(reply: FlatHash): StoredEvent[] {
  return pairsOf(reply).map(([seq, text]) => storedEventOf(seq, text));
}

export function pairsOf(reply: FlatHash): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index < reply.length; index += 2) pairs.push([reply[index] ?? '', reply[index + 1] ?? '']);
  return pairs;
}

/** Decodes shared state. The field with the empty name holds the expiry; no state key is empty. */
export function sharedStateOf(reply: FlatHash): SharedState {
  const pairs = pairsOf(reply);
  const expiry = pairs.find(([name]) => name === '')?.[1];
  return {
    entries: pairs.filter(([name]) => name !== ''),
    ...(expiry !== undefined && { expiresAt: Number(expiry) }),
  };
}

/** The state of all scopes that a session sees. */
export function stateOfScopes(
  session: FlatHash,
  userReply: FlatHash,
  app: SharedState,
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
