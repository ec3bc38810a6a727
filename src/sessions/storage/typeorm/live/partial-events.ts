import type { EndedPartials, StoredPartial } from '../../../domain/stored/partial-event.js';
import { inBatches } from '../../../domain/stored/batches.js';
import { columnList } from '../schema/column-list.js';
import { PARTIALS } from '../schema/session-tables.js';
import type { Dialect } from '../sql/dialect.js';
import { joinSql, type Sql, sql, sqlList } from '../sql/sql.js';
import type { Tables } from '../tables.js';

/** The statements that remove partial events of a session. */
export function endPartials({ partials }: Pick<Tables, 'partials'>, pk: number, ended: EndedPartials): Sql[] {
  if (ended === 'all') return [sql`DELETE FROM ${partials} WHERE session_pk = ${pk}`];
  return [sql`DELETE FROM ${partials} WHERE session_pk = ${pk} AND message_id IN (${sqlList(ended)})`];
}

/** A partial event to save. */
export interface NewPartial extends StoredPartial {
  readonly pk: number;
}

export const PARTIAL_COLUMNS = columnList(PARTIALS);

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
    return sql`INSERT INTO ${partials} (${PARTIAL_COLUMNS.names}) VALUES ${joinSql(rows, ', ')} ${replacesPartial(dialect)}`;
  });
}
