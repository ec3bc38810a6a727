import type { SessionKey } from '../../../domain/ids.js';
import {
  type UsageIncrement,
  type UsageQuery,
  periodName,
  sessionOfUsage,
  storedPeriods,
} from '../../../domain/usage-periods.js';
import { type ModelUsage, type TokenUsage, USAGE_COUNTS, addUsage, usageWith } from '../../../domain/usage.js';
import { inBatches } from '../../batches.js';
import type { UsageReply } from '../../session-storage.js';
import { hasKey } from '../sql/session-rows.js';
import { Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { userIdOf } from './write-state.js';

const COUNT_COLUMNS = {
  events: 'events',
  promptTokens: 'prompt_tokens',
  cachedTokens: 'cached_tokens',
  outputTokens: 'output_tokens',
  thinkingTokens: 'thinking_tokens',
  toolUseTokens: 'tool_use_tokens',
  totalTokens: 'total_tokens',
} as const satisfies Record<keyof TokenUsage, string>;

const COLUMN_NAMES = USAGE_COUNTS.map((name) => COUNT_COLUMNS[name]);
const COLUMNS = new Sql(COLUMN_NAMES.join(', '));
const SUMS = new Sql(COLUMN_NAMES.map((name) => `SUM(${name}) AS ${name}`).join(', '));

/**
 * The sums of an app are spread over as many rows, so that few transactions wait for each other. A transaction writes
 * one of them.
 */
const SHARDS = 16;

interface SharedRow {
  readonly appName: string;
  readonly userId: string;
  readonly period: string;
  readonly shard: number;
  readonly model: string;
  readonly expiresAt: number;
}

/** Collects the usage of a transaction and adds it with two statements, each in one order of rows. */
export class UsageWriter {
  readonly #ofSessions = new Map<string, { readonly pk: number; readonly model: string; counts: TokenUsage }>();
  readonly #shared = new Map<string, { readonly row: SharedRow; counts: TokenUsage }>();
  #shard: number | undefined;

  constructor(private readonly transaction: SqlTransaction) {}

  add(sessionPk: number, { appName, userId }: SessionKey, { models, keepMs }: UsageIncrement): void {
    const shard = (this.#shard ??= sessionPk % SHARDS);
    for (const { model, ...counts } of models) {
      const key = `${sessionPk}\n${model}`;
      const sum = this.#ofSessions.get(key);
      if (sum) sum.counts = addUsage(sum.counts, counts);
      else this.#ofSessions.set(key, { pk: sessionPk, model, counts });
      for (const { name: period, expiresAt } of storedPeriods(this.transaction.now, keepMs)) {
        this.#addShared({ appName, userId: '', period, shard, model, expiresAt }, counts);
        this.#addShared({ appName, userId, period, shard: 0, model, expiresAt }, counts);
      }
    }
  }

  /** They come last in a transaction, so that others wait as short as possible. */
  statements(): Sql[] {
    const { dialect, tables } = this.transaction;
    const { sessionUsage, sharedUsage } = tables;
    const ofSessions = inBatches(sorted(this.#ofSessions)).map((some) => {
      const rows = some.map(({ pk, model, counts }) => sql`(${pk}, ${model}, ${valuesOf(counts)})`);
      return sql`
        INSERT INTO ${sessionUsage} (session_pk, model, ${COLUMNS}) VALUES ${joinSql(rows, ', ')}
        ${dialect.onConflictAdd(sessionUsage, { key: sql`session_pk, model`, columns: COLUMN_NAMES })}`;
    });
    const shared = inBatches(sorted(this.#shared)).map((some) => {
      const rows = some.map(
        ({ row: { appName, userId, period, shard, model, expiresAt }, counts }) =>
          sql`(${appName}, ${userId}, ${period}, ${shard}, ${model}, ${valuesOf(counts)}, ${expiresAt})`,
      );
      const key = sql`app_name, user_id, period, shard, model`;
      return sql`
        INSERT INTO ${sharedUsage} (${key}, ${COLUMNS}, expires_at) VALUES ${joinSql(rows, ', ')}
        ${dialect.onConflictAdd(sharedUsage, { key, columns: COLUMN_NAMES, replaced: ['expires_at'] })}`;
    });
    return [...ofSessions, ...shared];
  }

  #addShared(row: SharedRow, counts: TokenUsage): void {
    const key = [row.appName, row.userId, row.period, row.model].join('\n');
    const sum = this.#shared.get(key);
    if (sum) sum.counts = addUsage(sum.counts, counts);
    else this.#shared.set(key, { row, counts });
  }
}

function sorted<Value>(rows: ReadonlyMap<string, Value>): Value[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

function valuesOf(counts: TokenUsage): Sql {
  return sqlList(USAGE_COUNTS.map((name) => counts[name]));
}

type UsageRow = { readonly [Name in keyof TokenUsage as (typeof COUNT_COLUMNS)[Name]]: number | string } & {
  /** Null for a session without usage. */
  readonly model: string | null;
};

/** Reads all sums with one message. */
export async function readUsage(transaction: SqlTransaction, queries: readonly UsageQuery[]): Promise<UsageReply> {
  const { now } = transaction;
  const results = await transaction.commitWith(queries.map((query) => selectUsage(transaction, query)));
  const found = queries.map((query, index) => {
    const rows = (results[index] ?? []) as UsageRow[];
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
function usageOf({ model, ...row }: UsageRow): ModelUsage[] {
  return model === null ? [] : [{ model, ...usageWith((name) => Number(row[COUNT_COLUMNS[name]])) }];
}
