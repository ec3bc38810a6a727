import { COUNTERS, type Counters, NO_COUNTS } from '../domain/stored/counters.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { SeqRange } from '../domain/values/seq-ranges.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import type { StoredTurn } from '../domain/stored/turn.js';
import { DamagedDataError } from '../domain/stored/stored-json.js';
import { type ModelUsage, USAGE_COUNTS, usageWith } from '../domain/usage/usage.js';
import type { SessionHead } from './planned-write.js';

/** A record as it is stored, without the ids of its key: a line for each of {@link RECORD_LINES}. */
export type RecordText = string;

/**
 * What most scripts look at comes first. A new line is the last one: with its text, how it is read, and `isReadable`; if it is no number, also
 * `OTHER_LINES` in `redis/script/codec.ts`. Records from before lack it: it is read as a default, and `READABLE_RECORD` does without it. A
 * value by which a statement searches is a column too (`schema/session-tables.ts`, `sql/session-rows.ts`, `schema/migrations.ts`).
 */
export const RECORD_LINES = [
  ...(['incarnation', 'created', 'expires', 'first', 'last', 'tip', 'water', 'updated'] as const),
  ...(['counters', 'dispatched', 'waiting', 'turnsOnly'] as const),
  ...(['hidden', 'viewFrom', 'summary', 'marks', 'covered', 'stateBytes', 'stamp'] as const),
  ...(['turnExpires', 'turnToken', 'turnNumber', 'turnRequest', 'turnHolder', 'usage'] as const),
] as const;

export type RecordLine = (typeof RECORD_LINES)[number];

/** Records with their texts, as they are or will be stored. A record that gets another stamp gets another text. */
const knownTexts = new WeakMap<SessionRecord, { readonly text: RecordText; readonly stamp: number }>();

/** The text of a record, so that a write can tell what must be stored. No line break is in ids or in numbers. */
export function recordText({ record, stamp }: Pick<SessionHead, 'record' | 'stamp'>): RecordText {
  const known = knownTexts.get(record);
  if (known && Object.is(known.stamp, stamp)) return known.text;
  const { incarnation, createTime, expiresAt, firstSeq, lastSeq, tipSeq, highWater, lastUpdateTime, counters } = record;
  const { dispatchedSeq, waitingSince, turnsOnly, marks, marksSeq, stateBytes, turn, usage } = record;
  const times = `${incarnation}\n${createTime}\n${expiresAt}\n${firstSeq}\n${lastSeq}\n${tipSeq}\n${highWater}\n${lastUpdateTime}`;
  const counts = `${countersText(counters)}\n${dispatchedSeq}\n${waitingSince}\n${turnsOnly ? '1' : '0'}`;
  const view = `${rangesText(marks.hidden)}\n${marks.viewFromSeq}\n${marks.summarySeq}\n${marksSeq}\n${countersText(marks.covered)}`;
  const ofTurn = `${turn.expiresAt}\n${turn.token}\n${turn.number}\n${turn.requestId}\n${turn.holder}\n${usageText(usage)}`;
  const text = `${times}\n${counts}\n${view}\n${stateBytes}\n${stamp}\n${ofTurn}`;
  knownTexts.set(record, { text, stamp });
  return text;
}

/** Decodes a record. Remembers its text: see {@link recordText}. */
export function parseRecord(key: SessionKey, text: RecordText): SessionRecord {
  const record = shownRecord(key, text);
  knownTexts.set(record, { text, stamp: stampIn(text) });
  return record;
}

/** Decodes a record that nobody writes. Thousands in a list are not remembered. */
export function shownRecord(key: SessionKey, text: RecordText): SessionRecord {
  const record = decodedRecord(key, new Lines(text));
  if (!isReadable(record)) throw new DamagedDataError('the record of a session');
  return record;
}

/** Whether the numbers of a {@link decodedRecord} are numbers. */
export function isReadable(record: SessionRecord): boolean {
  const { createTime, lastUpdateTime, expiresAt, firstSeq, lastSeq, tipSeq, highWater, counters, marks, turn, usage } =
    record;
  let sum = createTime + lastUpdateTime + expiresAt + firstSeq + lastSeq + tipSeq + highWater;
  sum += record.marksSeq + record.stateBytes + record.dispatchedSeq + record.waitingSince;
  sum += marks.viewFromSeq + marks.summarySeq + turn.number + turn.expiresAt;
  for (const name of COUNTERS) sum += counters[name] + marks.covered[name];
  for (const counts of usage) for (const name of USAGE_COUNTS) sum += counts[name];
  for (const { from, to } of marks.hidden) sum += from + to;
  return !Number.isNaN(sum);
}

/** The incarnation of a record. It is the first line. */
export function incarnationIn(text: RecordText): string {
  return text.slice(0, Math.max(0, text.indexOf('\n')));
}

