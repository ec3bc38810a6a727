import { type UsageQuery, periodName, sessionOfUsage } from '../../../domain/usage-periods.js';
import { type ModelUsage, type TokenUsage, usageWith } from '../../../domain/usage.js';
import type { UsageReply } from '../../session-storage.js';
import { hasKey } from '../sql/session-rows.js';
import { Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { userIdOf } from './locked-scopes.js';
import { COUNT_COLUMNS, COUNT_NAMES } from './write-usage.js';

const COLUMNS = new Sql(COUNT_NAMES.join(', '));
const SUMS = new Sql(COUNT_NAMES.map((name) => `SUM(${name}) AS ${name}`).join(', '));

type SumRow = { readonly [Name in keyof TokenUsage as (typeof COUNT_COLUMNS)[Name]]: number | string } & {
  /** Null for a session without usage. */
  readonly model: string | null;
};

/** Reads all sums with one message. */
export async function readUsage(transaction: SqlTransaction, queries: readonly UsageQuery[]): Promise<UsageReply> {
  const { now } = transaction;
  const results = await transaction.commitWith(queries.map((query) => selectUsage(transaction, query)));
  const found = queries.map((query, index) => {
    const rows = (results[index] ?? []) as SumRow[];
    if (query.sessionId !== undefined && rows.length === 0) return undefined;
    return rows.flatMap(usageOf);
  });
  return { now, found };
}

function selectUsage({ tables, now }: SqlTransaction, query: UsageQuery): Sql {
  const key = sessionOfUsage(query);
  if (key) {
    return sql`
      SELECT u.model, ${COLUMNS} FROM (SELECT s.pk FROM ${tables.sessions} s WHERE ${hasKey(key)} AND s.expires_at > ${now}) s
      LEFT JOIN ${tables.sessionUsage} u ON u.session_pk = s.pk`;
  }
  return sql`
    SELECT model, ${SUMS} FROM ${tables.sharedUsage}
    WHERE app_name = ${query.appName} AND user_id = ${userIdOf(query)} AND ${isOfPeriod(periodName(query.period, now))}
      AND expires_at > ${now}
    GROUP BY model`;
}

/** The total is all months. */
function isOfPeriod(name: string): Sql {
  return name === 'total' ? sql`period LIKE '____-__'` : sql`period = ${name}`;
}

/** PostgreSQL and MySQL return sums as text. */
function usageOf({ model, ...row }: SumRow): ModelUsage[] {
  return model === null ? [] : [{ model, ...usageWith((name) => Number(row[COUNT_COLUMNS[name]])) }];
}
