import { newStamp } from '../../../domain/values/stamp.js';
import { DamagedDataError } from '../../../domain/stored/stored-json.js';
import { inBatches } from '../../../domain/stored/batches.js';
import { changedColumns, RECORD_COLUMNS, parseRecordRow, type RecordRow } from '../sql/session-rows.js';
import { type Columns, equalities, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';

/** Limits how long one transaction delays appends. */
const EVENTS_PER_BATCH = 5_000;

/** A session to remove. */
export interface SizedSession {
  readonly pk: number;
  readonly last_seq: number;
}

/** Removes sessions that were found, in batches; the events of large ones before. Returns how many were removed. */
export async function removeInBatches(
  transactions: Transactions,
  found: readonly SizedSession[],
  remove: (transaction: SqlTransaction, pks: readonly number[]) => Promise<number>,
): Promise<number> {
  await emptyLargeLogs(transactions, found);
  let removed = 0;
  for (const batch of inSessionBatches(found)) {
    const pks = batch.map(({ pk }) => pk);
    removed += await transactions.write((transaction) => remove(transaction, pks));
  }
  return removed;
}

/** Sessions to delete in one transaction, with their events. */
function inSessionBatches(sessions: readonly SizedSession[]): (readonly SizedSession[])[] {
  return inBatches(sessions, {
    items: EVENTS_PER_BATCH,
    weight: EVENTS_PER_BATCH,
    weightOf: (session) => (isLarge(session) ? 1 : session.last_seq + 1),
  });
}

/** Lets large sessions expire. An append that is still running must not find a partly deleted log. */
export async function endLargeSessions(transaction: SqlTransaction, sessions: readonly SizedSession[]): Promise<void> {
  const large = sessions.filter(isLarge).map(({ pk }) => pk);
  if (large.length === 0) return;
  const { tables, dialect } = transaction;
  const rows = await transaction.rows<RecordRow>(
    sql`SELECT ${RECORD_COLUMNS} FROM ${tables.sessions} s WHERE s.pk IN (${sqlList(large)}) ${dialect.lock('s')}`,
  );
  transaction.addToCommit(
    rows.map(
      (row) => sql`UPDATE ${tables.sessions} SET ${equalities(toExpiredColumns(row), ', ')} WHERE pk = ${row.pk}`,
    ),
  );
}

/** The columns of a session that ends. A record that cannot be read stays. */
function toExpiredColumns(row: RecordRow): Columns {
  const stamp = newStamp();
  try {
    return changedColumns({ record: { ...parseRecordRow(row), expiresAt: 0 }, stamp });
  } catch (error) {
    if (!(error instanceof DamagedDataError)) throw error;
    return Object.entries({ expires_at: 0, expiry_minute: 0, stamp });
  }
}

/** Deletes the events of large sessions, some in each transaction. */
async function emptyLargeLogs(transactions: Transactions, sessions: readonly SizedSession[]): Promise<void> {
  for (const { pk, last_seq: lastSeq } of sessions.filter(isLarge)) {
    for (let from = 1; from <= lastSeq; from += EVENTS_PER_BATCH) {
      await transactions.write((transaction) => removeEvents(transaction, pk, from));
    }
  }
}

function isLarge({ last_seq: events }: SizedSession): boolean {
  return events > EVENTS_PER_BATCH;
}

async function removeEvents(transaction: SqlTransaction, sessionPk: number, from: number): Promise<void> {
  await transaction.change(sql`
    DELETE FROM ${transaction.tables.events}
    WHERE session_pk = ${sessionPk} AND seq BETWEEN ${from} AND ${from + EVENTS_PER_BATCH - 1}`);
}
