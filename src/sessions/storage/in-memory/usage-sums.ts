import { isExpired } from '../../domain/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import {
  type StoredPeriod,
  type UsageIncrement,
  type UsageQuery,
  isPartOf,
  periodName,
  restoredPeriod,
  storedPeriods,
} from '../../domain/usage-periods.js';
import { type ModelUsage, type TokenUsage, USAGE_COUNTS, usageByModel } from '../../domain/usage.js';
import type { PeriodUsage } from '../transfer-store.js';

/** Sums by model. They are changed in place, since almost every answer of a model changes several. */
export class ModelSums {
  readonly #models = new Map<string, { -readonly [Count in keyof TokenUsage]: TokenUsage[Count] }>();

  add(models: readonly ModelUsage[]): void {
    for (const usage of models) {
      const sum = this.#models.get(usage.model);
      if (!sum) this.#models.set(usage.model, countsOf(usage));
      else for (const name of USAGE_COUNTS) sum[name] += usage[name];
    }
  }

  list(): ModelUsage[] {
    return [...this.#models].map(([model, counts]) => ({ model, ...counts }));
  }
}

function countsOf({ model: _model, ...counts }: ModelUsage): TokenUsage {
  return counts;
}

interface PeriodSum extends StoredPeriod {
  readonly sums: ModelSums;
}

/** Usage of users and apps. */
export class UsageSums {
  readonly #owners = new Map<string, Map<string, PeriodSum>>();

  add({ appName, userId }: SessionKey, { models, keepMs }: UsageIncrement, now: number): void {
    const periods = storedPeriods(now, keepMs);
    for (const owner of [ownerKey({ appName }), ownerKey({ appName, userId })]) {
      let stored = this.#owners.get(owner);
      if (!stored) this.#owners.set(owner, (stored = new Map<string, PeriodSum>()));
      for (const period of periods) {
        const before = stored.get(period.name);
        if (before && !isExpired(before.expiresAt, now)) {
          before.sums.add(models);
          if (before.expiresAt !== period.expiresAt) stored.set(period.name, { ...period, sums: before.sums });
          continue;
        }
        removeExpired(stored, now);
        const sums = new ModelSums();
        sums.add(models);
        stored.set(period.name, { ...period, sums });
      }
    }
  }

  read({ period, ...owner }: UsageQuery, now: number): readonly ModelUsage[] {
    const name = periodName(period, now);
    const stored = [...(this.#owners.get(ownerKey(owner))?.values() ?? [])];
    const parts = stored.filter((sum) => isPartOf(sum.name, name) && !isExpired(sum.expiresAt, now));
    return usageByModel(parts.flatMap(({ sums }) => sums.list()));
  }

  /** Returns `false` if the owner has sums. */
  restore(owner: StateOwner, sums: readonly PeriodUsage[], keepMs: number, now: number): boolean {
    const stored = this.#owners.get(ownerKey(owner)) ?? new Map<string, PeriodSum>();
    removeExpired(stored, now);
    if (stored.size > 0) return false;
    for (const { period, models } of sums) {
      const restored = { ...restoredPeriod(period, now, keepMs), sums: new ModelSums() };
      restored.sums.add(models);
      stored.set(period, restored);
    }
    this.#owners.set(ownerKey(owner), stored);
    return true;
  }

  remove(owner: StateOwner): void {
    this.#owners.delete(ownerKey(owner));
  }

  /** The users of an app who have sums. */
  usersOf(appName: string): string[] {
    const prefix = ownerKey({ appName, userId: '' });
    return [...this.#owners.keys()].flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []));
  }

  purge(limit: number, now: number): void {
    let left = limit;
    for (const [owner, stored] of this.#owners) {
      if (left <= 0) return;
      left -= removeExpired(stored, now);
      if (stored.size === 0) this.#owners.delete(owner);
    }
  }

  all(): object[] {
    return [...this.#owners].map(([owner, stored]) => ({
      owner,
      periods: [...stored.values()].map(({ name, sums }) => ({ name, models: sums.list() })),
    }));
  }

  clear(): void {
    this.#owners.clear();
  }
}

/** Returns the number of removed sums. */
function removeExpired(stored: Map<string, PeriodSum>, now: number): number {
  const before = stored.size;
  for (const [name, { expiresAt }] of stored) if (isExpired(expiresAt, now)) stored.delete(name);
  return before - stored.size;
}

/** No id holds a control character, so no two owners share a key. */
function ownerKey({ appName, userId }: StateOwner): string {
  return userId === undefined ? appName : `${appName}\u0000${userId}`;
}
