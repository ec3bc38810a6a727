import { InvalidInputError } from '../errors/errors.js';
import { DAY_MS } from '../values/expiry.js';
import { type SessionKey, assertStateOwner, checkedSessionKey } from '../values/ids.js';
import type { ModelUsage } from './usage.js';

/** All that is kept; the current UTC day or month; or one of that name, such as `2026-11-23` or `2026-11`. */
export type UsagePeriod = 'total' | 'month' | 'day' | (string & {});

/** The usage of a session, of a user or, without `userId`, of an app. */
export interface UsageOwner {
  readonly appName: string;
  readonly userId?: string | undefined;
  /** Sessions have the period `total` only. */
  readonly sessionId?: string | undefined;
}

/** Whose usage, and of which period. */
export interface UsageQuery extends UsageOwner {
  readonly period: UsagePeriod;
}

/** The usage that a commit adds to its session, its user and its app. */
export interface UsageIncrement {
  /** One entry for each model, sorted by its name. */
  readonly models: readonly ModelUsage[];
  /** How long sums of users and apps are kept after their last change. */
  readonly keepMs: number;
}

/** The sums of a user or an app to which usage is added. */
export interface StoredPeriod {
  readonly name: string;
  readonly expiresAt: number;
}

/** Days are kept for two months, months as long as settings say. */
export const DAYS_KEPT = 62;

function startOfDay(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS;
}

/**
 * The sums to which usage of this moment is added: its month and its day. All months together are the `total`. They expire by
 * whole days, so that few writes change an expiry.
 *
 * @example for (const { name, expiresAt } of storedPeriods(now, usage.keepMs)) add(name, expiresAt);
 */
export function storedPeriods(now: number, keepMs: number): readonly StoredPeriod[] {
  const today = startOfDay(now);
  if (latest?.today === today && latest.keepMs === keepMs) return latest.periods;
  const kept = today + DAY_MS + keepMs;
  const periods = [
    { name: periodName('month', now), expiresAt: kept },
    { name: periodName('day', now), expiresAt: Math.min(kept, today + DAY_MS * (1 + DAYS_KEPT)) },
  ];
  latest = { today, keepMs, periods };
  return periods;
}

/** Almost all calls are on the same day, and names of days take long to make. */
let latest: { readonly today: number; readonly keepMs: number; readonly periods: readonly StoredPeriod[] } | undefined;

/**
 * The sum of a period that another store had, with its expiry here. A month is kept as if its last change was at its end.
 *
 * @example for (const { period, models } of sums) put(restoredPeriod(period, now, keepMs), models);
 */
export function restoredPeriod(name: string, now: number, keepMs: number): StoredPeriod {
  const start = Date.parse(name.length === MONTH_LENGTH ? `${name}-01` : name);
  if (name.length !== MONTH_LENGTH)
    return { name, expiresAt: start + Math.min(DAY_MS + keepMs, DAY_MS * (1 + DAYS_KEPT)) };
  const nextMonth = Date.UTC(new Date(start).getUTCFullYear(), new Date(start).getUTCMonth() + 1);
  return { name, expiresAt: Math.min(nextMonth, startOfDay(now) + DAY_MS) + keepMs };
}

/**
 * The name of a period, in UTC: `day` is today.
 *
 * @example const sum = sums.get(periodName(query.period, now));
 */
export function periodName(period: UsagePeriod, now: number): string {
  if (period === 'day') return new Date(now).toISOString().slice(0, -14);
  if (period === 'month') return new Date(now).toISOString().slice(0, -17);
  return period;
}

/**
 * Whether the sum of a stored period is part of this period: `total` is all months.
 *
 * @example sums.filter(({ name }) => isPartOf(name, periodName(query.period, now)));
 */
export function isPartOf(stored: string, period: string): boolean {
  return period === 'total' ? stored.length === MONTH_LENGTH : stored === period;
}

const MONTH_LENGTH = '2026-11'.length;

/** When the current day or month ends, so that its sum is 0 again. Undefined for `total`. */
export function periodEnd(period: 'total' | 'month' | 'day', now: number): number | undefined {
  if (period === 'day') return startOfDay(now) + DAY_MS;
  if (period === 'total') return undefined;
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

const PERIOD = /^(total|month|day|\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)$/;

/** Checks whose usage of which period is asked for. */
export function checkedUsageQuery({
  appName,
  userId,
  sessionId,
  period,
}: UsageOwner & { period?: unknown }): UsageQuery {
  const asked = period ?? 'total';
  if (typeof asked !== 'string' || !PERIOD.test(asked)) {
    throw new InvalidInputError(
      'must be total, month, day, a month such as 2026-11, or a day such as 2026-11-23',
      'period',
    );
  }
  if (sessionId === undefined || sessionId === null) {
    const owner = { appName, ...(userId !== undefined && userId !== null && { userId }) };
    assertStateOwner(owner);
    return { ...owner, period: asked };
  }
  const key = checkedSessionKey({ appName, userId: userId as string, sessionId });
  if (asked !== 'total') throw new InvalidInputError('must be total for a session', 'period');
  return { ...key, period: asked };
}

/**
 * The session of a query, if it asks for one.
 *
 * @example const key = sessionOfUsage(query);
 */
export function sessionOfUsage({ appName, userId, sessionId }: UsageOwner): SessionKey | undefined {
  return userId === undefined || sessionId === undefined ? undefined : { appName, userId, sessionId };
}
