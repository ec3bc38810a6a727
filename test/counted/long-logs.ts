import { DEFAULT_TTL } from '../../src/config/session-settings.js';
import { InMemorySessionStorage, SessionService, type EventInput } from '../../src/index.js';
import { lifetimesOf } from '../../src/sessions/domain/values/expiry.js';
import type { SessionStorage } from '../../src/storage.js';
import { fillLog } from '../support/filled-sqlite.js';
import { eventMaker } from '../support/commit-events.js';
import { observedDriver } from '../support/observed-driver.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { StatementLog } from '../support/statement-log.js';
import { KEY } from './operations.js';
import { NO_COUNTS } from '../../src/sessions/domain/stored/counters.js';

/** A store whose only session has a long log. */
export interface LongLog {
  readonly storage: SessionStorage;
  /** Rows that statements returned since the last call; 0 for a store without statements. */
  rowsTaken(): number;
  destroy(): Promise<void>;
}

export interface LongLogStore {
  readonly name: string;
  open(length: number, eventAt: (seq: number) => EventInput): Promise<LongLog>;
}

export const longLogStores: readonly LongLogStore[] = [
  {
    name: 'memory',
    async open(length, eventAt) {
      const storage = new InMemorySessionStorage();
      await new SessionService({ storage }).createSession(KEY);
      const makeEvent = eventMaker();
      for (let seq = 1; seq <= length; seq++) {
        await storage.append({
          key: KEY,
          events: [makeEvent(eventAt(seq), `e-${seq}`)],
          upserts: [],
          removals: [],
          counterIncrements: { ...NO_COUNTS, events: 1 },
          expiry: lifetimesOf(DEFAULT_TTL),
          preconditions: {},
        });
      }
      return { storage, rowsTaken: () => 0, destroy: () => storage.close() };
    },
  },
  {
    name: 'sqlite',
    async open(length, eventAt) {
      const file = new SqliteFile();
      const log = new StatementLog();
      const storage = await file.storage({ driver: observedDriver(log) });
      await new SessionService({ storage }).createSession(KEY);
      fillLog(file.connection(), length, eventAt);
      return {
        storage,
        rowsTaken() {
          const { rows } = log.counts();
          log.clear();
          return rows;
        },
        destroy: () => file.remove(),
      };
    },
  },
];
