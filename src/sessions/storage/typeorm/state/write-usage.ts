import type { SessionKey } from '../../../domain/ids.js';
import { type UsageIncrement, storedPeriods } from '../../../domain/usage-periods.js';
import { type TokenUsage, USAGE_COUNTS, addUsage } from '../../../domain/usage.js';
import { inBatches } from '../../../domain/batches.js';
import { columnList } from '../schema/column-list.js';
import { SESSION_USAGE, SHARED_USAGE } from '../schema/usage-tables.js';
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

/** The tables to whose rows usage is added. */
export type UsageTable = 'sessionUsage' | 'sharedUsage';

export const USAGE_COLUMNS = { sessionUsage: columnList(SESSION_USAGE), sharedUsage: columnList(SHARED_USAGE) };

/** The values of {@link USAGE_COLUMNS}. */
export type UsageRow = readonly (string | number)[];

/** Usage to add, each in the order of keys, which prevents deadlocks. */
export interface UsageRows {
  readonly ofSessions: readonly UsageRow[];
  readonly shared: readonly UsageRow[];
}

/**
 * The sums of an app are spread over as many rows, so that few transactions wait for each other. A transaction writes
 * one of them.
 */
const SHARDS = 16;

interface Sum {
  readonly before: UsageRow;
  readonly after: UsageRow;
  counts: TokenUsage;
}

/** Collects the usage of a transaction. */
export class UsageSums {
  readonly #ofSessions = new Map<string, Sum>();
  readonly #shared = new Map<string, Sum>();
  #shard: number | undefined;

  /** @param now decides on the day and the month */
  add(sessionPk: number, { appName, userId }: SessionKey, { models, keepMs }: UsageIncrement, now: number): void {
    const shard = (this.#shard ??= sessionPk % SHARDS);
    const periods = storedPeriods(now, keepMs);
    for (const usage of models) {
      const { model } = usage;
      addTo(this.#ofSessions, `${sessionPk}\n${model}`, [sessionPk, model], usage);
      for (const { name, expiresAt } of periods) {
        addTo(this.#shared, `${appName}\n\n${name}\n${model}`, [appName, '', name, shard, model], usage, [expiresAt]);
        addTo(this.#shared, `${appName}\n${userId}\n${name}\n${model}`, [appName, userId, name, 0, model], usage, [
          expiresAt,
        ]);
      }
    }
  }

  rows(): UsageRows {
    return { ofSessions: rowsOf(this.#ofSessions), shared: rowsOf(this.#shared) };
  }
}

function addTo(sums: Map<string, Sum>, key: string, before: UsageRow, counts: TokenUsage, after: UsageRow = []): void {
  const sum = sums.get(key);
  if (sum) sum.counts = addUsage(sum.counts, counts);
  else sums.set(key, { before, counts, after });
}

function rowsOf(sums: ReadonlyMap<string, Sum>): UsageRow[] {
  const keys = [...sums.keys()].sort();
  return keys.flatMap((key) => {
    const sum = sums.get(key);
    return sum ? [[...sum.before, ...USAGE_COUNTS.map((name) => sum.counts[name]), ...sum.after]] : [];
  });
}

/** They come last in a transaction, so that others wait as short as possible. */
export function writeUsage(dialect: Dialect, tables: Tables, { ofSessions, shared }: UsageRows): Sql[] {
  return [...addRows(dialect, tables, 'sessionUsage', ofSessions), ...addRows(dialect, tables, 'sharedUsage', shared)];
}

function addRows(dialect: Dialect, tables: Tables, table: UsageTable, rows: readonly UsageRow[]): Sql[] {
  return inBatches(rows).map((some) => {
    const values = joinSql(
      some.map((row) => sql`(${sqlList(row)})`),
      ', ',
    );
    return sql`
      INSERT INTO ${tables[table]} (${USAGE_COLUMNS[table].names}) VALUES ${values} ${addOnConflict(dialect, tables, table)}`;
  });
}

/** Ends an INSERT. */
export function addOnConflict(dialect: Dialect, tables: Tables, table: UsageTable): Sql {
  const replaced = table === 'sharedUsage' ? ['expires_at'] : [];
  return dialect.onConflictAdd(tables[table], { key: KEYS[table], columns: COUNT_NAMES, replaced });
}

const KEYS = {
  sessionUsage: new Sql(SESSION_USAGE.primaryKey.join(', ')),
  sharedUsage: new Sql(SHARED_USAGE.primaryKey.join(', ')),
};
