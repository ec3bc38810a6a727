import { isExpired } from '../../domain/expiry.js';
import type { SessionKey, UserKey } from '../../domain/ids.js';
import { sessionOfUsage } from '../../domain/usage-periods.js';
import type { RestoreUsageRequest, TransferStore } from '../transfer-store.js';
import type { SessionIndex, StoredEntry } from './session-index.js';
import type { SharedStates } from './shared-states.js';
import { ModelSums, type UsageSums } from './usage-sums.js';

/** The parts of the store, and the time of an operation. */
interface Parts {
  readonly sessions: SessionIndex;
  readonly shared: SharedStates;
  readonly usage: UsageSums;
  readonly now: () => number;
  /** Removes a session with all that belongs to it. */
  readonly remove: (entry: StoredEntry) => void;
}

/** Takes over sessions of other stores, and erases users. */
export class InMemoryTransfer implements TransferStore {
  constructor(private readonly parts: Parts) {}

  async *sharedOwners(appName: string): AsyncIterable<readonly string[]> {
    const { shared, usage, now } = this.parts;
    now();
    yield [...new Set([...shared.usersOf(appName), ...usage.usersOf(appName)])];
  }

  async restoreUsage({ owner, sums, keepMs }: RestoreUsageRequest): Promise<boolean> {
    const { usage, now } = this.parts;
    const key = sessionOfUsage(owner);
    if (!key) return usage.restore(owner, sums, keepMs, now());
    const entry = this.#live(key);
    if (!entry || entry.usage) return false;
    entry.usage = new ModelSums(sums.flatMap(({ models }) => models));
    return true;
  }

  async eraseUser({ appName, userId }: UserKey): Promise<number> {
    const { sessions, shared, usage, now, remove } = this.parts;
    now();
    const user: UserKey = { appName, userId };
    const erased = sessions.ofUser(user);
    for (const entry of erased) remove(entry);
    shared.remove(user);
    usage.remove(user);
    return erased.length;
  }

  #live(key: SessionKey): StoredEntry | undefined {
    const now = this.parts.now();
    const entry = this.parts.sessions.get(key);
    return entry && !isExpired(entry.record.expiresAt, now) ? entry : undefined;
  }
}
