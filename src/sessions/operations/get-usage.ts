import { InvalidInputError, SessionNotFoundError } from '../domain/errors/errors.js';
import type { QuotaUse } from '../domain/errors/quota-error.js';
import { type PricedUsage, knownCost, priced } from '../domain/usage/usage-cost.js';
import {
  type UsageOwner,
  type UsagePeriod,
  type UsageQuery,
  checkedUsageQuery,
  periodName,
} from '../domain/usage/usage-periods.js';
import { type ModelUsage, type TokenUsage, NO_USAGE, addUsage, usageByModel } from '../domain/usage/usage.js';
import type { SessionEnvironment } from '../session-environment.js';

/** Whose usage to return: of a session, of a user or, without `userId`, of an app. */
export interface GetUsageRequest extends UsageOwner {
  /** `total`, `month` and `day` (now, in UTC), or one by name: `2026-11`, `2026-11-23`. Sessions have `total` only. Default: `total`. */
  readonly period?: UsagePeriod | undefined;
}

/** Tokens that were used, and what they cost. */
export interface UsageReport extends UsageOwner {
  /** `total`, or the name of a month or a day. */
  readonly period: string;
  /** One entry for each model, sorted by its name. */
  readonly models: readonly PricedUsage[];
  /** All models together. */
  readonly total: TokenUsage;
  /** In millionths of the currency of the price table. Missing if a model has no price. */
  readonly costMicros?: number;
  /** Models without price. */
  readonly unpricedModels: readonly string[];
  /** What is used of the quotas of the user or the app now. Only if there are any. */
  readonly quotas?: readonly QuotaUse[];
}

export async function getUsage(env: SessionEnvironment, request: GetUsageRequest): Promise<UsageReport> {
  const query = checkedUsageQuery(request);
  assertCounted(env);
  const { now, found } = await env.storage.readUsage([query]);
  const report = reportOf(env, query, found[0], now);
  const quotas = query.sessionId === undefined ? await env.quotas?.uses(query) : undefined;
  return quotas && quotas.length > 0 ? { ...report, quotas } : report;
}

export function assertCounted({ usage }: SessionEnvironment): void {
  if (!usage.enabled) throw new InvalidInputError('is not counted; set the option usage.enabled', 'usage');
}

function reportOf(
  { usage: { prices } }: SessionEnvironment,
  { period, ...owner }: UsageQuery,
  found: readonly ModelUsage[] | undefined,
  now: number,
): UsageReport {
  if (!found) throw new SessionNotFoundError(owner.sessionId ?? '');
  const models = usageByModel(found).map((usage) => priced(usage, prices));
  const unpricedModels = models.flatMap(({ model, costMicros }) => (costMicros === undefined ? [model] : []));
  return {
    ...owner,
    period: periodName(period, now),
    models,
    total: found.reduce<TokenUsage>(addUsage, NO_USAGE),
    ...(unpricedModels.length === 0 && { costMicros: knownCost(models) }),
    unpricedModels,
  };
}
