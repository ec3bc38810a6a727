import type { UserKey } from '../../domain/values/ids.js';
import type { RestoreUsageRequest, TransferStore } from '../transfer-store.js';
import type { SessionIndex, StoredEntry } from './session-index.js';
import type { SharedStates } from './shared-states.js';
import type { UsageSums } from './usage-sums.js';

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
    return usage.restore(owner, sums, keepMs, now());
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
}
