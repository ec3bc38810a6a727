import { type Lifetime, type Lifetimes, expiresAt, isExpired, isRenewalDue } from '../../domain/expiry.js';
import { type SessionKey, type StateOwner, scopeOfOwner } from '../../domain/ids.js';
import { type StateWrites, changesNothing, writesOf } from '../../domain/stored-json.js';
import {
  type StateExcess,
  type StateLimits,
  type StateSize,
  sizeAfter,
  writeExcessError,
} from '../../domain/state-size.js';
import type { StateEntries, StoredState } from '../session-storage.js';
import type { StoredEntry } from './session-index.js';
import { applyWrites } from './shared-writes.js';
import { expectReadable, sizeFor } from './state-sizes.js';

/** Sizes before a write, where they were counted. */
export interface SharedSizes {
  readonly user?: StateSize;
  readonly app?: StateSize;
}

interface Bucket {
  readonly owner: StateOwner;
  readonly values: Map<string, string>;
  /** At most, as in `StateSize`. */
  stateBytes: number;
  expiresAt: number;
}

/** Shared state: one bucket for each user, and one for each app. */
export class ScopeStates {
  readonly #buckets = new Map<string, Bucket>();

  /** Writes keys of all scopes: the session's own into its state, the others into their buckets. */
  write(
    { appName, userId }: SessionKey,
    { state: ownState, sharedWrites }: Pick<StoredEntry, 'state' | 'sharedWrites'>,
    writes: StateWrites,
    lifetimes: Lifetimes | undefined,
    now: number,
    sizes: SharedSizes = {},
  ): void {
    let isShared = false;
    for (const { scope, name, value } of writes.upserts) {
      if (scope === 'session') ownState.set(name, value);
      else isShared = true;
    }
    for (const { scope, name } of writes.removals) {
      if (scope === 'session') ownState.delete(name);
      else isShared = true;
    }
    if (!lifetimes) return;
    if (isShared) {
      const [toUser, toApp] = [writesOf('user', writes), writesOf('app', writes)];
      this.writeTo({ appName, userId }, toUser, lifetimes.user, now, sizes.user);
      this.writeTo({ appName }, toApp, lifetimes.app, now, sizes.app);
      sharedWrites?.note(toUser, toApp);
      return;
    }
    // What lives forever is not renewed. Most appends need not look for the buckets then.
    if (lifetimes.user.renewBelowMs > 0) this.renewIfDue({ appName, userId }, lifetimes.user, now);
    if (lifetimes.app.renewBelowMs > 0) this.renewIfDue({ appName }, lifetimes.app, now);
  }

  /** Writes into one bucket; without anything to write, the bucket is only kept alive. */
  writeTo(owner: StateOwner, writes: StateWrites, lifetime: Lifetime, now: number, size?: StateSize): void {
    if (changesNothing(writes)) {
      this.renewIfDue(owner, lifetime, now);
      return;
    }
    const bucket = this.#live(owner, now) ?? { owner, values: new Map<string, string>(), stateBytes: 0, expiresAt: 0 };
    bucket.stateBytes = sizeAfter(size ?? { atMost: bucket.stateBytes }, writes, scopeOfOwner(owner)).atMost;
    applyWrites(bucket.values, writes);
    bucket.expiresAt = expiresAt(now, lifetime);
    if (bucket.values.size > 0) this.#buckets.set(bucketKey(owner), bucket);
    else this.#buckets.delete(bucketKey(owner));
  }

  /** The same, unless it would make the state larger than it may be. */
  writeWithin(
    owner: StateOwner,
    writes: StateWrites,
    lifetime: Lifetime,
    now: number,
    limits: StateLimits | undefined,
  ): void {
    const size = this.sizeFor(owner, writes, limits, now);
    if ('most' in size) throw writeExcessError(size);
    this.writeTo(owner, writes, lifetime, now, size);
  }

  renew(owner: StateOwner, lifetime: Lifetime, now: number): void {
    const bucket = this.#live(owner, now);
    if (bucket) bucket.expiresAt = expiresAt(now, lifetime);
  }

  renewIfDue(owner: StateOwner, lifetime: Lifetime, now: number): void {
    const bucket = this.#live(owner, now);
    if (bucket && isRenewalDue(bucket.expiresAt, now, lifetime)) this.renew(owner, lifetime, now);
  }

