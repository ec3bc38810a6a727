import type { MetadataText } from '../../../domain/metadata/metadata-entries.js';
import { type SessionRecord, unreadableRecord } from '../../../domain/stored/session-record.js';
import type { StateText } from '../../../domain/stored/state-text.js';
import { decodedRecord, isReadable, Lines } from '../../record-text.js';
import type { ListRequest } from '../../session-storage.js';
import { keyIn, METADATA_COLUMN, recordLines } from '../sql/session-rows.js';
import { Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** A session of the page. */
export interface FoundRow {
  readonly pk: number;
  readonly record: SessionRecord;
  readonly isDamaged: boolean;
  readonly metadata: MetadataText;
  /** Its own state, unless that has rows. */
  readonly state: StateText | undefined;
}

/** As few columns as possible, since drivers need long for each. {@link readRows} decodes them. */
export function pageColumns({ dialect }: SqlTransaction): Sql {
  return sql`${recordLines(dialect)} AS record, ${METADATA_COLUMN}, s.state`;
}

interface ListedRow {
  readonly record: string;
  readonly metadata: string;
  readonly state: string | null;
}

/** Reads rows with the {@link pageColumns}. */
export async function readRows(transaction: SqlTransaction, statement: Sql): Promise<FoundRow[]> {
  const rows = (await transaction.rows<ListedRow>(statement)).map(foundRow);
  const damaged = rows.filter(({ isDamaged }) => isDamaged).map(({ pk }) => pk);
  return damaged.length === 0 ? rows : withTimes(transaction, rows, damaged);
}

function foundRow({ record: text, metadata, state }: ListedRow): FoundRow {
  const lines = new Lines(text);
  const key = keyIn(lines);
  const record = decodedRecord(key, lines);
  const isDamaged = !isReadable(record);
  return {
    pk: Number(record.incarnation),
    record: isDamaged ? unreadableRecord(key, record.incarnation) : record,
    isDamaged,
    metadata,
    state: state ?? undefined,
  };
}

/** A session of which the record is damaged is listed with what its columns say. */
async function withTimes(
  transaction: SqlTransaction,
  rows: readonly FoundRow[],
  damaged: readonly number[],
): Promise<FoundRow[]> {
  const found = await transaction.rows<{ pk: number; create_time: number; last_update_time: number }>(
    sql`SELECT s.pk, s.create_time, s.last_update_time FROM ${transaction.tables.sessions} s WHERE s.pk IN (${keyList(damaged)})`,
  );
  const times = new Map(found.map((row) => [row.pk, row]));
  return rows.map((row) => {
    const known = row.isDamaged ? times.get(row.pk) : undefined;
    if (!known) return row;
    const { create_time: createTime, last_update_time: lastUpdateTime } = known;
    return { ...row, record: { ...row.record, createTime, lastUpdateTime } };
  });
}

/** In the text, since drivers and databases need long for thousands of values. */
export function keyList(pks: readonly number[]): Sql {
  return new Sql(pks.map(Number).join(','));
}

/** Sessions whose state is read without knowing its size. */
const FEW = 32;

/** The first rows, of which metadata and state have as many bytes as the page may have. */
export async function fittingRows(
  transaction: SqlTransaction,
  rows: readonly FoundRow[],
  request: ListRequest,
): Promise<readonly FoundRow[]> {
  const { maxBytes = Infinity, limit, withState = true } = request;
  if (maxBytes === Infinity) return rows;
  const sizeOfRows = withState && limit > FEW ? await sizesOfRows(transaction, rows, request) : () => 0;
  let bytes = 0;
  const count = rows.findIndex((row, index) => {
    bytes += row.metadata.length + sizeOfRows(row) + (withState ? (row.state?.length ?? 0) : 0);
    return index > 0 && bytes > maxBytes;
  });
  return count < 0 ? rows : rows.slice(0, count);
}

/** How large the states are that have rows: of sessions and, in the list of an app, of their users. */
async function sizesOfRows(
  transaction: SqlTransaction,
  rows: readonly FoundRow[],
  { appName, userId }: ListRequest,
): Promise<(row: FoundRow) => number> {
  const { sessionState, sharedScopes, sharedState } = transaction.tables;
  const { bytesOf } = transaction.dialect;
  const bytes = sql`SUM(${bytesOf(new Sql('v.name'))} + ${bytesOf(new Sql('v.value'))}) AS bytes`;
  const keyed = rows.filter(({ state }) => state === undefined).map(({ pk }) => pk);
  const users = userId === undefined ? [...new Set(rows.map(({ record }) => record.userId))] : [];
  const sums = [
    ...(keyed.length > 0
      ? [
          sql`
            SELECT v.session_pk AS pk, NULL AS user_id, ${bytes} FROM ${sessionState} v
            WHERE v.session_pk IN (${keyList(keyed)}) GROUP BY v.session_pk`,
        ]
      : []),
    ...(users.length > 0
      ? [
          sql`
            SELECT NULL AS pk, c.user_id, ${bytes} FROM ${sharedScopes} c JOIN ${sharedState} v ON v.scope_pk = c.pk
            WHERE c.app_name = ${appName} AND c.user_id IN (${sqlList(users)}) GROUP BY c.user_id`,
        ]
      : []),
  ];
  const sizes = new Map<number | string, number>();
  for (const sum of sums) {
    const found = await transaction.rows<{ pk: number | null; user_id: string | null; bytes: number | string }>(sum);
    for (const { pk, user_id: ofUser, bytes: size } of found) sizes.set(ofUser ?? pk ?? '', Number(size));
  }
  return ({ pk, record }) => (sizes.get(pk) ?? 0) + (sizes.get(record.userId) ?? 0);
}
