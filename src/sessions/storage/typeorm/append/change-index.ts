import type { MetadataText } from '../../../domain/metadata-entries.js';
import { indexChanges, indexEntries } from '../../../domain/metadata-index.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import { type Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { Tables } from '../tables.js';

/** A session with its metadata before and after a transaction. */
export interface IndexedSession {
  readonly pk: number;
  readonly record: SessionRecord;
  readonly before: MetadataText;
  readonly after: MetadataText;
}

/** Statements that make the index of entries agree with the metadata. None if no indexed entry changes. */
export function changeIndex({ sessionIndex }: Tables, { pk, record, before, after }: IndexedSession): Sql[] {
  if (before === after) return [];
  const { added, removed } = indexChanges(indexEntries(before), indexEntries(after));
  const rows = added.map(
    (entry) => sql`(${pk}, ${entry}, ${record.appName}, ${record.userId}, ${record.sessionId}, ${record.createTime})`,
  );
  return [
    ...(removed.length > 0
      ? [sql`DELETE FROM ${sessionIndex} WHERE session_pk = ${pk} AND entry IN (${sqlList(removed)})`]
      : []),
    ...(added.length > 0
      ? [
          sql`
            INSERT INTO ${sessionIndex} (session_pk, entry, app_name, user_id, session_id, create_time)
            VALUES ${joinSql(rows, ', ')}`,
        ]
      : []),
  ];
}
