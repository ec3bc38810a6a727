import { NEVER } from '../../src/sessions/domain/values/expiry.js';
import { newRecord, type SessionRecord } from '../../src/sessions/domain/stored/session-record.js';
import {
  Lines,
  parseRecord,
  RECORD_LINES,
  type RecordLine,
  recordText,
  shownRecord,
} from '../../src/sessions/storage/record-text.js';
import { NO_USAGE } from '../../src/sessions/domain/usage/usage.js';
import { newText, RECORD_KEY } from '../support/record-lines.js';
import { countersFrom } from '../../src/testing/storage-contract/support.js';

/** No two values are the same. */
const RECORD: SessionRecord = {
  ...newRecord(RECORD_KEY, '77', 1_764_352_000_123, NEVER),
  lastUpdateTime: 1_764_352_000_456.25,
  firstSeq: 3,
  lastSeq: 40,
  tipSeq: 39,
  highWater: 1_764_352_000_999,
  counters: countersFrom(7_000),
  marks: {
    hidden: [
      { from: 10, to: 12 },
      { from: 20, to: 20 },
    ],
    viewFromSeq: 8,
    summarySeq: 9,
    covered: countersFrom(1_200),
  },
  marksSeq: 21,
  turn: { number: 4, token: 'token', holder: 'holder', requestId: 'request', expiresAt: 1_764_352_060_000 },
  turnsOnly: true,
  stateBytes: 90,
  dispatchedSeq: 31,
  waitingSince: 1_764_352_000_321,
  usage: [
    { model: 'large "é" 😀', ...NO_USAGE, events: 2, promptTokens: 11, totalTokens: 13 },
    { model: 'small', ...NO_USAGE, events: 1, outputTokens: 17, totalTokens: 17 },
  ],
};

/** Lines with anything but numbers, and the stamp, which belongs to the text. */
const WORDS = new Set<RecordLine>(['incarnation', 'turnsOnly', 'stamp', 'turnToken', 'turnRequest', 'turnHolder']);

describe('the text of a record', () => {
  it('has every value of the record', () => {
    const text = recordText({ record: RECORD, stamp: 12 });
    expect(shownRecord(RECORD_KEY, text)).toEqual(RECORD);
    expect(parseRecord(RECORD_KEY, text)).toEqual(RECORD);
  });

  it.each(RECORD_LINES.slice(0, RECORD_LINES.indexOf('turnNumber')))('is damaged if it ends with %s', (name) => {
    const lines = newText()
      .split('\n')
      .slice(0, RECORD_LINES.indexOf(name) + 1);
    expect(() => shownRecord(RECORD_KEY, lines.join('\n'))).toThrow('damaged');
  });

  it.each(RECORD_LINES.filter((name) => !WORDS.has(name)))('is damaged if %s is no number', (name) => {
    expect(() => shownRecord(RECORD_KEY, newText({ [name]: 'x' }))).toThrow('damaged');
  });
});

describe('the text of a record that was read', () => {
  it('is the stored one with the same stamp, and another one with another stamp', () => {
    const stored = newText({ covered: '0' });
    const record = parseRecord(RECORD_KEY, stored);
    expect(recordText({ record, stamp: 1 })).toBe(stored);
    const other = recordText({ record, stamp: 2 });
    expect(other).toBe(recordText({ record: { ...record }, stamp: 2 }));
    expect(other).not.toBe(recordText({ record, stamp: 1 }));
  });
});

describe('lines of a text', () => {
  it.each(['0', '-1', '1.5', '9007199254740991', '9007199254740993', '8640000000000000', '1e3', '', 'x', 'Infinity'])(
    'are the numbers that JavaScript reads: %s',
    (text) => {
      expect(new Lines(text).number()).toBe(Number(text));
      const followed = new Lines(`${text}\nnext`);
      expect([followed.number(), followed.word()]).toEqual([Number(text), 'next']);
    },
  );

  it('end with an empty word, and with no number', () => {
    const lines = new Lines('a\n7');
    expect([lines.word(), lines.rest, lines.number(), lines.number(), lines.word(), lines.rest]).toEqual([
      'a',
      '7',
      7,
      NaN,
      '',
      '',
    ]);
  });
});
