import { DAY_MS } from '../../../domain/expiry.js';
import { periodName, restoredPeriod, sessionOfUsage } from '../../../domain/usage-periods.js';
import { type ModelUsage, USAGE_COUNTS, usageByModel, usageWith } from '../../../domain/usage.js';
import type { PeriodUsage, RestoreUsageRequest } from '../../transfer-store.js';
import type { AppScope } from '../app-scope/app-scope.js';
import type { RedisKeys } from '../redis-keys.js';
import { readUsage } from '../read/read-usage.js';
import { TIME } from '../script/base.lua.js';
import { keyArguments } from '../script/codec.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { SESSION } from '../script/session.lua.js';

/** Stores sums of usage, unless the owner has some. */
export async function restoreUsage(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  { owner, sums, keepMs }: RestoreUsageRequest,
): Promise<boolean> {
  const key = sessionOfUsage(owner);
  if (!key) return restoreShared(scripts, keys, { owner, sums, keepMs });
  const isDone = await scripts.write<NumberReply>(RESTORE_SESSION_USAGE, {
    keys: app.sessionKeys(key),
    args: [...keyArguments(key), textOf(sums.flatMap(({ models }) => models))],
  });
  return Number(isDone) === 1;
}

async function restoreShared(
  scripts: ScriptRunner,
  keys: RedisKeys,
  { owner, sums, keepMs }: RestoreUsageRequest,
): Promise<boolean> {
  const { now } = await readUsage(scripts, keys, false, [{ ...owner, period: 'total' }]);
  const stored = sums.map((sum) => ({ ...sum, expiresAt: restoredPeriod(sum.period, now, keepMs).expiresAt }));
  const expiry = Math.max(0, ...stored.map(({ expiresAt }) => expiresAt));
  const fields = fieldsOf(stored, now).flatMap(({ period, models }) => [period, textOf(models)]);
  const isDone = await scripts.write<NumberReply>(RESTORE_SHARED_USAGE, {
    keys: [keys.usageOf(owner)],
    args: [expiry, Math.floor(now / DAY_MS), ...fields],
  });
  return Number(isDone) === 1;
}

/** The sums of the current day are in `today`, and not in those of its month. */
function fieldsOf(sums: readonly PeriodUsage[], now: number): PeriodUsage[] {
  const [day, month] = [periodName('day', now), periodName('month', now)];
  const ofToday = sums.find(({ period }) => period === day)?.models ?? [];
  return [
    { period: 'today', models: ofToday },
    ...sums.flatMap(({ period, models }) => {
      if (period === day) return [];
      return [{ period, models: period === month ? without(models, ofToday) : models }];
    }),
  ];
}

function without(models: readonly ModelUsage[], less: readonly ModelUsage[]): ModelUsage[] {
  const negative = less.map(({ model, ...counts }) => ({ model, ...usageWith((name) => -counts[name]) }));
  return usageByModel([...models, ...negative]);
}

function textOf(models: readonly ModelUsage[]): string {
  return models.map((usage) => [...USAGE_COUNTS.map((name) => usage[name]), usage.model].join(' ')).join('\n');
}

/**
 * Stores the usage of a session that has none.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 the sums.
 * Returns whether it was done (1 or 0).
 */
export const RESTORE_SESSION_USAGE = defineScript(
  'restore-session-usage',
  TIME,
  SESSION,
  String.raw`
if not liveRecord() then return 0 end
return redis.call('HSETNX', RECORD, 'usage', ARGV[5])
`,
);

/**
 * Stores the usage of a user or an app that has none.
 *
 * KEYS 1 usage.
 * ARGV 1 time, 2 expiry, 3 number of the current day, then alternating period and sums.
 * Returns whether it was done (1 or 0).
 */
export const RESTORE_SHARED_USAGE = defineScript(
  'restore-shared-usage',
  TIME,
  String.raw`
local expiry = tonumber(string.match(redis.call('HGET', KEYS[1], '') or '', '^%d+'))
if expiry and expiry > now then return 0 end
if expiry then redis.call('UNLINK', KEYS[1]) end
local newExpiry = math.min(tonumber(ARGV[2]), NEVER)
redis.call('HSET', KEYS[1], '', text(newExpiry) .. ' ' .. ARGV[3])
for index = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1]) end
expireKeys({ KEYS[1] }, newExpiry)
return 1
`,
);
