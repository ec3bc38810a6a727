import { ConfigurationError } from '../../config/configuration-error.js';
import { ENCRYPTION, type EncryptionOptions, problemsOfEncryption } from '../../config/encryption-settings.js';
import { problemsOfGroup } from '../../config/option-checks.js';
import { checkedClock } from '../domain/process/checked-clock.js';
import { type Clock, systemClock } from '../domain/process/clock.js';
import type { AppendOutcome, Commit, Upsert } from '../domain/stored/commit.js';
import type { Lifetime } from '../domain/values/expiry.js';
import type { SessionKey, StateOwner } from '../domain/values/ids.js';
import type { PartialOutcome, PartialWrite } from '../domain/stored/partial-event.js';
import type { StateLimits } from '../domain/stored/state-size.js';
import type { ComponentStore } from '../storage/component-store.js';
import type { ConsumerStore } from '../storage/coordination.js';
import type { EntryStore } from '../storage/entry-store.js';
import type { RebuildRequest } from '../storage/rebuild.js';
import type { LogTail, TailRequest } from '../storage/session-changes.js';
import type {
  AppendWithin,
  CheckpointRequest,
  CreateRequest,
  ListRequest,
  ListResult,
  ReadRequest,
  SessionStorage,
  SharedScope,
  StateEntries,
  StorageReplica,
  StoredSession,
  TrimRequest,
  WriteStateRequest,
} from '../storage/session-storage.js';
import type { RestoreEventsRequest, TransferStore } from '../storage/transfer-store.js';
import { type CountedTexts, countTexts } from './count-texts.js';
import { OwnerKeys } from './owner-keys.js';
import { type ExaminedText, examinedTexts } from './examined-texts.js';
import { keyWrapperOf } from './local-keys.js';
import { openedEntries, openedList, openedOutcome, openedSession, openedTail } from './opened-reads.js';
import { PassedThrough } from './passed-through.js';
import { SealedComponents } from './sealed-components.js';
import { sealedEntries } from './sealed-entries.js';
import { sealedConsumers } from './sealed-consumers.js';
import { type MetadataMode, checkFilter } from './sealed-metadata.js';
import {
  PLACES,
  listTextOwners,
  sealedCommit,
  sealedCreation,
  sealedEvents,
  sealedRebuild,
  sealedState,
  sealedTrim,
  toUserOwner,
} from './sealed-writes.js';
import { type Sealing, OwnerCipher } from './owner-cipher.js';

/**
 * A store in which all texts with content are encrypted: they are sealed on their way into the store and opened on their way out, so that
 * the store, its logs and its backups have none of them. Ids, times, counts and the names of keys stay as they are.
 *
 * In Nest, set `encryption` of `SessionsModule`.
 *
 * @example
 * const storage = encryptedStorage(new RedisSessionStorage({ client }), { keys: process.env.SESSION_KEYS });
 * const sessions = new SessionService({ storage });
 */
