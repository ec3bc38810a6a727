import { type DispatchMark, type MarkedLog, markAfterDispatch } from '../../../domain/session-record.js';
import { newStamp } from '../../../domain/stamp.js';
import type { ChangedSession, SessionMarks } from '../../coordination.js';
import { type RecordRow, RECORD_COLUMNS, recordOf } from '../sql/session-rows.js';
import { type Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';

interface MarkRow {
  readonly pk: number;
  readonly last_seq: number;
  readonly dispatched_seq: number;
  readonly waiting_since: number;
}

/** The sessions with events that wait to be dispatched, found by an index. */
export class SqlMarks implements SessionMarks {
  /** @param transactions of the database */
  constructor(private readonly transactions: Pick<Transactions, 'read' | 'write'>) {}

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
      return rows.map(recordOf);
    });
  }

  async markDispatched(taken: readonly ChangedSession[]): Promise<void> {
    if (taken.length === 0) return;
    await this.transactions.write(async (transaction) => {
      const marks = await lockMarks(transaction, taken);
      const moved = taken.flatMap((seen) => {
        const mark = marks.get(seen.incarnation);
        const next = mark && markAfterDispatch(mark, seen, transaction.now);
        return next ? [setMark(transaction, seen.incarnation, next)] : [];
      });
      transaction.addToCommit(moved);
    });
  }
}

/** Leaves out sessions that are locked; the dispatcher finds them again. */
async function lockMarks(
  transaction: SqlTransaction,
  taken: readonly ChangedSession[],
): Promise<Map<string, MarkedLog>> {
  const { dialect, tables } = transaction;
  const pks = taken.map(({ incarnation }) => Number(incarnation));
  const rows = await transaction.lockedRows<MarkRow>(sql`
    SELECT s.pk, s.last_seq, s.dispatched_seq, s.waiting_since FROM ${tables.sessions} s
    WHERE s.pk IN (${sqlList(pks)}) ${dialect.lockSkipLocked('s')}`);
  return new Map(
    rows.map((row) => [
      String(row.pk),
      { lastSeq: row.last_seq, dispatchedSeq: row.dispatched_seq, waitingSince: row.waiting_since },
    ]),
  );
}

function setMark({ tables }: SqlTransaction, incarnation: string, { dispatchedSeq, waitingSince }: DispatchMark): Sql {
  return sql`
    UPDATE ${tables.sessions} SET dispatched_seq = ${dispatchedSeq}, waiting_since = ${waitingSince},
      stamp = ${newStamp()}
    WHERE pk = ${Number(incarnation)}`;
}
