import type { StateOwner } from '../domain/values/ids.js';
import type { PlannedWrite, WriteStore } from '../storage/planned-write.js';
import type { SessionStore } from '../storage/session-store.js';
import type { TransferStore } from '../storage/transfer-store.js';
import { instead } from './instead.js';

/** Hears for whom a write has ended. */
export type Wrote = (owner: StateOwner) => void;

type Noting = <Result>(owner: StateOwner, writing: Promise<Result>) => Promise<Result>;

/** A store that other processes share. */
export type SharedStore = SessionStore & { readonly writes: WriteStore };

/** The store, which tells of each write once it has ended, also if it failed: its outcome may be unknown. */
export function notedStore(store: SharedStore, wrote: Wrote): SharedStore {
  const noted: Noting = async (owner, writing) => {
    try {
      return await writing;
    } finally {
      wrote(owner);
    }
  };
  return instead(store, {
    writes: notedWrites(store.writes, wrote),
    transfer: store.transfer && notedTransfer(store.transfer, noted),
    create: (request) => noted(request.key, store.create(request)),
    delete: (request) => noted(request, store.delete(request)),
    writeState: (request) => noted(request.owner, store.writeState(request)),
  });
}

function notedWrites(writes: WriteStore, wrote: Wrote): WriteStore {
  const noteAll = (written: readonly Pick<PlannedWrite, 'key'>[]): void => {
    for (const { key } of written) wrote(key);
  };
  return instead(writes, {
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
  });
}

function notedTransfer(transfer: TransferStore, noted: Noting): TransferStore {
  return instead(transfer, {
    restoreUsage: (request) => noted(request.owner, transfer.restoreUsage(request)),
    eraseUser: (user) => noted(user, transfer.eraseUser(user)),
  });
}