  /** The size of shared state before these writes, counted if they might pass the limit; or the excess if they do. */
  sizeFor(
    owner: StateOwner,
    writes: StateWrites,
    limits: StateLimits | undefined,
    now: number,
  ): StateSize | StateExcess {
    const bucket = this.#live(owner, now);
    return sizeFor(scopeOfOwner(owner), bucket?.stateBytes ?? 0, bucket?.values ?? [], writes, limits);
  }

  /** Refuses state that is too large to be read. */
  expectReadable(owner: StateOwner, limits: StateLimits | undefined, now: number, isWritten = false): void {
    const bucket = this.#live(owner, now);
    if (bucket) expectReadable(scopeOfOwner(owner), bucket.stateBytes, bucket.values, limits, owner, isWritten);
  }

  entriesOf(owner: StateOwner, now: number): StateEntries {
    return [...(this.#live(owner, now)?.values ?? [])];
  }

  stateOf({ record: { appName, userId }, state }: StoredEntry, now: number): StoredState {
    return {
      session: [...state],
      user: this.entriesOf({ appName, userId }, now),
      app: this.entriesOf({ appName }, now),
    };
  }

  /** Reads the states of sessions of one app. Sessions of a user share an array. */
  reader(now: number): StatesReader {
    return new StatesReader((owner) => this.entriesOf(owner, now));
  }

  expiryOfOwner(owner: StateOwner, now: number): number | undefined {
    return this.#live(owner, now)?.expiresAt;
  }

  expiryOf({ appName, userId }: SessionKey, now: number): { user?: number; app?: number } {
    const user = this.expiryOfOwner({ appName, userId }, now);
    const app = this.expiryOfOwner({ appName }, now);
    return { ...(user !== undefined && { user }), ...(app !== undefined && { app }) };
  }

  purge(limit: number, now: number): { userStates: number; appStates: number } {
    const expired = [...this.#buckets].filter(([, bucket]) => isExpired(bucket.expiresAt, now));
    const users = expired.filter(([, { owner }]) => owner.userId !== undefined).slice(0, limit);
    const apps = expired.filter(([, { owner }]) => owner.userId === undefined).slice(0, limit);
    for (const [key] of [...users, ...apps]) this.#buckets.delete(key);
    return { userStates: users.length, appStates: apps.length };
  }

  remove(owner: StateOwner): void {
    this.#buckets.delete(bucketKey(owner));
  }

  /** The users of an app who have state. */
  usersOf(appName: string): string[] {
    return [...this.#buckets.values()].flatMap(({ owner }) =>
      owner.appName === appName && owner.userId !== undefined ? [owner.userId] : [],
    );
  }

  all(): ReadonlyMap<string, string>[] {
    return [...this.#buckets.values()].map(({ values }) => values);
  }

  clear(): void {
    this.#buckets.clear();
  }

  #live(owner: StateOwner, now: number): Bucket | undefined {
    const bucket = this.#buckets.get(bucketKey(owner));
    return bucket && !isExpired(bucket.expiresAt, now) ? bucket : undefined;
  }
}

interface SharedEntries {
  readonly entries: StateEntries;
  readonly size: number;
}

class StatesReader {
  readonly #users = new Map<string, SharedEntries>();
  #app: SharedEntries | undefined;

  constructor(private readonly entriesOf: (owner: StateOwner) => StateEntries) {}

  of({ appName, userId }: SessionKey, own: ReadonlyMap<string, string>): { state: StoredState; size: number } {
    const app = (this.#app ??= withSize(this.entriesOf({ appName })));
    let user = this.#users.get(userId);
    if (!user) this.#users.set(userId, (user = withSize(this.entriesOf({ appName, userId }))));
    const session = withSize([...own]);
    const state = { session: session.entries, user: user.entries, app: app.entries };
    return { state, size: session.size + user.size + app.size };
  }
}

/** Characters, since they are counted faster than bytes. */
function withSize(entries: StateEntries): SharedEntries {
  let size = 0;
  for (const [name, value] of entries) size += name.length + value.length;
  return { entries, size };
}

/** No id holds a control character, so no two owners share a key. */
function bucketKey({ appName, userId }: StateOwner): string {
  return userId === undefined ? appName : `${appName}\u0000${userId}`;
}