/** The stamp of a record that was read, or for which a text was made. */
export function findRecordStamp(record: SessionRecord): number {
  return knownTexts.get(record)?.stamp ?? 0;
}

function stampIn(text: RecordText): number {
  return Number(text.split('\n', STAMP_LINE + 1)[STAMP_LINE]);
}

const STAMP_LINE = RECORD_LINES.indexOf('stamp');

/** The lines of a text, one after the other. A list decodes thousands of records, so that they are not split. */
export class Lines {
  #at = 0;

  constructor(private readonly text: string) {}

  /** All lines that follow. */
  get rest(): string {
    return this.text.slice(this.#at);
  }

  /** The next line. After the last one, `''`. */
  word(): string {
    const from = this.#at;
    const end = this.text.indexOf('\n', from);
    this.#at = end < 0 ? this.text.length + 1 : end + 1;
    return this.text.slice(from, end < 0 ? undefined : end);
  }

  /** The next line as counters. Those that were added since it was written are 0. */
  counters(): Counters {
    const counters = { ...NO_COUNTS };
    let isWhole = false;
    for (const name of COUNTERS) {
      if (isWhole) break;
      counters[name] = this.number(BLANK);
      isWhole = this.text.charCodeAt(this.#at - 1) !== BLANK;
    }
    // Those that were removed since.
    if (!isWhole) this.word();
    return counters;
  }

  /** The next line as a number, or what is before the next `end` in it. After the last line, `NaN`. */
  number(end = LINE_BREAK): number {
    const { text } = this;
    const from = this.#at;
    let at = from;
    let value = 0;
    for (; at < text.length; at++) {
      const digit = text.charCodeAt(at) - DIGIT_0;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    const code = text.charCodeAt(at);
    const isWhole = (code === LINE_BREAK || code === end) && value <= Number.MAX_SAFE_INTEGER;
    if (!isWhole) return from > text.length ? NaN : Number(this.word());
    this.#at = at + 1;
    return value;
  }
}

const DIGIT_0 = 48;
const LINE_BREAK = 10;
const BLANK = 32;

/** Decodes a record, line by line as {@link recordText} wrote them. Does not check it: see {@link isReadable}. */
export function decodedRecord({ appName, userId, sessionId }: SessionKey, lines: Lines): SessionRecord {
  const incarnation = lines.word();
  const createTime = lines.number();
  const expiresAt = lines.number();
  const firstSeq = lines.number();
  const lastSeq = lines.number();
  const tipSeq = lines.number();
  const highWater = lines.number();
  const lastUpdateTime = lines.number();
  const counters = lines.counters();
  const dispatchedSeq = lines.number();
  const waitingSince = lines.number();
  const turnsOnly = lines.word() === '1';
  const hidden = parseSeqRanges(lines.word());
  const viewFromSeq = lines.number();
  const summarySeq = lines.number();
  const marksSeq = lines.number();
  const marks = { hidden, viewFromSeq, summarySeq, covered: lines.counters() };
  const stateBytes = lines.number();
  // The stamp belongs to the text, not to the record.
  lines.word();
  const turn = parseStoredTurn(lines);
  const usage = parseModelUsage(lines.word());
  return {
    appName,
    userId,
    sessionId,
    incarnation,
    createTime,
    lastUpdateTime,
    expiresAt,
    firstSeq,
    lastSeq,
    tipSeq,
    highWater,
    counters,
    marks,
    marksSeq,
    turn,
    turnsOnly,
    stateBytes,
    usage,
    dispatchedSeq,
    waitingSince,
  };
}

function parseStoredTurn(lines: Lines): StoredTurn {
  const expiresAt = lines.number();
  const token = lines.word();
  const number = lines.number();
  const requestId = lines.word();
  return { number, token, holder: lines.word(), requestId, expiresAt };
}

/** Usage as text: of each model its counts and its name, which may hold blanks but no control character. */
function usageText(usage: readonly ModelUsage[]): string {
  return usage
    .map(({ model, ...counts }) => `${USAGE_COUNTS.map((name) => counts[name]).join(' ')} ${model}`)
    .join('\t');
}

function parseModelUsage(text: string): readonly ModelUsage[] {
  if (text === '') return NO_MODELS;
  return text.split('\t').map((one) => {
    const counts = one.split(' ', USAGE_COUNTS.length);
    const model = one.slice(counts.join(' ').length + 1);
    return { model, ...usageWith((name) => Number(counts[USAGE_COUNTS.indexOf(name)])) };
  });
}

const NO_MODELS: readonly ModelUsage[] = [];

/** Ranges as text: `3-5,8-8`. */
function rangesText(ranges: readonly SeqRange[]): string {
  return ranges.map(({ from, to }) => `${from}-${to}`).join(',');
}

function parseSeqRanges(text: string): SeqRange[] {
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
