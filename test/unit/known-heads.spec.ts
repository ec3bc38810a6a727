import { NEVER } from '../../src/sessions/domain/values/expiry.js';
import { EMPTY_LOG, newRecord } from '../../src/sessions/domain/stored/session-record.js';
import type { SessionHead } from '../../src/sessions/storage/planned-write.js';
import { ServerTime } from '../../src/sessions/storage/typeorm/connect/connection-pool.js';
import { KnownHeads } from '../../src/sessions/writes/known-heads.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

function headAt(lastSeq: number, sessionId = 's-1', metadata = ''): SessionHead {
  const record = { ...newRecord({ ...KEY, sessionId }, '1', 1_000, NEVER, EMPTY_LOG), lastSeq };
  return { record, metadata, state: undefined, stamp: lastSeq };
}

describe('KnownHeads', () => {
  it('remembers the head of the last write, until it is forgotten', () => {
    const known = new KnownHeads();
    expect(known.find(KEY)).toBeUndefined();
    known.remember(headAt(0));
    known.remember(headAt(1));
    expect(known.find(KEY)).toEqual(headAt(1));
    known.forget(KEY);
    expect(known.find(KEY)).toBeUndefined();
  });

  it('keeps the sessions that were written last', () => {
    const known = new KnownHeads();
    for (let number = 0; number <= 8_192; number++) known.remember(headAt(1, `s-${number}`));
    expect(known.find({ ...KEY, sessionId: 's-0' })).toBeUndefined();
    expect(known.find({ ...KEY, sessionId: 's-4097' })).toBeDefined();
    expect(known.find({ ...KEY, sessionId: 's-8192' })).toBeDefined();
  });

  it('takes what was read, unless something was written in between', () => {
    const known = new KnownHeads();
    known.remember(headAt(3, 's-1', 'title\n"a"\n'));
    const byHand = { ...headAt(3), record: { ...headAt(3).record, highWater: 5 } };
    known.refresh({ ...byHand, metadata: undefined });
    expect(known.find(KEY)).toMatchObject({ record: { highWater: 5 }, metadata: 'title\n"a"\n' });
    known.refresh(headAt(4));
    expect(known.find(KEY)?.stamp).toBe(3);
    known.refresh(headAt(1, 's-2'));
    expect(known.find({ ...KEY, sessionId: 's-2' })?.stamp).toBe(1);
  });

  it('keeps no metadata that is long', () => {
    const known = new KnownHeads();
    known.remember(headAt(1, 's-1', 'title\n"short"\n'));
    expect(known.find(KEY)?.metadata).toBe('title\n"short"\n');
    known.remember(headAt(2, 's-1', 'x'.repeat(1_025)));
    expect(known.find(KEY)).toMatchObject({ metadata: undefined, stamp: 2 });
  });
});

describe('ServerTime', () => {
  it('goes on from the last answer, and is not known before the first', () => {
    const time = new ServerTime();
    expect([time.now, time.age]).toEqual([undefined, Infinity]);
    time.learn(5_000);
    expect(time.now).toBeGreaterThanOrEqual(5_000);
    expect(time.now).toBeLessThan(15_000);
  });
});
