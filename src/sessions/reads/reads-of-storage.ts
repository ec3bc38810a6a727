import { BoundedMap } from '../domain/process/bounded-map.js';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import { type SessionKey, type UserKey, sessionNameOf } from '../domain/values/ids.js';
import type { SessionStorage, StorageReplica, StoredSession } from '../storage/session-storage.js';
import type { TransferStore } from '../storage/transfer-store.js';
import { instead } from './instead.js';

/** Sessions that one read, such as an export, has looked at last. */
const MAX_SEEN = 1_000;

/**
 * The storage for one read that may be a little old: each call goes to the replica if that is usable, and to the primary otherwise, also
 * if the replica fails. A session comes from the replica only if that has it, with the event `minSeq`, and with all that this read has
 * seen of it: so a read that changes places goes on where it was. What is not named here goes to the primary.
 */
export function readsOfStorage(storage: SessionStorage, minSeq = 0): SessionStorage {
  const { replica } = storage;
  return replica ? overReplica(storage, replica, minSeq) : storage;
}

function overReplica(primary: SessionStorage, replica: StorageReplica, minSeq: number): SessionStorage {
  const seen = new BoundedMap<Pick<StoredSession['record'], 'incarnation' | 'lastSeq'>>(MAX_SEEN);
  const isNewEnough = ({ record }: StoredSession, key: SessionKey): boolean => {
    const before = seen.get(sessionNameOf(key));
    const isSame = before === undefined || before.incarnation === record.incarnation;
    return isSame && record.lastSeq >= Math.max(minSeq, before?.lastSeq ?? 0);
  };
  /** The primary says what is wrong with any other request. */
  const leave = (error: unknown): void => {
    if (error instanceof StoreUnavailableError) replica.failed(error);
  };
  /** From the replica, if it can. An error of it may be one of its age. */
  const first = async <Result>(
    owner: Partial<UserKey>,
    ask: (from: SessionStorage) => Promise<Result>,
    isEnough: (result: Result) => boolean = () => true,
  ): Promise<Result> => {
    if (!replica.isUsable(owner)) return ask(primary);
    try {
      const result = await ask(replica.storage);
      if (isEnough(result)) return result;
    } catch (error) {
      leave(error);
    }
    return ask(primary);
  };
  const { search, transfer } = primary;
  /** Users may come twice, so it may begin again at the primary. */
  const sharedOwners: TransferStore['sharedOwners'] = async function* (appName) {
    const { transfer: copied } = replica.storage;
    if (copied && replica.isUsable({})) {
      try {
        yield* copied.sharedOwners(appName);
        return;
      } catch (error) {
        leave(error);
      }
    }
    if (transfer) yield* transfer.sharedOwners(appName);
  };
  return instead(primary, {
    async read(request) {
      const { key } = request;
      const found = await first(
        key,
        (from) => from.read(request),
        (stored) => stored !== undefined && isNewEnough(stored, key),
      );
      if (found) seen.set(sessionNameOf(key), found.record);
      return found;
    },
    list: (request) => first(request, (from) => from.list(request)),
    readScope: (owner) => first(owner, (from) => from.readScope(owner)),
    readUsage: (queries) => first(queries[0] ?? {}, (from) => from.readUsage(queries)),
    consumers: instead(primary.consumers, { apps: () => first({}, (from) => from.consumers.apps()) }),
    transfer: transfer && instead(transfer, { sharedOwners }),
    search:
      search &&
      instead(search, {
        counts: (scope, terms) => first(scope, ({ search: index = search }) => index.counts(scope, terms)),
        search: (query) => first(query, ({ search: index = search }) => index.search(query)),
      }),
  });
}
