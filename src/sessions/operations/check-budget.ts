import { ConfigurationError } from '../../config/configuration-error.js';
import { type UsageBudget, USAGE, isBudget } from '../../config/usage-settings.js';
import { BudgetExceededError, type ExceededBudget } from '../domain/errors/budget-error.js';
import { assertId } from '../domain/values/ids.js';
import { askApp } from '../domain/errors/nested-failures.js';
import { knownCost, toMicros, priced } from '../domain/usage/usage-cost.js';
import { type UsageQuery, periodEnd } from '../domain/usage/usage-periods.js';
import { type ModelUsage, type TokenUsage, NO_USAGE, addUsage } from '../domain/usage/usage.js';
import type { SessionEnvironment } from '../session-environment.js';
import { assertCounted } from './get-usage.js';

/** Who is about to begin a turn. */
export interface CheckBudgetRequest {
  readonly appName: string;
  readonly userId: string;
  /** Missing for a session that does not exist yet. */
  readonly sessionId?: string | undefined;
}

/** A budget that is not used up. */
export interface BudgetState extends ExceededBudget {
  readonly budget: UsageBudget;
  /** What an answer is expected to use. */
  readonly estimate: number;
}

/** Refuses with `BudgetExceededError` if a budget is used up. Reads once, and nothing without budgets. */
export async function checkBudget(env: SessionEnvironment, request: CheckBudgetRequest): Promise<void> {
  await budgetStates(env, request);
}

/** The same, and tells what is used of each budget. */
export async function budgetStates(env: SessionEnvironment, request: CheckBudgetRequest): Promise<BudgetState[]> {
  const { appName, userId, sessionId } = request;
  assertId(appName, 'appName');
  assertId(userId, 'userId');
  if (sessionId !== undefined) assertId(sessionId, 'sessionId');
  const budgets = await budgetsOf(env, { appName, userId });
  const asked = budgets.flatMap((budget) => {
    const query = createUsageQuery(budget, { appName, userId, sessionId });
    return query ? [{ budget, query }] : [];
  });
  if (asked.length === 0) return [];
  assertCounted(env);
  const { now, found } = await env.storage.readUsage(asked.map(({ query }) => query));
  const states = asked.flatMap(({ budget }, index) => createBudgetStates(env, budget, found[index] ?? [], now));
  for (const { budget: _budget, estimate: _estimate, ...state } of states) {
    if (state.used >= state.limit) throw new BudgetExceededError(state);
  }
  return states;
}

async function budgetsOf(
  { usage: { budgets } }: SessionEnvironment,
  owner: { appName: string; userId: string },
): Promise<readonly UsageBudget[]> {
  if (typeof budgets !== 'function') return budgets;
  const given: unknown = await askApp('usage.budgets', () => budgets(owner));
  if (Array.isArray(given) && given.every(isBudget)) return given;
  throw new ConfigurationError([`usage.budgets must return ${USAGE.budgets.kind.allowed}.`]);
}

function createUsageQuery(
  { scope, period = 'total' }: UsageBudget,
  { appName, userId, sessionId }: CheckBudgetRequest,
): UsageQuery | undefined {
  if (scope === 'app') return { appName, period };
  if (scope === 'user') return { appName, userId, period };
  return sessionId === undefined ? undefined : { appName, userId, sessionId, period: 'total' };
}

function createBudgetStates(
  { usage: { prices } }: SessionEnvironment,
  budget: UsageBudget,
  models: readonly ModelUsage[],
  now: number,
): BudgetState[] {
  const { scope, period = 'total', maxTokens, maxCost, estimate } = budget;
  const end = periodEnd(period, now);
  const place = { budget, scope, period, ...(end !== undefined && { resetsAt: end }) };
  const { totalTokens, events } = models.reduce<TokenUsage>(addUsage, NO_USAGE);
  const average = (used: number): number | undefined => (events > 0 && used > 0 ? used / events : undefined);
  const states: BudgetState[] = [];
  if (maxTokens !== undefined) {
    const expected = estimate?.tokens ?? average(totalTokens) ?? FIRST_TOKENS;
    states.push({ ...place, unit: 'tokens', used: totalTokens, limit: maxTokens, estimate: expected });
  }
  if (maxCost !== undefined) {
    const used = knownCost(models.map((usage) => priced(usage, prices)));
    const given = estimate?.cost === undefined ? undefined : Number(toMicros(estimate.cost));
    const dearest = Math.max(0, ...Object.values(prices).map(({ output }) => Number(toMicros(output))));
    const first = (dearest * FIRST_TOKENS) / 1_000_000;
    // What costs nothing needs no reservation.
    const expected = Math.max(1, given ?? average(used) ?? first);
    states.push({ ...place, unit: 'micros', used, limit: Number(toMicros(maxCost)), estimate: expected });
  }
  return states;
}

/** What an answer is expected to use before there was one. */
const FIRST_TOKENS = 1_000;
