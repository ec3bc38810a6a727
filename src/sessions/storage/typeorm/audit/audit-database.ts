import type { AuditPage, AuditRequest } from '../../store-audit.js';
import type { Transactions } from '../sql/transaction.js';
import { type ChildTable, CHILD_TABLES, auditChildren } from './children.js';
import { auditScopes } from './scopes.js';
import { auditSessions } from './sessions.js';
import type { StepRequest, StepResult } from './step.js';

type Step = (transactions: Transactions, request: StepRequest) => Promise<StepResult>;

const ofChildren =
  (table: ChildTable): Step =>
  (transactions, request) =>
    auditChildren(transactions, table, request);

const STEPS: readonly Step[] = [...CHILD_TABLES.map(ofChildren), auditSessions, auditScopes];

/** Examines the next rows: first those of each table that belong to a session or a scope, then sessions and scopes. */
export async function auditDatabase(
  transactions: Transactions,
  { cursor = '0 0', limit, repair }: AuditRequest,
): Promise<AuditPage> {
  const [step = 0, after = 0] = cursor.split(' ').map(Number);
  const work = STEPS[step];
  if (!work) return { problems: [], examined: 0 };
  const { problems, examined, last } = await work(transactions, { after, limit, repair });
  const next = last === undefined ? [step + 1, 0] : [step, last];
  return { problems, examined, ...((next[0] ?? 0) < STEPS.length && { nextCursor: next.join(' ') }) };
}
