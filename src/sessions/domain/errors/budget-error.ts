import { SessionsError } from './errors.js';

/** What {@link BudgetExceededError} says. */
export interface ExceededBudget {
  readonly scope: 'session' | 'user' | 'app';
  readonly period: 'total' | 'month' | 'day';
  /** `micros`: millionths of the currency of the price table. */
  readonly unit: 'tokens' | 'micros';
  readonly used: number;
  readonly limit: number;
  /** Runs at work may need the rest. */
  readonly reserved?: boolean | undefined;
  /** When the period ends, by the store's clock; missing for `total`. */
  readonly resetsAt?: number | undefined;
}

/**
 * A budget is used up, so no turn begins. Nothing was written.
 *
 * @example if (error instanceof BudgetExceededError && error.budget.resetsAt) retryAt(error.budget.resetsAt);
 */
export class BudgetExceededError extends SessionsError {
  readonly code = 'BUDGET_EXCEEDED';
  readonly status = 429;

  constructor(readonly budget: ExceededBudget) {
    super(`${wordsFor(budget)} ${adviceFor(budget)}`);
  }
}

function wordsFor({ scope, period, unit, used, limit, reserved }: ExceededBudget): string {
  const amounts = unit === 'tokens' ? `${used} of ${limit} tokens` : `a cost of ${used / 1e6} of ${limit / 1e6}`;
  const ofPeriod = { total: '', month: ' for this month', day: ' for today' }[period];
  const isGone = reserved ? 'may be needed by the runs at work' : 'is used up';
  return `The budget of the ${scope}${ofPeriod} ${isGone}: ${amounts}.`;
}

function adviceFor({ resetsAt, reserved }: ExceededBudget): string {
  if (reserved) return 'Try again when one of them is over.';
  return resetsAt === undefined ? 'It has to be raised.' : `Try again at ${new Date(resetsAt).toISOString()}.`;
}
