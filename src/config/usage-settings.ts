import { type SettingsWithDefaults, flag, isRecord, kindOf, wholeNumber } from './setting.js';

/** An amount of money: a number, or a text such as `'0.075'`. At most six decimals. */
export type Amount = string | number;

/** The price of a million tokens, in any currency. */
export interface ModelPrice {
  readonly input: Amount;
  /** Of input from a cache. Default: `input`. */
  readonly cachedInput?: Amount | undefined;
  readonly output: Amount;
  /** Default: `output`. */
  readonly thinking?: Amount | undefined;
}

/** How much may be used before turns are refused. */
export interface UsageBudget {
  /** Whose usage counts. */
  readonly scope: 'session' | 'user' | 'app';
  /** The UTC day or month, or all time. Sessions have `total` only. Default: `total`. */
  readonly period?: 'total' | 'month' | 'day' | undefined;
  /** Tokens of all models together. */
  readonly maxTokens?: number | undefined;
  /** By the price table; models without a price cost nothing. */
  readonly maxCost?: Amount | undefined;
  /**
   * What an answer is expected to use, which a run reserves while it works. Default: the average of the period; at its beginning
   * 1,000 tokens, or their cost as output of the dearest model.
   */
  readonly estimate?: { readonly tokens?: number | undefined; readonly cost?: Amount | undefined } | undefined;
}

/** Whose budgets are asked for. */
export interface BudgetOwner {
  readonly appName: string;
  readonly userId: string;
}

/** The budgets of everyone, or of each user. */
export type UsageBudgets =
  readonly UsageBudget[] | ((owner: BudgetOwner) => readonly UsageBudget[] | Promise<readonly UsageBudget[]>);

/** Whether tokens are counted, what they cost, and budgets. */
export interface UsageSettings {
  /** Whether tokens of events are counted. */
  readonly enabled: boolean;
  /** How many days the months of users and apps are kept after their last change. Days are kept for 62. */
  readonly keepDays: number;
  /** Prices by the name of the model. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
  /** What `AgentSessions.run`, its steps and `checkBudget` check. */
  readonly budgets: UsageBudgets;
}

const AMOUNT = /^\d{1,9}(\.\d{1,6})?$/;

function isAmount(value: unknown): boolean {
  if (typeof value === 'number') return value >= 0 && value < 1e9;
  return typeof value === 'string' && AMOUNT.test(value);
}

function isOptional(value: unknown, fits: (value: unknown) => boolean): boolean {
  return value === undefined || fits(value);
}

function isPrice(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { input, cachedInput, output, thinking, ...others } = value;
  const isWhole = isAmount(input) && isAmount(output) && Object.keys(others).length === 0;
  return isWhole && isOptional(cachedInput, isAmount) && isOptional(thinking, isAmount);
}

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isEstimate(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { tokens, cost, ...others } = value;
  return isOptional(tokens, isSize) && isOptional(cost, isAmount) && Object.keys(others).length === 0;
}

/** Whether this is a budget. A session has no days and months. */
export function isBudget(value: unknown): value is UsageBudget {
  if (!isRecord(value)) return false;
  const { scope, period = 'total', maxTokens, maxCost, estimate, ...others } = value;
  const periods = scope === 'session' ? ['total'] : ['total', 'month', 'day'];
  return (
    ['session', 'user', 'app'].includes(scope as string) &&
    periods.includes(period as string) &&
    (maxTokens !== undefined || maxCost !== undefined) &&
    isOptional(maxTokens, (most) => Number.isSafeInteger(most) && Number(most) >= 0) &&
    isOptional(maxCost, isAmount) &&
    isOptional(estimate, isEstimate) &&
    Object.keys(others).length === 0
  );
}

const BUDGET =
  "{ scope: 'session' | 'user' | 'app', period?: 'total' | 'month' | 'day', maxTokens?, maxCost?, estimate?: { tokens?, cost? } }";

export const USAGE: SettingsWithDefaults<UsageSettings> = {
  enabled: { kind: flag, default: true },
  keepDays: { kind: wholeNumber(31, 36_500), default: 400 },
  prices: {
    kind: kindOf(
      'prices of a million tokens by model: { input, output, cachedInput?, thinking? }, numbers or texts with at most six decimals',
      (value) => isRecord(value) && Object.values(value).every(isPrice),
    ),
    default: {},
  },
  budgets: {
    kind: kindOf(
      `a list of ${BUDGET}, where a session has \`total\` only, or a function that returns one`,
      (value) => typeof value === 'function' || (Array.isArray(value) && value.every(isBudget)),
    ),
    default: [],
  },
};
