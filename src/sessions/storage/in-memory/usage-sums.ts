import { isExpired } from '../../domain/values/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/values/ids.js';
import {
  type StoredPeriod,
  type UsageIncrement,
  type UsageQuery,
  isPartOf,
  periodName,
  restoredPeriod,
  storedPeriods,
} from '../../domain/usage/usage-periods.js';
import { type ModelUsage, usageByModel } from '../../domain/usage/usage.js';
import { ownerNameOf, sharedOwnersOf } from '../state-owners.js';
import type { PeriodUsage } from '../transfer-store.js';

type Sum = { -readonly [Field in keyof ModelUsage]: ModelUsage[Field] };

/** In place and field by field, since almost every answer of a model adds to five sums. */
function addTo(sum: Sum, usage: ModelUsage): void {
  sum.events += usage.events;
  sum.promptTokens += usage.promptTokens;
  sum.cachedTokens += usage.cachedTokens;
  sum.outputTokens += usage.outputTokens;
  sum.thinkingTokens += usage.thinkingTokens;
  sum.toolUseTokens += usage.toolUseTokens;
  sum.totalTokens += usage.totalTokens;
}

/** Sums by model. */
export class ModelSums {
  readonly #models = new Map<string, Sum>();

  constructor(models: readonly ModelUsage[] = []) {
    this.add(models);
  }

  add(models: readonly ModelUsage[]): void {
    for (const usage of models) {
      const sum = this.#models.get(usage.model);
      if (!sum) this.#models.set(usage.model, { ...usage });
      else addTo(sum, usage);
    }
  }

  list(): ModelUsage[] {
    return [...this.#models.values()].map((usage) => ({ ...usage }));
  }
}

interface PeriodSum extends StoredPeriod {
  readonly owner: StateOwner;
  readonly sums: ModelSums;
}

/** Usage of users and apps: for each of them, the sums of some periods by name. */
export class UsageSums {
  readonly #owners = new Map<string, Map<string, PeriodSum>>();

  add(key: SessionKey, { models, keepMs }: UsageIncrement, now: number): void {
    const periods = storedPeriods(now, keepMs);
    for (const owner of sharedOwnersOf(key)) {
      const stored = this.#periodsOf(owner);
      for (const period of periods) {
        const before = stored.get(period.name);
        if (before && !isExpired(before.expiresAt, now)) {
          before.sums.add(models);
          if (before.expiresAt !== period.expiresAt) stored.set(period.name, { ...before, ...period });
          continue;
        }
        removeExpired(stored, now);
        stored.set(period.name, { ...period, owner, sums: new ModelSums(models) });
      }
    }
  }

  read({ period, ...owner }: UsageQuery, now: number): readonly ModelUsage[] {
    const name = periodName(period, now);
    const stored = [...(this.#owners.get(ownerNameOf(owner))?.values() ?? [])];
    const parts = stored.filter((sum) => isPartOf(sum.name, name) && !isExpired(sum.expiresAt, now));
    return usageByModel(parts.flatMap(({ sums }) => sums.list()));
  }

  /** Returns `false` if the owner has sums. */
  restore(owner: StateOwner, sums: readonly PeriodUsage[], keepMs: number, now: number): boolean {
    const stored = this.#periodsOf(owner);
    removeExpired(stored, now);
    if (stored.size > 0) return false;
    for (const { period, models } of sums) {
      stored.set(period, { ...restoredPeriod(period, now, keepMs), owner, sums: new ModelSums(models) });
    }
    return true;
  }

  remove(owner: StateOwner): void {
    this.#owners.delete(ownerNameOf(owner));
  }

  /** The users of an app who have sums. */
  usersOf(appName: string): string[] {
    const owners = [...this.#owners.values()].map((stored) => [...stored.values()][0]?.owner);
    return owners.flatMap((owner) => (owner?.appName === appName ? (owner.userId ?? []) : []));
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

  #periodsOf(owner: StateOwner): Map<string, PeriodSum> {
    const name = ownerNameOf(owner);
    const stored = this.#owners.get(name) ?? new Map<string, PeriodSum>();
    this.#owners.set(name, stored);
    return stored;
  }
}

/** Returns the number of removed sums. */
function removeExpired(stored: Map<string, PeriodSum>, now: number): number {
  const before = stored.size;
  for (const [name, { expiresAt }] of stored) if (isExpired(expiresAt, now)) stored.delete(name);
  return before - stored.size;
}
