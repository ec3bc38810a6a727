import type { WorkEntry } from '../../../domain/consumer-work.js';
import { inBatches } from '../../../domain/batches.js';
import { Sql, joinSql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** A row of the table of work, with the columns of {@link WORK_COLUMNS}. */
export interface WorkRow {
  readonly session_pk: number;
  readonly consumer: string;
  readonly letter_seq: number;
  readonly seq: number;
  readonly up_to: number;
  readonly tries: number;
  readonly since_time: number;
  readonly claim: string;
  readonly problem: string;
}

/** The ids of a session. */
export interface KeyRow {
  readonly app_name: string;
  readonly user_id: string;
  readonly session_id: string;
}

export const WORK_COLUMNS = new Sql(
  'cw.session_pk, cw.consumer, cw.letter_seq, cw.seq, cw.up_to, cw.tries, cw.since_time, cw.claim, cw.problem',
);

export function workEntryOf(row: WorkRow, key: KeyRow): WorkEntry {
  return {
    consumer: row.consumer,
    key: { appName: key.app_name, userId: key.user_id, sessionId: key.session_id },
    incarnation: String(row.session_pk),
    letterSeq: row.letter_seq,
    seq: row.seq,
    upTo: row.up_to,
    since: row.since_time,
    tries: row.tries,
    claim: row.claim,
    problem: row.problem,
  };
}

/** Leaves out work on deleted and expired sessions. */
export function workEntriesOf(
  rows: readonly WorkRow[],
  keys: readonly (KeyRow & { readonly pk: number })[],
): WorkEntry[] {
  const byPk = new Map(keys.map((key) => [key.pk, key]));
  return rows.flatMap((row) => {
    const key = byPk.get(row.session_pk);
    return key ? [workEntryOf(row, key)] : [];
  });
}

/** Matches the row of an entry. */
export function isEntry({ incarnation, consumer, letterSeq }: WorkEntry): Sql {
  return sql`session_pk = ${Number(incarnation)} AND consumer = ${consumer} AND letter_seq = ${letterSeq}`;
}

/** An entry to insert. */
export interface NewEntry extends WorkEntry {
  readonly dueAt: number;
}

/** @param replaced columns of an existing row that get the new values */
export function insertWork(
  { tables, dialect }: SqlTransaction,
  entries: readonly NewEntry[],
  replaced: readonly string[],
): Sql[] {
  return inBatches(entries, { items: 500 }).map((some) => {
    const rows = some.map(
      ({ incarnation, consumer, letterSeq, seq, upTo, tries, since, dueAt, claim, problem }) => sql`
        (${Number(incarnation)}, ${consumer}, ${letterSeq}, ${seq}, ${upTo}, ${tries}, ${since}, ${dueAt}, ${claim}, ${problem})`,
    );
    return sql`
      INSERT INTO ${tables.consumerWork}
        (session_pk, consumer, letter_seq, seq, up_to, tries, since_time, due_time, claim, problem)
      VALUES ${joinSql(rows, ', ')} ${dialect.onConflictSet(sql`session_pk, consumer, letter_seq`, replaced)}`;
  });
}
