import type { StoredScope } from '../../../../state/scopes.js';
import { type StateLimits, type StateSize, readExcessError } from '../../../domain/stored/state-size.js';
import type { SessionKey } from '../../../domain/values/ids.js';
import type { Dialect } from '../sql/dialect.js';
import { Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** The rows of a state: their table, the column of their owner, and its key. */
export interface StateRows {
  readonly table: Sql;
  readonly owner: Sql;
  readonly pk: Sql;
}

/** The bytes of a row of state, with the alias `v`. */
function rowBytes({ bytesOf }: Dialect): Sql {
  return sql`${bytesOf(sql`v.name`)} + ${bytesOf(sql`v.value`)}`;
}

/** A subquery: the exact size of a state. */
export function sumOfState(dialect: Dialect, { table, owner, pk }: StateRows): Sql {
  return sql`(SELECT COALESCE(SUM(${rowBytes(dialect)}), 0) FROM ${table} v WHERE v.${owner} = ${pk})`;
}

/** Counts a state entry by entry. It is locked, so that its rows change no more. */
export async function countState(
  transaction: SqlTransaction,
  { table, owner, pk }: StateRows,
  lock: Sql,
): Promise<StateSize> {
  const rows = await transaction.rows<{ name: string; bytes: number | string }>(
    sql`SELECT v.name, ${rowBytes(transaction.dialect)} AS bytes FROM ${table} v WHERE v.${owner} = ${pk} ${lock}`,
  );
  const entries = new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
  let atMost = 0;
  for (const bytes of entries.values()) atMost += bytes;
  return { atMost, entries };
}

/** The limits of reads, as numbers in a statement. */
export interface ReadLimit {
  readonly most: Sql;
  /** The upper bound that is stored. */
  readonly stored: Sql;
  /** The exact size. */
  readonly sum: Sql;
}

/** Matches state that may be read. Only if the stored bound is too large, the state is counted. */
export function isReadable({ most, stored, sum }: ReadLimit): Sql {
  return sql`(${stored} <= ${most} OR ${sum} <= ${most})`;
}

/** Matches state that is too large. */
export function isTooLarge({ most, stored, sum }: ReadLimit): Sql {
  return sql`(${stored} > ${most} AND ${sum} > ${most})`;
}

/** The name of a row that has the size of a state, as text, instead of an entry. No key is empty. */
export const TOO_LARGE = '';

/** Refuses rows with the size of a state. */
export function expectReadable(
  rows: readonly { readonly scope: StoredScope; readonly name: string | null; readonly value: string | null }[],
  limits: StateLimits | undefined,
  owner: Partial<SessionKey> & Pick<SessionKey, 'appName'>,
  isWritten = false,
): void {
  if (!limits) return;
  for (const { scope, name, value } of rows) {
    if (name !== TOO_LARGE) continue;
    throw readExcessError({ scope, bytes: Number(value), most: limits[scope] }, owner, isWritten);
  }
}

/** The limit of a shared scope, by its user id: a number in the text, because an untyped value would be text to PostgreSQL. */
export function limitOfScope({ user, app }: StateLimits): Sql {
  return new Sql(`(CASE c.user_id WHEN '' THEN ${app} ELSE ${user} END)`);
}

/** A limit as a number in a statement. */
export function limitText(most: number): Sql {
  return new Sql(String(most));
}
