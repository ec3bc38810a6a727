import { DAY_MS } from '../sessions/domain/values/expiry.js';
import type { StateOwner } from '../sessions/domain/values/ids.js';
import { DAYS_KEPT, periodName } from '../sessions/domain/usage/usage-periods.js';
import type { ModelUsage } from '../sessions/domain/usage/usage.js';
import { UnsupportedByStoreError } from '../sessions/domain/errors/unsupported-error.js';
import type { SessionStorage, UsageReply } from '../sessions/storage/session-storage.js';
import type { PeriodUsage } from '../sessions/storage/transfer-store.js';

const MONTHS_PER_STEP = 12;
/** Sums that are older are not looked for. */
const MOST_MONTHS = 120;

/** The sums of all months and days of a user or an app. Months are read backwards until they make up the total. */
export async function exportUsage(storage: SessionStorage, owner: StateOwner): Promise<PeriodUsage[]> {
  const query = { ...owner, period: 'total' };
  const { now, found } = await storage.readUsage([query]).catch(noneIfUnsupported);
  const total = sumEventCounts(found[0] ?? []);
  const months: PeriodUsage[] = [];
  for (let ago = 0, left = total; left > 0 && ago < MOST_MONTHS; ago += MONTHS_PER_STEP) {
    const names = Array.from({ length: MONTHS_PER_STEP }, (_, index) => monthName(now, ago + index));
    for (const month of await readPeriods(storage, owner, names)) {
      months.push(month);
      left -= sumEventCounts(month.models);
    }
  }
  if (months.length === 0) return [];
  const days = Array.from({ length: DAYS_KEPT + 1 }, (_, ago) => periodName('day', now - ago * DAY_MS));
  const withUsage = days.filter((day) => months.some(({ period }) => day.startsWith(period)));
  return [...months, ...(await readPeriods(storage, owner, withUsage))];
}

/** A store without sums of users and apps has nothing to export. */
function noneIfUnsupported(error: unknown): UsageReply {
  if (!(error instanceof UnsupportedByStoreError)) throw error;
  return { now: 0, found: [] };
}

function monthName(now: number, ago: number): string {
  const date = new Date(now);
  return periodName('month', Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - ago));
}

async function readPeriods(
  storage: SessionStorage,
  owner: StateOwner,
  names: readonly string[],
): Promise<PeriodUsage[]> {
  if (names.length === 0) return [];
  const { found } = await storage.readUsage(names.map((period) => ({ ...owner, period })));
  return names
    .map((period, index) => ({ period, models: found[index] ?? [] }))
    .filter(({ models }) => models.length > 0);
}

function sumEventCounts(models: readonly ModelUsage[]): number {
  return models.reduce((sum, { events }) => sum + events, 0);
}