export function encryptedStorage(
  storage: SessionStorage,
  options: EncryptionOptions,
  clock: Clock = systemClock,
): EncryptedStorage {
  const problems = [
    ...problemsOfGroup('encryption', ENCRYPTION, options),
    ...problemsOfEncryption({ encryption: options }, (path) => path),
    ...(storage.readsTexts ? ['encryption is not possible with this store, which has to read what it stores.'] : []),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
  return new EncryptedStorage(storage, options, checkedClock(clock));
}

/**
 * See {@link encryptedStorage}.
 *
 * @example const { rewrapped } = await storage.keys.rotate({ renews: false });
 */
export class EncryptedStorage extends PassedThrough implements SessionStorage {
  readonly consumers: ConsumerStore;
  readonly components: ComponentStore | undefined;
  readonly transfer: TransferStore | undefined;
  readonly replica: StorageReplica | undefined;
  /** The data keys, to rotate them. */
  readonly keys: OwnerKeys;
  readonly #cipher: OwnerCipher;
  readonly #entries: EntryStore;
  readonly hidesLabels: boolean;
  readonly #metadata: MetadataMode;

  /** @param ofPrimary the keys, if this is a copy that follows another store */
  constructor(storage: SessionStorage, options: EncryptionOptions, clock: Clock, ofPrimary?: OwnerKeys) {
    super(storage);
    const { allowPlain = false, metadata = 'plain', cacheSeconds } = options;
    const keys =
      ofPrimary ?? new OwnerKeys({ entries: storage.entries, wrapper: keyWrapperOf(options), clock, cacheSeconds });
    const { replica } = storage;
    this.replica = replica && {
      storage: new EncryptedStorage(replica.storage, options, clock, keys),
      isUsable: (owner) => replica.isUsable(owner),
      failed: (error) => replica.failed(error),
    };
    const cipher = new OwnerCipher(keys, allowPlain);
    this.keys = keys;
    this.#cipher = cipher;
    this.#metadata = metadata;
    this.hidesLabels = metadata === 'sealed';
    this.#entries = sealedEntries(storage.entries, cipher);
    this.consumers = sealedConsumers(storage.consumers, cipher);
    this.components = storage.components && new SealedComponents(storage.components, cipher, allowPlain);
    this.transfer = storage.transfer && this.#sealedTransfer(storage.transfer);
  }

  override get entries(): EntryStore {
    return this.#entries;
  }

  /** How many texts of sessions are encrypted, and how many are older than that. Reads all of them, page by page. */
  countTexts(): Promise<CountedTexts> {
    return countTexts(this.storage);
  }

  /** The store as it is, with its texts encrypted. */
  get stored(): SessionStorage {
    return this.storage;
  }

  /** What the texts of a session are that was read from {@link stored}. One that cannot be opened does not hide the others. */
  examineSession(session: StoredSession): Promise<readonly ExaminedText[]> {
    return examinedTexts(this.#cipher, (open) => openedSession(session, open));
  }

  /** The same for the state of a user or an app. */
  examineState(entries: StateEntries, owner: StateOwner): Promise<readonly ExaminedText[]> {
    return examinedTexts(this.#cipher, (open) => openedEntries(entries, owner, open));
  }

  async create(request: CreateRequest): Promise<StoredSession | undefined> {
    const { key, upserts } = request;
    const sealing = await this.#cipher.sealing(listTextOwners(key, upserts));
    const created = await this.storage.create(sealedCreation(request, sealing, this.#metadata));
    return created && this.#cipher.opened((open) => openedSession(created, open));
  }

  async append(commit: Commit): Promise<AppendOutcome> {
    const sealed = await this.#sealed(commit);
    return sealed ? this.#opened(await this.storage.append(sealed), commit) : { kind: 'missing' };
  }

  get appendWithin(): SessionStorage['appendWithin'] {
    const { storage } = this;
    if (!storage.appendWithin) return undefined;
    return async (commit: Commit, within: AppendWithin) => {
      const sealed = await this.#sealed(commit, true);
      const outcome = sealed && (await storage.appendWithin?.(sealed, within));
      return this.#opened(outcome ?? { kind: 'missing' }, commit);
    };
  }

  async savePartial(write: PartialWrite): Promise<PartialOutcome> {
    const { key, messageId, content } = write;
    const sealing = await this.#sealingOf(key);
    if (!sealing) return { kind: 'lost' };
    const sealed = sealing.seal(toUserOwner(key), PLACES.partial(messageId), content);
    const outcome = await this.storage.savePartial({ ...write, content: sealed });
    return outcome.kind === 'saved' ? { kind: 'saved', partial: { ...outcome.partial, content } } : outcome;
  }

  async read(request: ReadRequest): Promise<StoredSession | undefined> {
    const found = await this.storage.read(request);
    return found && this.#cipher.opened((open) => openedSession(found, open));
  }

  async tails(logs: readonly TailRequest[]): Promise<readonly (LogTail | undefined)[]> {
    const tails = await this.storage.tails(logs);
    return this.#cipher.opened((open) =>
      logs.map(({ key }, index) => {
        const tail = tails[index];
        return tail && openedTail(tail, key, open);
      }),
    );
  }

  async list(request: ListRequest): Promise<ListResult> {
    checkFilter(request.filter, this.#metadata);
    const list = await this.storage.list(request);
    return this.#cipher.opened((open) => openedList(list, request, open));
  }

  async trim(request: TrimRequest): Promise<void> {
    const sealing = await this.#sealingOf(request.key);
    if (sealing) await this.storage.trim(sealedTrim(request, sealing));
  }

  async saveCheckpoint(request: CheckpointRequest): Promise<void> {
    const { key, seq } = request;
    const sealing = await this.#sealingOf(key);
    if (!sealing) return;
    const text = sealing.sealEqually(toUserOwner(key), PLACES.checkpoint(seq), request.text);
    await this.storage.saveCheckpoint({ ...request, text });
  }

  async restoreEvents(request: RestoreEventsRequest): Promise<boolean> {
    const { key, events } = request;
    const sealing = await this.#sealingOf(key);
    return sealing ? this.storage.restoreEvents({ ...request, events: sealedEvents(events, key, sealing) }) : false;
  }

  async rebuild(request: RebuildRequest): Promise<boolean> {
    const sealing = await this.#sealingOf(request.key);
    return sealing ? this.storage.rebuild(sealedRebuild(request, sealing)) : false;
  }

  async readState(owner: StateOwner, renew?: Lifetime, maxStateBytes?: StateLimits): Promise<StateEntries> {
    return this.#openedEntries(await this.storage.readState(owner, renew, maxStateBytes), owner);
  }

  async readScope(owner: StateOwner): Promise<SharedScope> {
    const scope = await this.storage.readScope(owner);
    return { ...scope, entries: await this.#openedEntries(scope.entries, owner) };
  }

  async writeState(request: WriteStateRequest): Promise<StateEntries> {
    const { owner, upserts } = request;
    const sealing = await this.#cipher.sealing(upserts.length > 0 ? [owner] : []);
    return this.#openedEntries(await this.storage.writeState(sealedState(request, sealing)), owner);
  }

  /** Undefined: the session is missing. */
  async #sealed(commit: Commit, isInTransaction = false): Promise<Commit | undefined> {
    const sealing = await this.#sealingOf(commit.key, commit.upserts, isInTransaction);
    return sealing && sealedCommit(commit, sealing, this.#metadata);
  }

  /** Who has no key has no session, unless that is older than the encryption. So nobody gets a key by writes to sessions that are missing. */
  async #sealingOf(
    key: SessionKey,
    upserts: readonly Upsert[] = [],
    isInTransaction = false,
  ): Promise<Sealing | undefined> {
    const age = isInTransaction ? 'any' : 'fresh';
    const owners = listTextOwners(key, upserts);
    const known = this.#cipher.knownSealing(owners, age);
    if (known) return known;
    const hasKey = await this.keys.has(toUserOwner(key), age);
    if (!hasKey && !(await this.storage.read({ key }))) return undefined;
    return this.#cipher.sealing(owners, age);
  }

  async #opened(outcome: AppendOutcome, { key }: Commit): Promise<AppendOutcome> {
    if (outcome.kind !== 'seen') return outcome;
    return this.#cipher.opened((open) => openedOutcome(outcome, key, open));
  }

  #openedEntries(entries: StateEntries, owner: StateOwner): Promise<StateEntries> {
    return this.#cipher.opened((open) => openedEntries(entries, owner, open));
  }

  /** The keys of an erased user go last: a call that failed in between is repeated. */
  #sealedTransfer(transfer: TransferStore): TransferStore {
    return {
      keepsShared: transfer.keepsShared,
      keepsKeyOrder: transfer.keepsKeyOrder,
      sharedOwners: (appName) => transfer.sharedOwners(appName),
      restoreUsage: (request) => transfer.restoreUsage(request),
      eraseUser: async (user) => {
        const sessions = await transfer.eraseUser(user);
        await this.keys.destroy(toUserOwner(user));
        return sessions;
      },
    };
  }
}
