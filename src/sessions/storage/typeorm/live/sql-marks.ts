import type { ChangedSession, SessionMarks } from '../../coordination.js';
import { type RecordRow, RECORD_COLUMNS, parseRecordRow } from '../sql/session-rows.js';
import { sql } from '../sql/sql.js';
import type { Transactions } from '../sql/transaction.js';

/** The sessions with events that wait to be dispatched, found by an index. */
export class SqlMarks implements SessionMarks {
  /** @param transactions of the database */
  constructor(
    private readonly transactions: Pick<Transactions, 'read'>,
    readonly lagMs: number,
  ) {}

  /** Skips from app to app in the index. The number of sessions does not matter. */
  apps(): Promise<string[]> {
    return this.transactions.read(async (transaction) => {
      const found: string[] = [];
      for (let last = ''; ;) {
        const rows = await transaction.rows<{ app_name: string }>(sql`
          SELECT s.app_name FROM ${transaction.tables.sessions} s
          WHERE s.app_name > ${last} ORDER BY s.app_name LIMIT 1`);
        const [row] = rows;
        if (!row) return found;
        last = row.app_name;
        found.push(last);
      }
    });
  }

  changed(limit: number): Promise<ChangedSession[]> {
    return this.transactions.read(async (transaction) => {
      const rows = await transaction.rows<RecordRow>(sql`
        SELECT ${RECORD_COLUMNS} FROM ${transaction.tables.sessions} s
        WHERE s.waiting_since > 0 ORDER BY s.waiting_since LIMIT ${limit}`);
      return rows.map(parseRecordRow);
    });
  }
}
