import { lifetimesOf } from '../../src/sessions/domain/values/expiry.js';
import { DEFAULT_TTL } from '../../src/config/session-settings.js';
import type { InitialEvent, InitialLog } from '../../src/sessions/domain/stored/session-record.js';
import { NO_COUNTS } from '../../src/sessions/domain/stored/counters.js';
import { NO_MARKS } from '../../src/sessions/domain/stored/view-marks.js';
import { describeRedis } from '../support/redis-servers.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
/** More than the maximum number of arguments of a JavaScript function. */
const MANY = 150_000;
const TOO_MANY = 1_000_001;
/** A busy machine takes seconds. */
const LIMIT_MS = 25_000;

describeRedis('A $name session that begins with a very long log', ['redis', 'redis-cluster'], (bench) => {
  it(`is created with ${MANY} events`, async () => {
    const storage = bench().storage({ commandTimeoutMs: LIMIT_MS });
    const events = Array.from({ length: MANY }, (_, index) => eventOf(index + 1));
    expect(await storage.create({ ...request(), log: logOf(events) })).toMatchObject({ record: { lastSeq: MANY } });
    for (const seq of [1, 1_000, 1_001, MANY]) {
      const read = await storage.read({ key: KEY, window: { ranges: [{ from: seq, to: seq }] } });
      expect(read?.events).toMatchObject([{ seq, id: `e-${seq}`, payload: `{"id":"e-${seq}"}` }]);
    }
  });

  it(`is refused with ${TOO_MANY} events`, async () => {
    const storage = bench().storage();
    const event = eventOf(1);
    const log = logOf(Array.from({ length: TOO_MANY }, () => event));
    await expect(storage.create({ ...request(), log })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', path: 'log' });
    expect(await storage.read({ key: KEY })).toBeUndefined();
  });
});

function request() {
  return { key: KEY, baseState: '{}', upserts: [], expiry: lifetimesOf(DEFAULT_TTL) };
}

function eventOf(seq: number): InitialEvent {
  const id = `e-${seq}`;
  const payload = JSON.stringify({ id });
  return { id, timestamp: seq, anchor: seq % 2 === 1, payload, appendedAt: seq, highWater: seq };
}

function logOf(events: readonly InitialEvent[]): InitialLog {
  const counters = { ...NO_COUNTS, events: events.length };
  return { events, tipSeq: events.length, counters, marks: NO_MARKS, marksSeq: 0 };
}
