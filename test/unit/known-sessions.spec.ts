import { EMPTY_LOG, newRecord, type SessionRecord } from '../../src/sessions/domain/session-record.js';
import { NEVER } from '../../src/sessions/domain/expiry.js';
import { KnownSessions } from '../../src/sessions/storage/typeorm/append/known-sessions.js';
import { ServerTime } from '../../src/sessions/storage/typeorm/connect/connection-pool.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

function recordAt(lastSeq: number, sessionId = 's-1'): SessionRecord {
  return { ...newRecord({ ...KEY, sessionId }, '1', 1_000, NEVER, EMPTY_LOG), lastSeq };
}

describe('KnownSessions', () => {
  it('remembers the record of the last write', () => {
    const known = new KnownSessions();
    expect(known.find(KEY)).toBeUndefined();
    known.remember(recordAt(0));
    known.remember(recordAt(1), 0);
    expect(known.find(KEY)?.lastSeq).toBe(1);
  });

  it('does not rely on a session that another process writes to, until nobody else wrote between two writes', () => {
    const known = new KnownSessions();
    known.remember(recordAt(1));
    known.distrust(KEY);
    expect(known.find(KEY)).toBeUndefined();
    known.remember(recordAt(3), 2);
    expect(known.find(KEY)).toBeUndefined();
    known.remember(recordAt(6), 5);
    expect(known.find(KEY)).toBeUndefined();
    known.remember(recordAt(7), 6);
    expect(known.find(KEY)?.lastSeq).toBe(7);
  });

  it('does not rely on a session while consumers get each of its events at once', () => {
    const known = new KnownSessions();
    known.remember({ ...recordAt(1), dispatchedSeq: 0, waitingSince: 1_000 });
    known.distrust(KEY);
    known.remember({ ...recordAt(2), dispatchedSeq: 1, waitingSince: 2_000 }, 1);
    expect(known.find(KEY)).toBeUndefined();
    known.remember({ ...recordAt(3), dispatchedSeq: 1, waitingSince: 2_000 }, 2);
    expect(known.find(KEY)?.lastSeq).toBe(3);
  });

  it('keeps the sessions that were written last', () => {
    const known = new KnownSessions();
    for (let number = 0; number <= 8_192; number++) known.remember(recordAt(1, `s-${number}`));
    expect(known.find({ ...KEY, sessionId: 's-0' })).toBeUndefined();
    expect(known.find({ ...KEY, sessionId: 's-1' })).toBeDefined();
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
