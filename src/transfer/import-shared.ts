import { NEVER } from '../sessions/domain/values/expiry.js';
import { scopeOfOwner, stateOwnerOf } from '../sessions/domain/values/ids.js';
import { type StateSize, countedSize } from '../sessions/domain/stored/state-size.js';
import type { UsageOwner } from '../sessions/domain/usage/usage-periods.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { TransferStore } from '../sessions/storage/transfer-store.js';
import type { StateLine, UsageLine } from './transfer-records.js';

/** Imports the state and the usage of users and apps. */
export class SharedImport {
  constructor(
    private readonly storage: SessionStorage,
    /** Undefined if nothing is to be written. */
    private readonly transfer: TransferStore | undefined,
    private readonly usageKeepMs: number,
  ) {}

  /** Keys that the target has keep their values. Returns the size of all, if any was added. */
  async state(line: StateLine): Promise<StateSize | undefined> {
    const { entries, expiresAt = NEVER } = line;
    const owner = stateOwnerOf(line);
    const ttlMs = expiresAt < NEVER ? expiresAt - (await storeTime(this.storage, owner)) : NEVER;
    if (ttlMs <= 0) return undefined;
    const { atMost, entries: stored } = countedSize(await this.storage.readState(owner));
    const missing = entries.filter(([name]) => !stored.has(name));
    if (missing.length === 0) return undefined;
    const scope = scopeOfOwner(owner);
    const upserts = missing.map(([name, value]) => ({ scope, name, value }) as const);
    if (this.transfer)
      await this.storage.writeState({ owner, upserts, removals: [], lifetime: { ttlMs, renewBelowMs: 0 } });
    return { atMost: atMost + countedSize(missing).atMost };
  }

  /** Returns whether the target had none. */
  async usage(line: UsageLine): Promise<boolean> {
    const owner = stateOwnerOf(line);
    if (this.transfer) return this.transfer.restoreUsage({ owner, sums: line.sums, keepMs: this.usageKeepMs });
    const { found } = await this.storage.readUsage([{ ...owner, period: 'total' }]);
    return (found[0] ?? []).length === 0;
  }
}

/** The store's time. */
export async function storeTime(storage: SessionStorage, owner: UsageOwner): Promise<number> {
  return (await storage.readUsage([{ ...owner, period: 'total' }])).now;
}
