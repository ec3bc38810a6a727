import type { AppendOutcome, Commit } from '../../../domain/stored/commit.js';
import { inBatches } from '../../../domain/stored/batches.js';
import type { AppendWithin } from '../../session-storage.js';
import { AppTransactions, type AppTransactionsOptions } from '../connect/app-transactions.js';
import { joinSql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { HeldAppend } from '../../../writes/held-decisions.js';
import type { LockPolicy } from './held-sessions.js';
import { addWrites, lockAll } from './sql-writes.js';

/** The app chooses the isolation of its transactions, and may have read before. */
const WITHIN: LockPolicy = { hasOldSnapshot: true };
const REPEATED_WITHIN: LockPolicy = { hasOldSnapshot: true, locksEvents: true };

/** An append inside a transaction of the app. */
export interface WrittenAppend {
  readonly outcome: AppendOutcome;
  readonly within: AppendWithin;
  /** The last event: it is stored if all events are. Undefined if the append was refused. */
  readonly last: { readonly pk: number; readonly seq: number; readonly id: string } | undefined;
  isSettled: boolean;
}

/** Transactions of the app that appends can join. */
export function appTransactionsOf(
  options: Omit<AppTransactionsOptions<WrittenAppend>, 'afterCommit' | 'onError'>,
): AppTransactions<WrittenAppend> {
  return new AppTransactions({ ...options, afterCommit: settleAppends, onError: reportUnsettled });
}

/** Appends inside a transaction of the app. */
export async function appendWithin(
  transactions: AppTransactions<WrittenAppend>,
  commit: Commit,
  within: AppendWithin,
): Promise<AppendOutcome> {
  const { outcome } = await transactions.run(within.transaction, async (transaction, isRepeated) => {
    const append = new HeldAppend(commit);
    const { held, scopes } = await lockAll(transaction, [append.request], isRepeated ? REPEATED_WITHIN : WITHIN);
    const decided = await append.decide(held);
    await addWrites(transaction, decided.writes, scopes);
    return { outcome: decided.outcome, within, last: findLastWritten(commit, decided.outcome), isSettled: false };
  });
  return outcome;
}

function findLastWritten({ events }: Commit, outcome: AppendOutcome): WrittenAppend['last'] {
  if (outcome.kind !== 'appended' && outcome.kind !== 'seen') return undefined;
  const pk = Number(outcome.record.incarnation);
  const last = outcome.kind === 'seen' ? outcome.events.at(-1) : events.at(-1);
  if (!last) return undefined;
  return { pk, id: last.id, seq: 'seq' in last ? last.seq : outcome.record.lastSeq };
}

/**
 * Tells which appends are stored. It reads, because a commit may leave them out: the app may have rolled back to a savepoint,
 * and PostgreSQL answers the COMMIT of a failed transaction with a rollback.
 */
async function settleAppends(transaction: SqlTransaction, written: readonly WrittenAppend[]): Promise<void> {
  const stored = new Set<string>();
  for (const some of inBatches(written.flatMap(({ last }) => (last ? [last] : [])))) {
    const places = some.map(({ pk, seq }) => sql`(session_pk = ${pk} AND seq = ${seq})`);
    const rows = await transaction.rows<{ session_pk: number; seq: number; event_id: string }>(
      sql`SELECT session_pk, seq, event_id FROM ${transaction.tables.events} WHERE ${joinSql(places, ' OR ')}`,
    );
    for (const { session_pk: pk, seq, event_id: id } of rows) stored.add(formatEventPlace({ pk, seq, id }));
  }
  for (const append of written) {
    const { last, outcome, within } = append;
    if (append.isSettled || !last || !stored.has(formatEventPlace(last))) continue;
    append.isSettled = true;
    if (outcome.kind === 'appended') {
      transaction.notify({ pk: last.pk, lastSeq: last.seq });
      transaction.notifyConsumers('marks');
    }
    within.onStored(outcome);
  }
}

function formatEventPlace({ pk, seq, id }: { readonly pk: number; readonly seq: number; readonly id: string }): string {
  return `${pk} ${seq} ${id}`;
}

/** Tells the callers that the outcome of their appends is not known. */
function reportUnsettled(written: readonly WrittenAppend[], error: unknown): void {
  for (const { isSettled, within } of written) if (!isSettled) within.onError(error);
}
