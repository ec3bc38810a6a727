import type { StoredEvent } from '../../domain/commit.js';
import type { Counters } from '../../domain/counters.js';
import type { SessionKey } from '../../domain/ids.js';
import type { SeqRange } from '../../domain/seq-ranges.js';
import type { SessionRecord } from '../../domain/session-record.js';
import type { StateEntries } from '../session-storage.js';

/** Names and values in turn, as Redis answers a hash. */
export type FlatHash = readonly string[];

/** What a record holds, in the order of RECORD_FIELDS. */
export type RecordReply = readonly string[];

/** The shared state of a user or an app, and when it expires if it is there. */
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
  };
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

/** Counters as text: turns, events, length, tokens. */
export function countersText({ turns, events, contentLength, tokens }: Counters): string {
  return [turns, events, contentLength, tokens].join(' ');
}

function countersOf(text: string): Counters {
  const [turns = 0, events = 0, contentLength = 0, tokens = 0] = text.split(' ').map(Number);
  return { turns, events, contentLength, tokens };
}

/** An event as a script packed it: a line for each part, and the payload at last, unless it was trimmed away. */
export function storedEventOf(seq: string | number, text: string): StoredEvent {
  let start = 0;
  const line = (): string => {
    const end = text.indexOf('\n', start);
    const part = end < 0 ? text.slice(start) : text.slice(start, end);
    start = end < 0 ? -1 : end + 1;
    return part;
  };
  const appendedAt = Number(line());
  line();
  const digest = line();
  const id = line();
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

/** Shared state keeps its expiry under the empty name, which no key has. */
export function sharedStateOf(reply: FlatHash): SharedState {
  const pairs = pairsOf(reply);
  const expiry = pairs.find(([name]) => name === '')?.[1];
  return {
    entries: pairs.filter(([name]) => name !== ''),
    ...(expiry !== undefined && { expiresAt: Number(expiry) }),
  };
}
