import type { SessionKey } from '../../../domain/values/ids.js';
import { type UsageIncrement, storedPeriods } from '../../../domain/usage/usage-periods.js';
import { type TokenUsage, USAGE_COUNTS, addUsage } from '../../../domain/usage/usage.js';
import { inBatches } from '../../../domain/stored/batches.js';
import { columnList } from '../schema/column-list.js';
import { SHARED_USAGE } from '../schema/usage-tables.js';
import type { Dialect } from '../sql/dialect.js';
import { Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { Tables } from '../tables.js';

/** The column of each count. */
export const COUNT_COLUMNS = {
  events: 'events',
  promptTokens: 'prompt_tokens',
  cachedTokens: 'cached_tokens',
  outputTokens: 'output_tokens',
  thinkingTokens: 'thinking_tokens',
  toolUseTokens: 'tool_use_tokens',
  totalTokens: 'total_tokens',
} as const satisfies Record<keyof TokenUsage, string>;

/** The columns of all counts, in the order of `USAGE_COUNTS`. */
export const COUNT_NAMES = USAGE_COUNTS.map((name) => COUNT_COLUMNS[name]);

export const USAGE_COLUMNS = columnList(SHARED_USAGE);

/** The values of {@link USAGE_COLUMNS}. */
export type UsageRow = readonly (string | number)[];

/**
 * The sums of an app are spread over as many rows, so that few transactions wait for each other. A transaction writes
 * one of them.
 */
const SHARDS = 16;

interface Sum {
  readonly key: UsageRow;
  readonly expiresAt: number;
  counts: TokenUsage;
}

/** Collects what a transaction adds to the usage of users and apps. */
export class UsageSums {
  readonly #sums = new Map<string, Sum>();
  #shard: number | undefined;

  /** @param now decides on the day and the month */
  add(sessionPk: number, { appName, userId }: SessionKey, { models, keepMs }: UsageIncrement, now: number): void {
    const shard = (this.#shard ??= sessionPk % SHARDS);
    const periods = storedPeriods(now, keepMs);
    for (const usage of models) {
      const { model } = usage;
      for (const { name, expiresAt } of periods) {
        this.#add([appName, '', name, shard, model], usage, expiresAt);
        this.#add([appName, userId, name, 0, model], usage, expiresAt);
      }
    }
  }

  /** In the order of keys, which prevents deadlocks. */
  rows(): UsageRow[] {
    const sums = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1));
    return sums.map(([, { key, counts, expiresAt }]) => [
      ...key,
      ...USAGE_COUNTS.map((name) => counts[name]),
      expiresAt,
    ]);
  }

  #add(key: UsageRow, counts: TokenUsage, expiresAt: number): void {
    const name = key.join('\n');
    const sum = this.#sums.get(name);
    if (sum) sum.counts = addUsage(sum.counts, counts);
    else this.#sums.set(name, { key, counts, expiresAt });
  }
}

/** They come last in a transaction, so that others wait as short as possible. */
export function writeUsage(dialect: Dialect, tables: Tables, rows: readonly UsageRow[]): Sql[] {
  return inBatches(rows).map((some) => {
    const values = joinSql(
      some.map((row) => sql`(${sqlList(row)})`),
      ', ',
    );
    return sql`
      INSERT INTO ${tables.sharedUsage} (${USAGE_COLUMNS.names}) VALUES ${values} ${addOnConflict(dialect, tables)}`;
  });
}

/** Ends an INSERT. */
export function addOnConflict(dialect: Dialect, { sharedUsage }: Pick<Tables, 'sharedUsage'>): Sql {
  return dialect.onConflictAdd(sharedUsage, { key: KEY, columns: COUNT_NAMES, replaced: ['expires_at'] });
}

const KEY = new Sql(SHARED_USAGE.primaryKey.join(', '));
