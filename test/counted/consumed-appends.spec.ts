import { fillLog } from '../support/filled-sqlite.js';
import { observedDriver } from '../support/observed-driver.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { StatementLog } from '../support/statement-log.js';
import { KEY, SESSION } from './operations.js';

/** The same as of an append where nobody consumes. */
const APPEND = { transactions: 1, reads: 0, writes: 2, rows: 0 };
/** The session is not as this process knows it, which an update finds out. */
const APPEND_AFTER_OTHERS = { transactions: 1, reads: 1, writes: 3, rows: 1 };
/** Consumers with their work and the token; then the marks of the sessions. */
const DISPATCH = { transactions: 2, reads: 2 };

describe('the statements in SQLite with consumers', () => {
  it.each([
    { events: 100, consumers: 1 },
    { events: 10_000, consumers: 1 },
    { events: 10_000, consumers: 5 },
  ])('are the same for an append after $events events with $consumers consumers', async ({ events, consumers }) => {
    const file = new SqliteFile();
    try {
      const log = new StatementLog();
      const storage = await file.storage({ driver: observedDriver(log) });
      const sessions = await file.sessions({ driver: observedDriver(log) });
      await sessions.createSession(KEY);
      fillLog(file.connection(), events, () => ({ author: 'agent' }));
      const names = Array.from({ length: consumers }, (_, index) => `c${index}`);
      for (const name of names) await storage.consumers.register(name, '{}');
      const cost = async (work: () => Promise<unknown>): Promise<unknown> => {
        log.clear();
        await work();
        return log.counts();
      };
      for (let round = 1; round <= 2; round++) {
        const append = (): Promise<unknown> => sessions.appendEvent({ session: SESSION, event: { author: 'agent' } });
        // The first one after a dispatch marks the session.
        expect([await cost(append), await cost(append)]).toEqual([APPEND_AFTER_OTHERS, APPEND]);
        const taken = await storage.consumers.changed(10);
        const work = taken.flatMap(({ incarnation, dispatchedSeq: seq, lastSeq: upTo, waitingSince: since }) =>
          names.map((consumer) => ({ consumer, key: KEY, incarnation, seq, upTo, since })),
        );
        expect(work).toHaveLength(consumers);
        expect(await cost(() => storage.consumers.dispatch({ token: round, work, taken }))).toMatchObject(DISPATCH);
      }
    } finally {
      await file.remove();
    }
  });
});
