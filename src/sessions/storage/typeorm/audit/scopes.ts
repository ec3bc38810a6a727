import type { StoreProblem } from '../../store-audit.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction, Transactions } from '../sql/transaction.js';
import type { StepRequest, StepResult } from './step.js';

interface ScopeRow {
  readonly pk: number;
  readonly app_name: string;
  readonly user_id: string;
  readonly has_state: number;
}

/** Finds scopes without a key: state exists while it holds one. */
export async function auditScopes(
  transactions: Transactions,
  { after, limit, repair }: StepRequest,
): Promise<StepResult> {
  const scopes = await transactions.read((transaction) =>
    transaction.rows<ScopeRow>(sql`
      SELECT c.pk, c.app_name, c.user_id,
        CASE WHEN EXISTS (SELECT 1 FROM ${transaction.tables.sharedState} v WHERE v.scope_pk = c.pk) THEN 1 ELSE 0 END AS has_state
      FROM ${transaction.tables.sharedScopes} c WHERE c.pk > ${after} ORDER BY c.pk LIMIT ${limit}`),
  );
  const problems: StoreProblem[] = [];
  for (const { pk, app_name: appName, user_id: userId } of scopes.filter(({ has_state: has }) => has === 0)) {
    if (repair) await transactions.write((transaction) => removeEmpty(transaction, pk));
    const owner = { appName, ...(userId !== '' && { userId }) };
    problems.push({ code: 'SCOPE_EMPTY', ...owner, detail: 'a scope without a key', isRepaired: repair });
  }
  return { problems, examined: scopes.length, last: scopes.length < limit ? undefined : scopes.at(-1)?.pk };
}

/** Locks first, so that a key which is added at the same time is seen. */
async function removeEmpty(transaction: SqlTransaction, pk: number): Promise<void> {
  const { tables, dialect } = transaction;
  await transaction.lockedRows(sql`SELECT c.pk FROM ${tables.sharedScopes} c WHERE c.pk = ${pk} ${dialect.lock('c')}`);
  await transaction.change(sql`
    DELETE FROM ${tables.sharedScopes} WHERE pk = ${pk}
      AND NOT EXISTS (SELECT 1 FROM ${tables.sharedState} v WHERE v.scope_pk = ${pk})`);
}
