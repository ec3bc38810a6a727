import { fillLog, fillSessions } from '../support/filled-sqlite.js';
import { observedDriver } from '../support/observed-driver.js';
import { crowd } from '../support/rounds.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { StatementLog } from '../support/statement-log.js';
import { type Cost, KEY, METADATA, OPERATIONS } from './operations.js';

const FROM_USER = { author: 'user' };
const FROM_AGENT = { author: 'agent' };

const WARM = { author: 'agent', actions: { stateDelta: { step: 0, 'user:step': 0, 'app:step': 0 } } };

/** A filtered list in the order of the last update goes through so many sessions. */
const EXAMINED = 1_000;

describe('the statements of each operation in SQLite', () => {
  it.each([
    { events: 100, others: 10 },
    { events: 10_000, others: 10 },
    { events: 100, others: 2_000 },
    { events: 10_000, others: crowd(100_000) },
  ])('is the same with $events events and $others other sessions', async ({ events, others }) => {
    const file = new SqliteFile();
    try {
      const log = new StatementLog();
      const sessions = await file.sessions({ driver: observedDriver(log), service: { history: { maxEvents: 20 } } });
      await sessions.createSession({ ...KEY, metadata: METADATA, state: { step: 0, 'user:step': 0, 'app:step': 0 } });
      const connection = file.connection();
      fillSessions(connection, others);
      fillLog(connection, events, (seq) => (seq % 2 === 1 ? FROM_USER : FROM_AGENT));
      const session = await sessions.getSession(KEY);
      if (session?.version !== events) throw new Error('The log was not filled');
      // The store trusts that it is the only writer after two appends.
      for (let number = 0; number < 2; number++) await sessions.appendEvent({ session, event: WARM });

      const measured: Record<string, Cost> = {};
      for (const { name, run } of OPERATIONS) {
        log.clear();
        await run({ sessions, session });
        measured[name] = log.counts();
      }
      const expected = OPERATIONS.map(({ name, cost, costOfMany = cost }) => {
        const isOfMany = measured[name]?.reads === costOfMany.reads && others > EXAMINED;
        return [name, isOfMany ? costOfMany : cost];
      });
      expect(measured).toEqual(Object.fromEntries(expected));
    } finally {
      await file.remove();
    }
  });
});
