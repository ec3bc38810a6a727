import { dueTime } from '../../../domain/coordination-rules.js';
import { type DispatchMark, type MarkedLog, markAfterDispatch } from '../../../domain/session-record.js';
import { newStamp } from '../../../domain/stamp.js';
import type { DispatchRequest } from '../../coordination.js';
import { type Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { insertWork } from './work-rows.js';

interface MarkRow {
  readonly pk: number;
  readonly last_seq: number;
  readonly dispatched_seq: number;
  readonly waiting_since: number;
}

/** Adds work and moves the marks of its sessions, in one transaction. So two dispatchers cannot add the same work twice. */
export async function dispatchWork(
  transaction: SqlTransaction,
  { work, taken, settings }: DispatchRequest,
): Promise<boolean> {
  const { tables } = transaction;
  if (settings) {
    const changed = await transaction.change(sql`
      UPDATE ${tables.consumers} SET settings = ${settings.next}
      WHERE name = ${settings.name} AND settings = ${settings.expected}`);
    if (changed === 0) return false;
  }
  const pks = new Set([...work, ...taken].map(({ incarnation }) => Number(incarnation)));
  if (pks.size === 0) return true;
  const marks = await lockMarks(transaction, [...pks], taken.length > 0);
  const moved = new Map<string, DispatchMark>();
  for (const seen of taken) {
    const mark = marks.get(seen.incarnation);
    const next = mark && markAfterDispatch(mark, seen, transaction.now);
    if (next) moved.set(seen.incarnation, next);
    else marks.delete(seen.incarnation);
  }
  const entries = work.filter(({ incarnation }) => marks.has(incarnation));
  const dueAt = dueTime(transaction.now, 0);
  const blank = { letterSeq: 0, tries: 0, claim: '', problem: '', dueAt };
  if (entries.length > 0) transaction.notifyConsumers('work');
  transaction.addToCommit([
    ...insertWork(
      transaction,
      entries.map((entry) => ({ ...entry, ...blank })),
      ['up_to'],
    ),
    ...[...moved].map(([incarnation, mark]) => setMark(transaction, incarnation, mark)),
  ]);
  return true;
}

/** @param skips whether to leave out sessions that are locked; the dispatcher finds them again */
async function lockMarks(
  transaction: SqlTransaction,
  pks: readonly number[],
  skips: boolean,
): Promise<Map<string, MarkedLog>> {
  const { dialect, tables } = transaction;
  const rows = await transaction.lockedRows<MarkRow>(sql`
    SELECT s.pk, s.last_seq, s.dispatched_seq, s.waiting_since FROM ${tables.sessions} s
    WHERE s.pk IN (${sqlList(pks)}) ${skips ? dialect.lockSkipLocked('s') : dialect.lock('s', sql`s.pk`)}`);
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
