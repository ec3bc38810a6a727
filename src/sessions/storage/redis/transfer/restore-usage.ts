import { periodName, restoredPeriod } from '../../../domain/usage/usage-periods.js';
import { type ModelUsage, usageByModel, usageWith } from '../../../domain/usage/usage.js';
import type { PeriodUsage, RestoreUsageRequest } from '../../transfer-store.js';
import type { RedisKeys } from '../redis-keys.js';
import { readUsage } from '../read/read-usage.js';
import { TIME } from '../script/base.lua.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { headOfUsage, usageFields } from '../script/usage.lua.js';

/** Stores sums of usage, unless the owner has some. */
export async function restoreUsage(
  scripts: ScriptRunner,
  keys: RedisKeys,
  { owner, sums, keepMs }: RestoreUsageRequest,
): Promise<boolean> {
  const { now } = await readUsage(scripts, keys, false, [{ ...owner, period: 'total' }]);
  const stored = sums.map((sum) => ({ ...sum, expiresAt: restoredPeriod(sum.period, now, keepMs).expiresAt }));
  const expiry = Math.max(0, ...stored.map(({ expiresAt }) => expiresAt));
  const fields = withoutToday(stored, now).flatMap(({ period, models }) =>
    usageFields(models).flatMap(([field, count]) => [`${period} ${field}`, count]),
  );
  const isDone = await scripts.write<NumberReply>(RESTORE_USAGE, {
    keys: [keys.usageOf(owner)],
    args: [expiry, headOfUsage(expiry, now), ...fields],
  });
  return Number(isDone) === 1;
}

/** The counts of the current day are not in those of its month. */
function withoutToday(sums: readonly PeriodUsage[], now: number): PeriodUsage[] {
  const [day, month] = [periodName('day', now), periodName('month', now)];
  const ofToday = sums.find(({ period }) => period === day)?.models ?? [];
  return sums.map(({ period, models }) => ({
    period,
    models: period === month ? without(models, ofToday) : models,
  }));
}

function without(models: readonly ModelUsage[], less: readonly ModelUsage[]): ModelUsage[] {
  const negative = less.map(({ model, ...counts }) => ({ model, ...usageWith((name) => -counts[name]) }));
  return usageByModel([...models, ...negative]);
}

/**
 * Stores the usage of a user or an app that has none.
 *
 * KEYS 1 usage.
 * ARGV 1 time, 2 expiry, 3 what is under '', then alternating fields and counts.
 * Returns whether it was done (1 or 0).
 */
export const RESTORE_USAGE = defineScript(
  'restore-usage',
  TIME,
  String.raw`
local expiry = tonumber(string.match(redis.call('HGET', KEYS[1], '') or '', '^%d+'))
if expiry and expiry > now then return 0 end
if expiry then redis.call('UNLINK', KEYS[1]) end
redis.call('HSET', KEYS[1], '', ARGV[3])
for index = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1]) end
expireKeys({ KEYS[1] }, math.min(tonumber(ARGV[2]), NEVER))
return 1
`,
);
