import { type Lifetime, expiresAt, isExpired, isRenewalDue } from '../../domain/values/expiry.js';
import { type StateOwner, type UserKey, scopeOfOwner } from '../../domain/values/ids.js';
import type { PlannedEntry } from '../planned-write.js';
import { ownerNameOf } from '../state-owners.js';
import { ScopeState } from './scope-state.js';

interface SharedState {
  readonly owner: StateOwner;
  readonly state: ScopeState;
  expiresAt: number;
}

const EMPTY = { user: new ScopeState('user', { appName: '' }), app: new ScopeState('app', { appName: '' }) };

/** The state of users and apps. */
export class SharedStates {
  readonly #states = new Map<string, SharedState>();

  /** The state, to be read. */
  get(owner: StateOwner, now: number): ScopeState {
    return this.#live(owner, now)?.state ?? EMPTY[scopeOfOwner(owner)];
  }

  /** The states that the sessions of a user share, to be read. */
  ofUser({ appName, userId }: UserKey, now: number): readonly [user: ScopeState, app: ScopeState] {
    return [this.get({ appName, userId }, now), this.get({ appName }, now)];
  }

  /** When the state of a user expires, if it is there, or without a user that of an app. */
  expiryOfOwner(owner: StateOwner, now: number): number | undefined {
    return this.#live(owner, now)?.expiresAt;
  }

  expiryOf({ appName, userId }: UserKey, now: number): { user?: number; app?: number } {
    const [user, app] = [this.expiryOfOwner({ appName, userId }, now), this.expiryOfOwner({ appName }, now)];
    return { ...(user !== undefined && { user }), ...(app !== undefined && { app }) };
  }

  /** Sets and removes keys. Without any, the state is only kept alive. */
  write(owner: StateOwner, entries: readonly PlannedEntry[], lifetime: Lifetime, now: number): void {
    if (entries.length === 0) {
      this.renewIfDue(owner, lifetime, now);
      return;
    }
    const state = this.#live(owner, now)?.state ?? new ScopeState(scopeOfOwner(owner), owner);
    state.put(entries);
    if (state.isEmpty) this.remove(owner);
    else this.#states.set(ownerNameOf(owner), { owner, state, expiresAt: expiresAt(now, lifetime) });
  }

  renew(owner: StateOwner, lifetime: Lifetime, now: number): void {
    const shared = this.#live(owner, now);
    if (shared) shared.expiresAt = expiresAt(now, lifetime);
  }

  renewIfDue(owner: StateOwner, lifetime: Lifetime, now: number): void {
    const expiry = this.expiryOfOwner(owner, now);
    if (expiry !== undefined && isRenewalDue(expiry, now, lifetime)) this.renew(owner, lifetime, now);
  }

  /** Removes expired states, at most so many of users and of apps. */
  purge(limit: number, now: number): { userStates: number; appStates: number } {
    const removed = { user: 0, app: 0 };
    for (const { owner, expiresAt: expiry } of this.#states.values()) {
      const scope = scopeOfOwner(owner);
      if (!isExpired(expiry, now) || removed[scope] >= limit) continue;
      this.remove(owner);
      removed[scope]++;
    }
    return { userStates: removed.user, appStates: removed.app };
  }

  remove(owner: StateOwner): void {
    this.#states.delete(ownerNameOf(owner));
  }

  /** The users of an app who have state. */
  usersOf(appName: string): string[] {
    const ofApp = [...this.#states.values()].filter(({ owner }) => owner.appName === appName);
    return ofApp.flatMap(({ owner: { userId } }) => userId ?? []);
  }

  all(): ScopeState[] {
    return [...this.#states.values()].map(({ state }) => state);
  }

  clear(): void {
    this.#states.clear();
  }

  #live(owner: StateOwner, now: number): SharedState | undefined {
    const shared = this.#states.get(ownerNameOf(owner));
    return shared && !isExpired(shared.expiresAt, now) ? shared : undefined;
  }
}
