import { type Lifetime, type Lifetimes, expiresAt, isExpired, isRenewalDue } from '../../domain/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import { type StateWrites, changesNothing, writesOf } from '../../domain/stored-json.js';
import type { StoredScope } from '../../../state/scopes.js';
import type { StateEntries, StoredState } from '../session-storage.js';
import type { StoredEntry } from './session-index.js';

interface Bucket {
  readonly owner: StateOwner;
  readonly values: Map<string, string>;
  expiresAt: number;
}

interface ScopeWrites extends StateWrites {
  readonly lifetime: Lifetime;
  readonly now: number;
}

/** Shared state: one bucket for each user, and one for each app. */
export class ScopeStates {
  readonly #buckets = new Map<string, Bucket>();

  /** Writes keys of all scopes: the session's own into `ownState`, the others into their buckets. */
  write({
    key: { appName, userId },
    ownState,
    lifetimes,
    now,
    ...writes
  }: StateWrites & {
    key: SessionKey;
    ownState: Map<string, string>;
    lifetimes: Lifetimes | undefined;
    now: number;
  }): void {
    for (const { scope, name, value } of writes.upserts) if (scope === 'session') ownState.set(name, value);
    for (const { scope, name } of writes.removals) if (scope === 'session') ownState.delete(name);
    if (!lifetimes) return;
    if (!writes.upserts.some(isShared) && !writes.removals.some(isShared)) {
      this.renewIfDue({ appName, userId }, lifetimes.user, now);
      this.renewIfDue({ appName }, lifetimes.app, now);
      return;
    }
    this.writeTo({ appName, userId }, { ...writesOf('user', writes), lifetime: lifetimes.user, now });
    this.writeTo({ appName }, { ...writesOf('app', writes), lifetime: lifetimes.app, now });
  }

  /** Writes into one bucket; without anything to write, the bucket is only kept alive. */
  writeTo(owner: StateOwner, { lifetime, now, ...writes }: ScopeWrites): void {
    if (changesNothing(writes)) {
      this.renewIfDue(owner, lifetime, now);
      return;
    }
    const bucket = this.#live(owner, now) ?? { owner, values: new Map<string, string>(), expiresAt: 0 };
    applyWrites(bucket.values, writes);
    bucket.expiresAt = expiresAt(now, lifetime);
    if (bucket.values.size > 0) this.#buckets.set(bucketKey(owner), bucket);
    else this.#buckets.delete(bucketKey(owner));
  }

  renew(owner: StateOwner, lifetime: Lifetime, now: number): void {
    const bucket = this.#live(owner, now);
    if (bucket) bucket.expiresAt = expiresAt(now, lifetime);
  }

  renewIfDue(owner: StateOwner, lifetime: Lifetime, now: number): void {
    // It lives forever. Most appends need not look for the bucket then.
    if (lifetime.renewBelowMs <= 0) return;
    const bucket = this.#live(owner, now);
    if (bucket && isRenewalDue(bucket.expiresAt, now, lifetime)) this.renew(owner, lifetime, now);
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

  expiryOf({ appName, userId }: SessionKey, now: number): { user?: number; app?: number } {
    const user = this.#live({ appName, userId }, now)?.expiresAt;
    const app = this.#live({ appName }, now)?.expiresAt;
    return { ...(user !== undefined && { user }), ...(app !== undefined && { app }) };
  }

  purge(limit: number, now: number): { userStates: number; appStates: number } {
    const expired = [...this.#buckets].filter(([, bucket]) => isExpired(bucket.expiresAt, now));
    const users = expired.filter(([, { owner }]) => owner.userId !== undefined).slice(0, limit);
    const apps = expired.filter(([, { owner }]) => owner.userId === undefined).slice(0, limit);
    for (const [key] of [...users, ...apps]) this.#buckets.delete(key);
    return { userStates: users.length, appStates: apps.length };
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

function applyWrites(values: Map<string, string>, { upserts, removals }: StateWrites): void {
  for (const { name, value } of upserts) values.set(name, value);
  for (const { name } of removals) values.delete(name);
}

function isShared({ scope }: { readonly scope: StoredScope }): boolean {
  return scope !== 'session';
}

/** No id holds a control character, so no two owners share a key. */
function bucketKey({ appName, userId }: StateOwner): string {
  return userId === undefined ? appName : `${appName}\u0000${userId}`;
}
