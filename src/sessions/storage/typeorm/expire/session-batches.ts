import { newStamp } from '../../../domain/stamp.js';
import { inBatches } from '../../../domain/batches.js';
import type { SESSIONS } from '../schema/session-tables.js';
import type { RowOf } from '../schema/table.js';
import { changedColumns, RECORD_COLUMNS, recordOf, type RecordRow } from '../sql/session-rows.js';
import { equalities, sql } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';

/** Limits how long one transaction delays appends. */
const EVENTS_PER_BATCH = 5_000;

/** A session to remove. */
export type SizedSession = RecordRow & Pick<RowOf<typeof SESSIONS>, 'last_seq'>;

/** The columns of a {@link SizedSession}. */
export const SIZED_COLUMNS = sql`${RECORD_COLUMNS}, s.last_seq`;

/** Sessions to delete in one transaction, with their events. The events of large sessions are deleted before. */
export function inSessionBatches(sessions: readonly SizedSession[]): (readonly SizedSession[])[] {
  return inBatches(sessions, {
    items: EVENTS_PER_BATCH,
    weight: EVENTS_PER_BATCH,
    weightOf: (session) => (isLarge(session) ? 1 : session.last_seq + 1),
  });
}

/** Lets large sessions expire. An append that is still running must not find a partly deleted log. */
export function endLargeSessions(transaction: SqlTransaction, sessions: readonly SizedSession[]): void {
  const { tables } = transaction;
  transaction.addToCommit(
    sessions.filter(isLarge).map((session) => {
      const ended = { record: { ...recordOf(session), expiresAt: 0 }, stamp: newStamp() };
      return sql`UPDATE ${tables.sessions} SET ${equalities(changedColumns(ended), ', ')} WHERE pk = ${session.pk}`;
    }),
  );
}

/** Deletes the events of large sessions, some in each transaction. */
export async function emptyLargeLogs(transactions: Transactions, sessions: readonly SizedSession[]): Promise<void> {
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
