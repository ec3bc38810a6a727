import type { StateOwner } from '../domain/ids.js';
import type { Lifetime } from '../domain/expiry.js';
import type { StateLimits } from '../domain/state-size.js';
import type { UsageQuery } from '../domain/usage-periods.js';
import type { SessionMarks } from '../storage/coordination.js';
import type { EntryStore } from '../storage/entry-store.js';
import type { PlannedWrite, WriteStore } from '../storage/planned-write.js';
import type { ChangeFeed, LogTail, TailRequest } from '../storage/session-changes.js';
import type {
  ListRequest,
  ListResult,
  PurgeCounts,
  ReadRequest,
  SharedScope,
  StateEntries,
  UsageReply,
  WriteStateRequest,
} from '../storage/session-storage.js';
import type { DeletedSession, NewSessionRequest, SessionStore, StampedSession } from '../storage/session-store.js';
import type { TransferStore } from '../storage/transfer-store.js';

/** Hears for whom a write has ended. */
export type Wrote = (owner: StateOwner) => void;

type Noting = <Result>(owner: StateOwner, writing: Promise<Result>) => Promise<Result>;

/** A store that other processes share. */
export type SharedStore = SessionStore & { readonly writes: WriteStore };

/** A store that tells of each write once it has ended, also if it failed: its outcome may be unknown. */
export class NotedStore implements SessionStore {
  readonly entries: EntryStore;
  readonly marks: SessionMarks;
  readonly writes: WriteStore;
  readonly transfer: TransferStore | undefined;
  readonly #noted: Noting;

  constructor(
    private readonly store: SharedStore,
    wrote: Wrote,
  ) {
    this.#noted = async (owner, writing) => {
      try {
        return await writing;
      } finally {
        wrote(owner);
      }
    };
    this.entries = store.entries;
    this.marks = store.marks;
    this.writes = notedWrites(store.writes, wrote);
    this.transfer = store.transfer && notedTransfer(store.transfer, this.#noted);
  }

  get feed(): ChangeFeed | undefined {
    return this.store.feed;
  }

  get audit(): SessionStore['audit'] {
    return this.store.audit?.bind(this.store);
  }

  get groupedEvents(): SessionStore['groupedEvents'] {
    return this.store.groupedEvents?.bind(this.store);
  }

  create(request: NewSessionRequest): Promise<StampedSession | undefined> {
    return this.#noted(request.key, this.store.create(request));
  }

  read(request: ReadRequest): Promise<StampedSession | undefined> {
    return this.store.read(request);
  }

  tails(logs: readonly TailRequest[]): Promise<readonly (LogTail | undefined)[]> {
    return this.store.tails(logs);
  }

  list(request: ListRequest): Promise<ListResult> {
    return this.store.list(request);
  }

  delete(request: DeletedSession): Promise<boolean> {
    return this.#noted(request, this.store.delete(request));
  }

  readState(owner: StateOwner, renew?: Lifetime, maxStateBytes?: StateLimits): Promise<SharedScope> {
    return this.store.readState(owner, renew, maxStateBytes);
  }

  writeState(request: WriteStateRequest): Promise<StateEntries> {
    return this.#noted(request.owner, this.store.writeState(request));
  }

  readUsage(queries: readonly UsageQuery[]): Promise<UsageReply> {
    return this.store.readUsage(queries);
  }

  purgeExpired(limit: number): Promise<PurgeCounts> {
    return this.store.purgeExpired(limit);
  }

  close(): Promise<void> {
    return this.store.close();
  }
}

function notedWrites(writes: WriteStore, wrote: Wrote): WriteStore {
  const noteAll = (written: readonly Pick<PlannedWrite, 'key'>[]): void => {
    for (const { key } of written) wrote(key);
  };
  return {
    limits: writes.limits,
    async write(plan, calledAt) {
      let planned: readonly PlannedWrite[] = [];
      try {
        return await writes.write((moment) => (planned = plan(moment)), calledAt);
      } finally {
        noteAll(planned);
      }
    },
    async hold(requests, decide, options) {
      try {
        await writes.hold(requests, decide, options);
      } finally {
        noteAll(requests);
      }
    },
  };
}

function notedTransfer(transfer: TransferStore, noted: Noting): TransferStore {
  return {
    keepsShared: transfer.keepsShared,
    keepsKeyOrder: transfer.keepsKeyOrder,
    sharedOwners: (appName) => transfer.sharedOwners(appName),
    restoreUsage: (request) => noted(request.owner, transfer.restoreUsage(request)),
    eraseUser: (user) => noted(user, transfer.eraseUser(user)),
  };
}
