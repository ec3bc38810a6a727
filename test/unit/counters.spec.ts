import {
  createFirstCheckpoint,
  checkpointText,
  storedCheckpoint,
} from '../../src/sessions/domain/history/checkpoint.js';
import { COUNTERS, NO_COUNTS, countEvent, storedCounters } from '../../src/sessions/domain/stored/counters.js';
import { parseRecord } from '../../src/sessions/storage/record-text.js';
import { newText, RECORD_KEY } from '../support/record-lines.js';
import { countersFrom } from '../../src/testing/storage-contract/support.js';

function tokensOf(totalTokenCount: unknown): number {
  return countEvent({ author: 'agent', usageMetadata: { totalTokenCount: totalTokenCount as number } }).tokens;
}

describe('the token count of an event', () => {
  it.each([1, 2_000_000, 1e9])('is the count that the model reports: %d', (count) => {
    expect(tokensOf(count)).toBe(count);
  });

  it.each([undefined, null, -5, 0.5, '7', 1e9 + 1, Number.MAX_SAFE_INTEGER, 1e300])(
    'is 0 if the count is not valid: %p',
    (count) => {
      expect(tokensOf(count)).toBe(0);
    },
  );
});

describe('counters that were stored before one was added', () => {
  const ALL = countersFrom(1);
  const cases = COUNTERS.map((name) => {
    const { [name]: _missing, ...older } = ALL;
    return [name, older, { ...ALL, [name]: 0 }] as const;
  });

  it.each(cases)('get the default of %s', (_name, older, read) => {
    expect(storedCounters(older)).toEqual(read);
  });

  it('get the default of the last ones in a record', () => {
    const older = COUNTERS.slice(0, -1).map((name) => ALL[name]);
    const line = older.join(' ');
    const { counters, marks } = parseRecord(RECORD_KEY, newText({ counters: line, covered: line }));
    expect([counters, marks.covered]).toEqual(Array(2).fill(storedCounters({ ...ALL, [COUNTERS.at(-1) ?? '']: 0 })));
  });

  it('are read without those that a later version has added', () => {
    const { counters, dispatchedSeq } = parseRecord(RECORD_KEY, newText({ counters: '1 2 3 4 5 6', dispatched: 7 }));
    expect([counters, dispatchedSeq]).toEqual([ALL, 7]);
  });

  it.each(cases)('get the default of %s in a checkpoint', (_name, older, read) => {
    const record = parseRecord(RECORD_KEY, newText({ last: 300 }));
    const marks = { ...createFirstCheckpoint(record, '{}').marks, summarySeq: 200 };
    const stored = JSON.parse(checkpointText({ state: {}, shared: {}, marks, counters: NO_COUNTS })) as typeof marks;
    const text = JSON.stringify({ ...stored, counters: older, marks: { ...marks, covered: older } });
    const checkpoint = storedCheckpoint({ seq: 256, text }, record);
    expect(checkpoint).toMatchObject({ counters: read, marks: { covered: read, summarySeq: 200 } });
  });
});
