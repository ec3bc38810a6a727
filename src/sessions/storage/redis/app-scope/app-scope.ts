import type { Lifetime } from '../../../domain/values/expiry.js';
import type { SessionKey, StateOwner, UserKey } from '../../../domain/values/ids.js';
import type { StateWrites } from '../../../domain/stored/stored-json.js';
import type { StateExcess, StateLimits } from '../../../domain/stored/state-size.js';
import type { PlannedScope } from '../../planned-write.js';
import type { ListResult, SharedScope } from '../../session-storage.js';
import type { RedisKeys } from '../redis-keys.js';
import { type FlatHash, type ScriptArguments, sharedStateOf, writeArguments } from '../script/codec.js';

/** Pending writes of a session, as a script returned them. */
export interface PendingReply {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** Fields of the session's pending hash. */
  readonly pending: FlatHash;
  /** The time of the server when the script read them. */
  readonly readAt: string;
}

/** A page of a list, before the state of the app is added on a cluster. */
export interface ListPage {
  readonly result: ListResult;
  /** Pending writes of the listed sessions. */
  readonly pending: readonly PendingReply[];
}

/**
 * How an operation on a session reaches the keys of its app. On a single node the script of the session reads and
 * writes them. On a cluster they are in another slot, so other scripts follow.
 */
export interface AppScope {
  readonly isCluster: boolean;
  /** KEYS of the scripts of a session. */
  sessionKeys(key: SessionKey): string[];
  /** The tag of the keys of changed sessions in the slot of a user; '-' on a single node. */
  slotTag(owner: UserKey): string;
  /** What a write leaves pending for the app: as text for the pending hash, '' = nothing. */
  pendingText(scope: PlannedScope | undefined, usage: string): string;
  /** KEYS of the registry for a write of shared state, if the script writes it. */
  registryKeys(appName: string): string[];
  /** KEYS of the app's indexes for the purge of a user, if the script writes them. */
  indexKeys(appName: string): string[];
  /** ARGV for writes to app state. */
  writeArguments(writes: StateWrites, lifetime: Lifetime | undefined): ScriptArguments;
  /** Applies the pending writes of a session. */
  applyPending(reply: PendingReply): Promise<void>;
  /** The state of the app: from the reply of the session's script, or read separately. */
  stateOf(appName: string, reply: FlatHash, limits?: StateLimits): Promise<SharedScope>;
  /**
   * Whether the writes make the state of the app too large, where the script of the session cannot see it: on a cluster. Others may
   * write at the same time, and then both may be stored.
   */
  excessOf(key: SessionKey, writes: StateWrites, limits: StateLimits | undefined): Promise<StateExcess | undefined>;
  /** The state of the app before a session is created, where the script of the session cannot see it. Throws if it is too large already. */
  stateBefore(appName: string, limits: StateLimits | undefined): Promise<SharedScope | undefined>;
  /** Adds the state of the app to a list, after applying pending writes. */
  completeList(appName: string, page: ListPage, limits?: StateLimits): Promise<ListResult>;
  /** Renews the state of the app after an append, when that is due. */
  renewIfDue(appName: string, lifetime: Lifetime, now: number): Promise<void>;
  /** Lets the dispatcher of consumers find a session that changed. Does not wait. */
  announceChange(key: SessionKey): void;
  /** Registers the owner of shared state that expires, so that the purge finds it. */
  register(owner: StateOwner, due: number): Promise<void>;
}

/** On a single node one script does everything. */
export class SingleNodeAppScope implements AppScope {
  readonly isCluster = false;

  constructor(private readonly keys: RedisKeys) {}

  sessionKeys(key: SessionKey): string[] {
    const { appName } = key;
    return [
      ...this.keys.ofSession(key),
      this.keys.changedOf(key, false),
      this.keys.stateOf({ appName }),
      ...this.indexKeys(appName),
      ...this.registryKeys(appName),
    ];
  }

  slotTag(): string {
    return '-';
  }

  pendingText(): string {
    return '';
  }

  registryKeys(appName: string): string[] {
    return [this.keys.usersOf(appName), this.keys.apps];
  }

  indexKeys(appName: string): string[] {
    return this.keys.indexesOf({ appName });
  }

  writeArguments(writes: StateWrites): ScriptArguments {
    return writeArguments(writes);
  }

  async stateOf(_appName: string, reply: FlatHash): Promise<SharedScope> {
    return sharedStateOf(reply);
  }

  async completeList(_appName: string, { result }: ListPage): Promise<ListResult> {
    return result;
  }

  /** The script of the session counts. */
  async excessOf(): Promise<undefined> {}

  /** The script reads it. */
  async stateBefore(): Promise<undefined> {}

  async applyPending(): Promise<void> {}

  async renewIfDue(): Promise<void> {}

  async register(): Promise<void> {}

  announceChange(): void {}
}
