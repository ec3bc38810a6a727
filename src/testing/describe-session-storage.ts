import type { Clock } from '../sessions/domain/process/clock.js';
import { type Skip, describeContract } from './contract-runner.js';
import { ManualClock } from './manual-clock.js';
import type { OpenStorage } from './open-storage.js';
import { agendaInput } from './storage-contract/agenda-input.js';
import { agenda } from './storage-contract/agenda.js';
import { append } from './storage-contract/append.js';
import { batches } from './storage-contract/batches.js';
import { checkpoints } from './storage-contract/checkpoints.js';
import { consumerWork } from './storage-contract/consumer-work.js';
import { create } from './storage-contract/create.js';
import { createWithLog } from './storage-contract/create-with-log.js';
import { deletion } from './storage-contract/delete.js';
import { dispatching } from './storage-contract/dispatching.js';
import { entries, racingEntries } from './storage-contract/entries.js';
import { entryExpiry, entryOrder } from './storage-contract/entry-order.js';
import { expiry } from './storage-contract/expiry.js';
import { filteredList } from './storage-contract/filtered-list.js';
import { leaseHolders } from './storage-contract/lease-holders.js';
import { leaseNames } from './storage-contract/lease-names.js';
import { leaseTokens } from './storage-contract/lease-tokens.js';
import { leases } from './storage-contract/leases.js';
import { list } from './storage-contract/list.js';
import { metadata } from './storage-contract/metadata.js';
import { ownState } from './storage-contract/own-state.js';
import { partials } from './storage-contract/partials.js';
import { preconditions } from './storage-contract/preconditions.js';
import { purge } from './storage-contract/purge.js';
import { readWindow } from './storage-contract/read-window.js';
import { scopes } from './storage-contract/scopes.js';
import { stateLimits } from './storage-contract/state-limits.js';
import type { StorageFixture } from './storage-contract/support.js';
import { tails } from './storage-contract/tails.js';
import { trim } from './storage-contract/trim.js';
import { turns } from './storage-contract/turns.js';
import { usageSums } from './storage-contract/usage.js';

/** Opens an empty store that takes its time from `clock`. */
export type CreateStorage = (options: { clock: Clock }) => Promise<OpenStorage>;

/** What to test, and how to open it. */
export interface StorageContractOptions {
  readonly name: string;
  readonly create: CreateStorage;
  readonly skip?: readonly Skip[] | undefined;
}

const TOPICS = [
  create,
  createWithLog,
  append,
  batches,
  preconditions,
  turns,
  metadata,
  readWindow,
  list,
  filteredList,
  scopes,
  stateLimits,
  expiry,
  deletion,
  trim,
  checkpoints,
  ownState,
  partials,
  tails,
  purge,
  entries,
  racingEntries,
  entryOrder,
  entryExpiry,
  leases,
  leaseHolders,
  leaseTokens,
  leaseNames,
  agenda,
  agendaInput,
  dispatching,
  consumerWork,
  usageSums,
];

/**
 * Proves that a storage keeps the contract of `SessionStorage`. Call it in a spec of any runner with Jest's
 * globals.
 *
 * @example
 * describeSessionStorage({
 *   name: 'my store',
 *   create: async ({ clock }) => {
 *     const storage = await MyStorage.open({ clock });
 *     return { storage, raw: () => myRawData(), destroy: () => storage.close() };
 *   },
 * });
 */
export function describeSessionStorage({ name, create: createStorage, skip }: StorageContractOptions): void {
  describeContract<StorageFixture>({
    name: `${name} keeps the contract of a session storage`,
    topics: TOPICS,
    skip,
    async open() {
      const clock = new ManualClock();
      const { storage, raw, destroy } = await createStorage({ clock });
      return { fixture: { storage, raw, clock }, close: destroy };
    },
  });
}
