import type { StoreProblem } from '../../store-audit.js';
import { ALL_TABLES, type TableKey } from '../schema/all-tables.js';
import type { Table } from '../schema/table.js';
import { Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';
import type { StepRequest, StepResult } from './step.js';

/** A table whose rows belong to a row of another one. */
export interface ChildTable {
  readonly table: TableKey;
  readonly parent: TableKey;
  readonly key: Sql;
  /** Whether a repair removes rows without a parent: nothing is lost that is not derived from other data. */
  readonly isDerived: boolean;
}

const DERIVED: ReadonlySet<TableKey> = new Set(['checkpoints', 'partials', 'sessionIndex']);

const TABLES = Object.entries<Table>(ALL_TABLES) as [TableKey, Table][];

export const CHILD_TABLES: readonly ChildTable[] = TABLES.flatMap(
  ([
    table,
    {
      parent: name,
      primaryKey: [key = ''],
    },
  ]) => {
    const [parent] = TABLES.find(([, other]) => other.name === name) ?? [];
    return parent ? [{ table, parent, key: new Sql(key), isDerived: DERIVED.has(table) }] : [];
  },
);

/** Finds rows without a parent. Foreign keys prevent them, unless they were off. */
export async function auditChildren(
  transactions: Transactions,
  child: ChildTable,
  { after, limit, repair }: StepRequest,
): Promise<StepResult> {
  const found = await transactions.read((transaction) => parentsOf(transaction, child, after, limit));
  const orphans = found.filter(({ parent }) => parent === null).map(({ pk }) => pk);
  const isRepaired = repair && child.isDerived && orphans.length > 0;
  if (isRepaired) await transactions.write((transaction) => removeOrphans(transaction, child, orphans));
  const problems = orphans.map((pk): StoreProblem => {
    return {
      code: 'ORPHAN',
      detail: `rows with the ${child.key.text} ${pk} in ${describeChildTable(child)}`,
      isRepaired,
    };
  });
  return { problems, examined: found.length, last: found.length < limit ? undefined : found.at(-1)?.pk };
}

const NAMES: Readonly<Partial<Record<TableKey, string>>> = {
  sessionState: 'the state of sessions',
  sessionIndex: 'the index of metadata',
  partials: 'the partial events',
  sharedState: 'the shared state',
};

function describeChildTable({ table }: ChildTable): string {
  return NAMES[table] ?? `the ${table}`;
}

interface Parent {
  readonly pk: number;
  readonly parent: number | null;
}

/** The next keys, each once. MariaDB and MySQL look at the index once for each, however many rows it has; the others go through them. */
function parentsOf(transaction: SqlTransaction, child: ChildTable, after: number, limit: number): Promise<Parent[]> {
  const { key, table, parent } = child;
  const { tables } = transaction;
  return transaction.rows<Parent>(sql`
    SELECT found.pk, p.pk AS parent FROM (
      SELECT DISTINCT c.${key} AS pk FROM ${tables[table]} c WHERE c.${key} > ${after} ORDER BY c.${key} LIMIT ${limit}
    ) found LEFT JOIN ${tables[parent]} p ON p.pk = found.pk ORDER BY found.pk`);
}

async function removeOrphans(transaction: SqlTransaction, child: ChildTable, keys: readonly number[]): Promise<void> {
  const { tables } = transaction;
  await transaction.change(sql`
    DELETE FROM ${tables[child.table]} WHERE ${child.key} IN (${sqlList(keys)})
      AND ${child.key} NOT IN (SELECT pk FROM ${tables[child.parent]} WHERE pk IN (${sqlList(keys)}))`);
}
