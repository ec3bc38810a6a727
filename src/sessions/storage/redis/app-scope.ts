import type { Lifetime } from '../../domain/expiry.js';
import type { SessionKey, StateOwner, UserKey } from '../../domain/ids.js';
import type { StateWrites } from '../../domain/scope-writes.js';
import type { ListRequest, ListResult } from '../session-storage.js';
import type { ScriptArguments } from './script-arguments.js';
import type { FlatHash, SharedState } from './session-replies.js';

/** A list as its script answered it. */
export interface ListPage {
  readonly result: ListResult;
  /** What is pending of the sessions in it. */
  readonly left: readonly LeftWork[];
}

/** What a script answered about work that it left for another slot. */
export interface LeftWork {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** Fields of the session's pending hash. */
  readonly pending: FlatHash;
  /** The server's time when it was read. */
  readonly seenAt: string;
}

/**
 * How a session reaches what belongs to its whole app: on a single node in the session's own script, on a
 * cluster, where that lies in another slot, after it.
 */
export interface AppScope {
  /** The keys for the scripts of a session. */
  sessionKeys(key: SessionKey): string[];
  /** The arguments that stand for writes to the state of the app. */
  writeArguments(writes: StateWrites, lifetime: Lifetime | undefined): ScriptArguments;
  /** Does what a script left to be done. */
  finish(work: LeftWork): Promise<void>;
  /** The state of the app, as the script of a session answered it, if it could. */
  stateOf(appName: string, reply: FlatHash): Promise<SharedState>;
  /** Keeps the state of the app alive after an append. */
  renewIfDue(appName: string, lifetime: Lifetime, now: number): Promise<void>;
  /** Renews the state of the app with a session that is touched. */
  touch(appName: string, lifetime: Lifetime): Promise<void>;
  /** The keys for a write of shared state, besides the state itself. */
  registryKeys(appName: string): string[];
  /** Sees to it that a user is found who has shared state that expires. */
  register(owner: StateOwner, due: number): Promise<void>;
  /** The keys for a list of a user's sessions, besides those of the user. */
  listKeys(appName: string): string[];
  /** Adds to a list what its script could not know. */
  complete(appName: string, page: ListPage): Promise<ListResult>;
  listApp(request: ListRequest): Promise<ListResult>;
  /** The indexes of the app that the script for a user keeps as well. */
  indexKeys(appName: string): string[];
  /** Forgets a user of whom nothing is left. */
  forget(owner: UserKey): Promise<void>;
}
