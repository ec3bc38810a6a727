import { isExpired } from '../../../domain/expiry.js';
import type { EndedPartials, StoredPartial } from '../../../domain/partial-event.js';
import { inBatches } from '../../../domain/batches.js';
import type { PartialsRequest, PartialStore, StoredPartials } from '../../partial-store.js';
import type { Dialect } from '../sql/dialect.js';
import { LastQueries } from '../sql/last-queries.js';
import { joinSql, Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, TransactionOptions, Work } from '../sql/transaction.js';
import type { Tables } from '../tables.js';

/** It looks up a session before it compares times. */
const BEGIN_LAZILY: TransactionOptions = { beginsLazily: true };

interface Access {
  readonly read: <Result>(work: Work<Result>, options?: TransactionOptions) => Promise<Result>;
}

/** Partial events in a table. */
export class SqlPartials implements PartialStore {
  constructor(private readonly access: Access) {}

  read(request: PartialsRequest): Promise<StoredPartials | undefined> {
    return this.access.read((transaction) => readPartials(transaction, request), BEGIN_LAZILY);
  }
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

/** A partial event to save. */
export interface NewPartial extends StoredPartial {
  readonly pk: number;
}

/** The columns of a partial event with their types in PostgreSQL. */
export const PARTIAL_COLUMN_TYPES = [
  ['session_pk', 'bigint'],
  ['number', 'bigint'],
  ['after_seq', 'integer'],
  ['message_id', 'text'],
  ['expires_at', 'bigint'],
  ['content', 'text'],
] as const;

export const PARTIAL_COLUMNS = new Sql(PARTIAL_COLUMN_TYPES.map(([name]) => name).join(', '));

/** In the order of {@link PARTIAL_COLUMNS}. */
export function valuesOfPartial({
  pk,
  number,
  afterSeq,
  messageId,
  expiresAt,
  content,
}: NewPartial): (string | number)[] {
  return [pk, number, afterSeq, messageId, expiresAt, content];
}

/** Replaces those with the same number. */
export function replacesPartial({ onConflictSet }: Pick<Dialect, 'onConflictSet'>): Sql {
  return onConflictSet(sql`session_pk, number`, ['after_seq', 'message_id', 'expires_at', 'content']);
}

/** A server limits the size of a message. */
const SAVED_TOGETHER = { items: 100, weight: 500_000, weightOf: ({ content }: NewPartial) => content.length };

export function savePartials(
  dialect: Dialect,
  { partials }: Pick<Tables, 'partials'>,
  saved: readonly NewPartial[],
): Sql[] {
  return inBatches(saved, SAVED_TOGETHER).map((some) => {
    const rows = some.map((partial) => sql`(${sqlList(valuesOfPartial(partial))})`);
    return sql`INSERT INTO ${partials} (${PARTIAL_COLUMNS}) VALUES ${joinSql(rows, ', ')} ${replacesPartial(dialect)}`;
  });
}
