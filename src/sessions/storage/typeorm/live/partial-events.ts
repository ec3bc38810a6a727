import { isExpired } from '../../../domain/expiry.js';
import {
  type EndedPartials,
  type PartialOutcome,
  type PartialWrite,
  partialOutcome,
} from '../../../domain/partial-event.js';
import { inBatches } from '../../../domain/batches.js';
import type { PartialsRequest, PartialStore, StoredPartials } from '../../partial-store.js';
import { LastQueries } from '../sql/last-queries.js';
import type { RecordRow } from '../sql/session-rows.js';
import { type Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, TransactionOptions, Work } from '../sql/transaction.js';
import type { Tables } from '../tables.js';

/** Limits how many sessions a transaction locks, and the size of its statements. */
const WRITES_PER_TRANSACTION = { items: 50, weight: 500_000, weightOf: ({ content }: PartialWrite) => content.length };

/** Both look up a session before they compare times. */
const BEGIN_LAZILY: TransactionOptions = { beginsLazily: true };

interface Access {
  readonly read: <Result>(work: Work<Result>, options?: TransactionOptions) => Promise<Result>;
  readonly write: <Result>(work: Work<Result>, options?: TransactionOptions) => Promise<Result>;
}

/** Partial events in a table. */
export class SqlPartials implements PartialStore {
  constructor(private readonly access: Access) {}

  /** One transaction for the writes of 50 sessions, with two round trips. */
  async save(writes: readonly PartialWrite[]): Promise<PartialOutcome[]> {
    const outcomes: PartialOutcome[] = [];
    for (const portion of inBatches(writes, WRITES_PER_TRANSACTION)) {
      outcomes.push(...(await this.access.write((transaction) => savePartials(transaction, portion), BEGIN_LAZILY)));
    }
    return outcomes;
  }

  read(request: PartialsRequest): Promise<StoredPartials | undefined> {
    return this.access.read((transaction) => readPartials(transaction, request), BEGIN_LAZILY);
  }
}

type TargetRow = Pick<RecordRow, 'pk' | 'last_seq' | 'expires_at' | 'turn_token' | 'turn_number' | 'turn_expires_at'>;

/** The lock lets each row see the turn of its session, and wait for no append. */
async function savePartials(transaction: SqlTransaction, writes: readonly PartialWrite[]): Promise<PartialOutcome[]> {
  const { tables, dialect } = transaction;
  const pks = [...new Set(writes.map(pkOf))];
  const rows = await transaction.lockedRows<TargetRow>(sql`
    SELECT s.pk, s.last_seq, s.expires_at, s.turn_token, s.turn_number, s.turn_expires_at
    FROM ${tables.sessions} s WHERE s.pk IN (${sqlList(pks)}) ${dialect.lockSkipLocked('s')}`);
  const targets = new Map(rows.map((row) => [row.pk, row]));
  const values: Sql[] = [];
  const outcomes = writes.map((write): PartialOutcome => {
    const row = targets.get(pkOf(write));
    // A missing session cannot be told from a locked one.
    if (!row && dialect.locksRows) return { kind: 'busy' };
    const outcome = partialOutcome(write, row && targetOf(row), transaction.now);
    if (!row || outcome.kind !== 'saved') return outcome;
    const { number, afterSeq, messageId, expiresAt, content } = outcome.partial;
    values.push(sql`(${row.pk}, ${number}, ${afterSeq}, ${messageId}, ${expiresAt}, ${content})`);
    transaction.notify({ pk: row.pk, lastSeq: afterSeq, partial: number });
    return outcome;
  });
  if (values.length > 0) {
    const columns = ['after_seq', 'message_id', 'expires_at', 'content'];
    transaction.addToCommit([
      sql`
        INSERT INTO ${tables.partials} (session_pk, number, after_seq, message_id, expires_at, content)
        VALUES ${joinSql(values, ', ')} ${dialect.onConflictSet(sql`session_pk, number`, columns)}`,
    ]);
  }
  return outcomes;
}

function pkOf({ incarnation }: PartialWrite): number {
  return Number(incarnation);
}

function targetOf(row: TargetRow): Parameters<typeof partialOutcome>[1] {
  const turn = { token: row.turn_token, number: row.turn_number, expiresAt: row.turn_expires_at };
  return { incarnation: String(row.pk), expiresAt: row.expires_at, lastSeq: row.last_seq, turn };
}

interface PartialRow {
  readonly last_seq: number;
  readonly session_expires_at: number;
  /** Null if there are no partial events. */
  readonly number: number | null;
  readonly after_seq: number;
  readonly message_id: string;
  readonly expires_at: number;
  readonly content: string;
}

async function readPartials(
  transaction: SqlTransaction,
  { incarnation, after }: PartialsRequest,
): Promise<StoredPartials | undefined> {
  const { sessions, partials } = transaction.tables;
  const last = new LastQueries(transaction);
  const found = last.add<PartialRow>(sql`
    SELECT s.last_seq, s.expires_at AS session_expires_at,
      p.number, p.after_seq, p.message_id, p.expires_at, p.content
    FROM ${sessions} s LEFT JOIN ${partials} p ON p.session_pk = s.pk AND p.number > ${after}
    WHERE s.pk = ${Number(incarnation)} ORDER BY p.number`);
  await last.run();
  const rows = found();
  const [first] = rows;
  const { now } = transaction;
  if (!first || isExpired(first.session_expires_at, now)) return undefined;
  return {
    lastSeq: first.last_seq,
    partials: rows.flatMap(({ number, after_seq: afterSeq, message_id: messageId, expires_at: expiresAt, content }) =>
      number === null || isExpired(expiresAt, now) ? [] : [{ number, afterSeq, messageId, content, expiresAt }],
    ),
  };
}

/** The statements that remove partial events of a session. */
export function endPartials({ partials }: Pick<Tables, 'partials'>, pk: number, ended: EndedPartials): Sql[] {
  if (ended === 'all') return [sql`DELETE FROM ${partials} WHERE session_pk = ${pk}`];
  return [sql`DELETE FROM ${partials} WHERE session_pk = ${pk} AND message_id IN (${sqlList(ended)})`];
}
