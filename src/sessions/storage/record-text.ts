import { COUNTERS, type Counters, countersWith, NO_COUNTS } from '../domain/counters.js';
import type { SessionKey } from '../domain/ids.js';
import type { SeqRange } from '../domain/seq-ranges.js';
import type { SessionRecord } from '../domain/session-record.js';
import { DamagedDataError } from '../domain/stored-json.js';
import type { SessionHead } from './planned-write.js';

/** A record as it is stored, without the ids of its key: a line for each of {@link RECORD_LINES}. */
export type RecordText = string;

/** What most scripts look at comes first. */
export const RECORD_LINES = [
  ...(['incarnation', 'created', 'expires', 'first', 'last', 'tip', 'water', 'updated'] as const),
  ...(['turns', 'events', 'length', 'tokens', 'dispatched', 'waiting', 'turnsOnly'] as const),
  ...(['hidden', 'viewFrom', 'summary', 'marks', 'covered', 'stateBytes', 'stamp'] as const),
  ...(['turnExpires', 'turnToken', 'turnNumber', 'turnRequest', 'turnHolder'] as const),
] as const;

export type RecordLine = (typeof RECORD_LINES)[number];

/** Records with their texts, as they are or will be stored. */
const knownTexts = new WeakMap<SessionRecord, RecordText>();

/** The text of a record, so that a write can tell what must be stored. No line break is in ids or in numbers. */
export function recordText({ record, stamp }: Pick<SessionHead, 'record' | 'stamp'>): RecordText {
  const known = knownTexts.get(record);
  if (known !== undefined) return known;
  const { incarnation, createTime, expiresAt, firstSeq, lastSeq, tipSeq, highWater, lastUpdateTime, counters } = record;
  const { dispatchedSeq, waitingSince, turnsOnly, marks, marksSeq, stateBytes, turn } = record;
  const { turns, events, contentLength, tokens } = counters;
  const times = `${incarnation}\n${createTime}\n${expiresAt}\n${firstSeq}\n${lastSeq}\n${tipSeq}\n${highWater}\n${lastUpdateTime}`;
  const counts = `${turns}\n${events}\n${contentLength}\n${tokens}\n${dispatchedSeq}\n${waitingSince}\n${turnsOnly ? '1' : '0'}`;
  const view = `${rangesText(marks.hidden)}\n${marks.viewFromSeq}\n${marks.summarySeq}\n${marksSeq}\n${countersText(marks.covered)}`;
  const ofTurn = `${turn.expiresAt}\n${turn.token}\n${turn.number}\n${turn.requestId}\n${turn.holder}`;
  const text = `${times}\n${counts}\n${view}\n${stateBytes}\n${stamp}\n${ofTurn}`;
  knownTexts.set(record, text);
  return text;
}

/** Decodes a record. Remembers its text: see {@link recordText}. */
export function parseRecord(key: SessionKey, text: RecordText): SessionRecord {
  const record = decodedRecord(key, text);
  if (!isReadable(record)) throw new DamagedDataError('the record of a session');
  knownTexts.set(record, text);
  return record;
}

function isReadable(record: SessionRecord): boolean {
  const { createTime, lastUpdateTime, expiresAt, firstSeq, lastSeq, tipSeq, highWater, counters, marks } = record;
  let sum = createTime + lastUpdateTime + expiresAt + firstSeq + lastSeq + tipSeq + highWater;
  sum += counters.turns + counters.events + marks.covered.turns;
  for (const { from, to } of marks.hidden) sum += from + to;
  return !Number.isNaN(sum);
}

/** The incarnation of a record. It is the first line. */
export function incarnationIn(text: RecordText): string {
  return text.slice(0, Math.max(0, text.indexOf('\n')));
}

/** The stamp of a record that was read, or that of a new one. */
export function stampOf(record: SessionRecord): number {
  const text = knownTexts.get(record);
  return text === undefined ? 0 : stampIn(text);
}

/** The stamp that was stored with a record. */
export function stampIn(text: RecordText): number {
  return Number(text.split('\n', STAMP_LINE + 1)[STAMP_LINE]);
}

const STAMP_LINE = RECORD_LINES.indexOf('stamp');

/** Where each line is. A list decodes thousands of records, so they are not looked up by name. */
const LINE = Object.fromEntries(RECORD_LINES.map((name, place) => [name, place])) as Record<RecordLine, number>;

function decodedRecord({ appName, userId, sessionId }: SessionKey, text: RecordText): SessionRecord {
  const lines = text.split('\n');
  const number = (line: RecordLine): number => Number(lines[LINE[line]]);
  const word = (line: RecordLine): string => lines[LINE[line]] ?? '';
  return {
    appName,
    userId,
    sessionId,
    incarnation: word('incarnation'),
    createTime: number('created'),
    lastUpdateTime: number('updated'),
    expiresAt: number('expires'),
    firstSeq: number('first'),
    lastSeq: number('last'),
    tipSeq: number('tip'),
    highWater: number('water'),
    counters: {
      turns: number('turns'),
      events: number('events'),
      contentLength: number('length'),
      tokens: number('tokens'),
    },
    marks: {
      hidden: rangesOf(word('hidden')),
      viewFromSeq: number('viewFrom'),
      summarySeq: number('summary'),
      covered: countersOf(word('covered')),
    },
    marksSeq: number('marks'),
    turn: {
      number: number('turnNumber'),
      token: word('turnToken'),
      holder: word('turnHolder'),
      requestId: word('turnRequest'),
      expiresAt: number('turnExpires'),
    },
    turnsOnly: word('turnsOnly') === '1',
    stateBytes: number('stateBytes'),
    dispatchedSeq: number('dispatched'),
    waitingSince: number('waiting'),
  };
}

/** Ranges as text: `3-5,8-8`. */
function rangesText(ranges: readonly SeqRange[]): string {
  return ranges.map(({ from, to }) => `${from}-${to}`).join(',');
}

function rangesOf(text: string): SeqRange[] {
  if (text === '') return [];
  return text.split(',').map((range) => {
    const [from, to] = range.split('-');
    return { from: Number(from), to: Number(to) };
  });
}

/** Counters as text: their values. */
function countersText(counters: Counters): string {
  return COUNTERS.map((name) => counters[name]).join(' ');
}

/** Those that were added later are 0. */
function countersOf(text: string): Counters {
  if (text === NOTHING_COUNTED) return NO_COUNTS;
  const values = text.split(' ').map(Number);
  return countersWith((name) => values[COUNTERS.indexOf(name)]);
}

const NOTHING_COUNTED = countersText(NO_COUNTS);
