import { type UsageQuery, periodName } from '../../../domain/usage/usage-periods.js';
import { type ModelUsage, type TokenUsage, usageWith } from '../../../domain/usage/usage.js';
import type { UsageReply } from '../../session-storage.js';
import { Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { userIdOf } from './locked-scopes.js';
import { COUNT_COLUMNS, COUNT_NAMES } from './write-usage.js';

const SUMS = new Sql(COUNT_NAMES.map((name) => `SUM(${name}) AS ${name}`).join(', '));

type SumRow = { readonly [Name in keyof TokenUsage as (typeof COUNT_COLUMNS)[Name]]: number | string } & {
  readonly model: string;
};

/** Reads all sums with one message. */
export async function readUsage(transaction: SqlTransaction, queries: readonly UsageQuery[]): Promise<UsageReply> {
  const { now } = transaction;
  const results = await transaction.commitWith(queries.map((query) => selectUsage(transaction, query)));
  return { now, found: queries.map((_, index) => ((results[index] ?? []) as SumRow[]).map(toModelUsage)) };
}

function selectUsage({ tables, now }: SqlTransaction, query: UsageQuery): Sql {
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
function toModelUsage({ model, ...row }: SumRow): ModelUsage {
  return { model, ...usageWith((name) => Number(row[COUNT_COLUMNS[name]])) };
}
