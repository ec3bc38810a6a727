import { dueTime } from '../../../domain/coordination-rules.js';
import type { NoteOutcome, WorkEntry, WorkProgress } from '../../../domain/consumer-work.js';
import { NEVER_DUE, claimedEntry, entryAfter, letterOf, revivedLetter } from '../../../domain/consumer-work.js';
import type {
  ChangedSession,
  ClaimRequest,
  ConsumerStore,
  DispatchRequest,
  StoredConsumer,
  StoredLag,
} from '../../coordination.js';
import { type RecordRow, RECORD_COLUMNS, recordOf } from '../sql/session-rows.js';
import { type Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';
import { dispatchWork } from './dispatch-work.js';
import {
  type KeyRow,
  WORK_COLUMNS,
  type WorkRow,
  insertWork,
  isEntry,
  workEntriesOf,
  workEntryOf,
} from './work-rows.js';

/** Stores consumers and their work as rows. Foreign keys delete the work on a session with the session. */
export class SqlConsumers implements ConsumerStore {
  /** @param transactions of the database */
  constructor(private readonly transactions: Pick<Transactions, 'read' | 'write'>) {}

  /** If several processes register a new consumer, one can insert it. The others get a duplicate key, and retry. */
  register(name: string, settings: string): Promise<StoredConsumer> {
    return this.transactions.write(async (transaction) => {
      const { tables, now } = transaction;
      const [stored] = await consumers(transaction, sql`WHERE name = ${name}`);
      if (stored) return stored;
      const registeredAt = dueTime(now, 0);
      await transaction.change(
        sql`INSERT INTO ${tables.consumers} (name, registered_at, settings) VALUES (${name}, ${registeredAt}, ${settings})`,
      );
      return { name, registeredAt, settings };
    });
  }

  list(): Promise<StoredConsumer[]> {
    return this.transactions.read((transaction) => consumers(transaction, sql`ORDER BY name`));
  }

  remove(name: string, limit: number): Promise<boolean> {
    return this.transactions.write(async (transaction) => {
      const { tables } = transaction;
      const rows = await transaction.rows<Pick<WorkRow, 'session_pk' | 'letter_seq'>>(
        sql`SELECT cw.session_pk, cw.letter_seq FROM ${tables.consumerWork} cw WHERE cw.consumer = ${name} LIMIT ${limit}`,
      );
      for (const row of rows) await transaction.change(deletion(transaction, name, row));
      if (rows.length === limit) return false;
      await transaction.change(sql`DELETE FROM ${tables.consumers} WHERE name = ${name}`);
      return true;
    });
  }

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

  dispatch(request: DispatchRequest): Promise<boolean> {
    return this.transactions.write((transaction) => dispatchWork(transaction, request));
  }

  async claim(request: ClaimRequest): Promise<WorkEntry[]> {
    // A write transaction locks all of SQLite, so it begins only if there is something to claim.
    const isDue = await this.transactions.read(async (transaction) => {
      const rows = await transaction.rows(sql`
        SELECT 1 AS found FROM ${transaction.tables.consumerWork} cw
        WHERE cw.consumer = ${request.consumer} AND cw.due_time <= ${transaction.now} LIMIT 1`);
      return rows.length > 0;
    });
    return isDue ? this.transactions.write((transaction) => claimWork(transaction, request)) : [];
  }

  note(entry: WorkEntry, progress: WorkProgress): Promise<NoteOutcome> {
    return this.transactions.write((transaction) => noteProgress(transaction, entry, progress));
  }

  deadLetters(consumer: string, limit: number): Promise<WorkEntry[]> {
    return this.transactions.read(async (transaction) => {
      const { tables } = transaction;
      const rows = await transaction.rows<WorkRow & KeyRow>(sql`
        SELECT ${WORK_COLUMNS}, s.app_name, s.user_id, s.session_id
        FROM ${tables.consumerWork} cw JOIN ${tables.sessions} s ON s.pk = cw.session_pk
        WHERE cw.consumer = ${consumer} AND cw.due_time = ${NEVER_DUE} LIMIT ${limit}`);
      return rows.map((row) => workEntryOf(row, row));
    });
  }

  resolve(letter: WorkEntry, how: 'retry' | 'drop'): Promise<boolean> {
    return this.transactions.write(async (transaction) => {
      const { tables, now } = transaction;
      const isDead = sql`${isEntry(letter)} AND due_time = ${NEVER_DUE}`;
      const { tries } = revivedLetter(letter);
      const changed = await transaction.change(
        how === 'drop'
          ? sql`DELETE FROM ${tables.consumerWork} WHERE ${isDead}`
          : sql`UPDATE ${tables.consumerWork} SET due_time = ${dueTime(now, 0)}, tries = ${tries} WHERE ${isDead}`,
      );
      return changed > 0;
    });
  }

  lag(consumer: string): Promise<StoredLag> {
    return this.transactions.read(async (transaction) => {
      const count = async (which: Sql): Promise<{ total: number; oldest: number | null }> => {
        const rows = await transaction.rows<{ total: number | string; oldest: number | string | null }>(sql`
          SELECT COUNT(*) AS total, MIN(cw.since_time) AS oldest FROM ${transaction.tables.consumerWork} cw
          WHERE cw.consumer = ${consumer} AND ${which}`);
        const { total = 0, oldest = null } = rows[0] ?? {};
        return { total: Number(total), oldest: oldest === null ? null : Number(oldest) };
      };
      const waiting = await count(sql`cw.due_time < ${NEVER_DUE}`);
      const dead = await count(sql`cw.due_time = ${NEVER_DUE}`);
      return {
        sessions: waiting.total,
        ...(waiting.oldest !== null && { oldestSince: waiting.oldest }),
        deadLetters: dead.total,
        now: transaction.now,
      };
    });
  }
}

async function consumers(transaction: SqlTransaction, which: Sql): Promise<StoredConsumer[]> {
  const rows = await transaction.rows<{ name: string; registered_at: number; settings: string }>(
    sql`SELECT name, registered_at, settings FROM ${transaction.tables.consumers} ${which}`,
  );
  return rows.map(({ name, registered_at: registeredAt, settings }) => ({ name, registeredAt, settings }));
}

function deletion(
  { tables }: SqlTransaction,
  consumer: string,
  { session_pk: pk, letter_seq: letter }: Pick<WorkRow, 'session_pk' | 'letter_seq'>,
): Sql {
  return sql`
    DELETE FROM ${tables.consumerWork} WHERE session_pk = ${pk} AND consumer = ${consumer} AND letter_seq = ${letter}`;
}

/** Workers that claim at the same time skip each other's rows. */
async function claimWork(
  transaction: SqlTransaction,
  { consumer, claim, limit, forMs }: ClaimRequest,
): Promise<WorkEntry[]> {
  const { dialect, tables } = transaction;
  const rows = await transaction.lockedRows<WorkRow>(sql`
    SELECT ${WORK_COLUMNS} FROM ${tables.consumerWork} cw
    WHERE cw.consumer = ${consumer} AND cw.due_time <= ${transaction.now}
    ORDER BY cw.due_time LIMIT ${limit} ${dialect.lockSkipLocked('cw')}`);
  if (rows.length === 0) return [];
  const pks = rows.map(({ session_pk: pk }) => pk);
  const keys = await transaction.rows<KeyRow & { pk: number }>(
    sql`SELECT s.pk, s.app_name, s.user_id, s.session_id FROM ${tables.sessions} s WHERE s.pk IN (${sqlList(pks)})`,
  );
  const claimed = workEntriesOf(rows, keys).map((entry) => claimedEntry(entry, claim));
  const dueAt = dueTime(transaction.now, forMs);
  transaction.addToCommit(
    claimed.map(
      (entry) => sql`
        UPDATE ${tables.consumerWork} SET claim = ${entry.claim}, due_time = ${dueAt}, tries = ${entry.tries}
        WHERE ${isEntry(entry)}`,
    ),
  );
  return claimed;
}

async function noteProgress(
  transaction: SqlTransaction,
  entry: WorkEntry,
  progress: WorkProgress,
): Promise<NoteOutcome> {
  const { dialect, tables } = transaction;
  // A dead letter refers to the session. The dispatcher also locks the session first, which avoids a deadlock.
  if (progress.letter) {
    const pk = Number(entry.incarnation);
    await transaction.lockedRows(sql`SELECT s.pk FROM ${tables.sessions} s WHERE s.pk = ${pk} ${dialect.lock('s')}`);
  }
  const [row] = await transaction.lockedRows<WorkRow>(sql`
    SELECT ${WORK_COLUMNS} FROM ${tables.consumerWork} cw
    WHERE ${isEntry(entry)} AND claim = ${entry.claim} ${dialect.lock('cw')}`);
  if (!row) return { kind: 'lost' };
  const stored = { ...entry, upTo: row.up_to };
  const next = entryAfter(stored, progress);
  const change = next
    ? sql`
        UPDATE ${tables.consumerWork} SET
          seq = ${next.seq}, tries = ${next.tries}, claim = ${next.claim}, problem = ${next.problem},
          due_time = ${dueTime(transaction.now, progress.dueInMs)}
        WHERE ${isEntry(entry)}`
    : sql`DELETE FROM ${tables.consumerWork} WHERE ${isEntry(entry)}`;
  const letter = progress.letter && letterOf(stored, progress.letter);
  const columns = ['seq', 'up_to', 'tries', 'since_time', 'due_time', 'claim', 'problem'];
  const letters = letter ? insertWork(transaction, [{ ...letter, dueAt: NEVER_DUE }], columns) : [];
  transaction.addToCommit([change, ...letters]);
  return next ? { kind: 'left', upTo: next.upTo } : { kind: 'done' };
}
