import type { StoreProblem } from '../../store-audit.js';
import { Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';
import type { Tables } from '../tables.js';
import type { StepRequest, StepResult } from './step.js';

/** A table whose rows belong to a row of another one. */
export interface ChildTable {
  readonly table: keyof Tables;
  readonly parent: 'sessions' | 'sharedScopes' | 'componentSessions';
  readonly key: Sql;
  /** Whether a repair removes rows without a parent: nothing is lost that is not derived from other data. */
  readonly isDerived: boolean;
}

const ofSession = (table: keyof Tables, isDerived = false): ChildTable => ({
  table,
  parent: 'sessions',
  key: new Sql('session_pk'),
  isDerived,
});

export const CHILD_TABLES: readonly ChildTable[] = [
  ofSession('events'),
  ofSession('sessionState'),
  ofSession('sessionUsage'),
  ofSession('checkpoints', true),
  ofSession('partials', true),
  ofSession('sessionIndex', true),
  ofSession('consumerWork', true),
  { table: 'components', parent: 'componentSessions', key: new Sql('session_pk'), isDerived: false },
  { table: 'componentItems', parent: 'componentSessions', key: new Sql('session_pk'), isDerived: false },
  { table: 'sharedState', parent: 'sharedScopes', key: new Sql('scope_pk'), isDerived: false },
];

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
    return { code: 'ORPHAN', detail: `rows with the ${child.key.text} ${pk} in ${nameOf(child)}`, isRepaired };
  });
  return { problems, examined: found.length, last: found.length < limit ? undefined : found.at(-1)?.pk };
}

const NAMES: Readonly<Partial<Record<keyof Tables, string>>> = {
  sessionState: 'the state of sessions',
  sessionUsage: 'the tokens of sessions',
  sessionIndex: 'the index of metadata',
  consumerWork: 'the work of consumers',
  partials: 'the partial events',
  sharedState: 'the shared state',
  componentItems: 'the lists of components',
};

function nameOf({ table }: ChildTable): string {
  return NAMES[table] ?? `the ${table}`;
}

interface Parent {
  readonly pk: number;
  readonly parent: number | null;
}

/** The next keys, each once: one look at the index for each, however many rows it has. */
function parentsOf(transaction: SqlTransaction, child: ChildTable, after: number, limit: number): Promise<Parent[]> {
  const { key } = child;
  const { tables } = transaction;
  const table = tables[child.table];
  return transaction.rows<Parent>(sql`
    WITH RECURSIVE found (pk, place) AS (
      SELECT MIN(${key}), 1 FROM ${table} WHERE ${key} > ${after}
      UNION ALL
      SELECT (SELECT MIN(c.${key}) FROM ${table} c WHERE c.${key} > found.pk), place + 1
      FROM found WHERE found.pk IS NOT NULL AND place < ${limit}
    )
    SELECT found.pk, p.pk AS parent FROM found LEFT JOIN ${tables[child.parent]} p ON p.pk = found.pk
    WHERE found.pk IS NOT NULL ORDER BY found.pk`);
}

async function removeOrphans(transaction: SqlTransaction, child: ChildTable, keys: readonly number[]): Promise<void> {
  const { tables } = transaction;
  await transaction.change(sql`
    DELETE FROM ${tables[child.table]} WHERE ${child.key} IN (${sqlList(keys)})
      AND ${child.key} NOT IN (SELECT pk FROM ${tables[child.parent]} WHERE pk IN (${sqlList(keys)}))`);
}
