import type { Lifetime, Lifetimes } from '../../domain/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import { type StateWrites, changesNothing, writesOf } from '../../domain/scope-writes.js';
import { EntryWrites } from './entry-writes.js';
import { insertScope, lockScopes, ownerKey, removalIfEmpty, renewalIfDue, renewalOf } from './shared-scopes.js';
import { type Sql, sql } from './sql.js';
import type { SqlTransaction } from './sql-transaction.js';

/** What is to become of one shared scope. */
interface ScopePlan {
  readonly owner: StateOwner;
  readonly lifetime: Lifetime;
  readonly writes: readonly StateWrites[];
}

/**
 * Collects what one transaction changes in the state of sessions, users and apps, and writes it in as few
 * statements as there are kinds of them. Rows of shared scopes are locked last, and all in one order.
 */
export class CollectedStateWrites {
  readonly #ofSessions: EntryWrites;
  readonly #ofScopes: EntryWrites;
  readonly #scopes = new Map<string, ScopePlan>();

  constructor(private readonly transaction: SqlTransaction) {
    const { sessionState, sharedState } = transaction.tables;
    this.#ofSessions = new EntryWrites(sessionState, sql`session_pk`);
    this.#ofScopes = new EntryWrites(sharedState, sql`scope_pk`);
  }

  /** What a commit writes; without lifetimes it keeps nothing alive and touches nothing that is shared. */
  addCommit(sessionPk: number, { appName, userId }: SessionKey, writes: StateWrites, lifetimes?: Lifetimes): void {
    this.#ofSessions.add(sessionPk, writesOf('session', writes));
    if (!lifetimes) return;
    this.addToScope({ appName }, writesOf('app', writes), lifetimes.app);
    this.addToScope({ appName, userId }, writesOf('user', writes), lifetimes.user);
  }

  /** With nothing to write, the scope is only kept alive. */
  addToScope(owner: StateOwner, writes: StateWrites, lifetime: Lifetime): void {
    const key = ownerKey(owner);
    const before = this.#scopes.get(key)?.writes ?? [];
    this.#scopes.set(key, { owner, lifetime, writes: changesNothing(writes) ? before : [...before, writes] });
  }

  /** Locks what has to be locked, and answers the statements that do the rest. */
  async statements(): Promise<Sql[]> {
    const { transaction } = this;
    // In one order, so that those who create the same scopes do not wait for each other in a circle.
    const plans = [...this.#scopes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, plan]) => plan);
    const untouched = plans.filter(({ writes }) => writes.length === 0);
    const touched = plans.filter(({ writes }) => writes.length > 0);
    const locked = await lockScopes(
      transaction,
      touched.map(({ owner }) => owner),
    );
    const renewals: Sql[] = [];
    const removals: Sql[] = [];
    for (const { owner, lifetime, writes } of touched) {
      let scope = locked.get(ownerKey(owner));
      if (!scope && writes.every(({ upserts }) => upserts.length === 0)) continue;
      scope ??= await insertScope(transaction, owner, lifetime);
      for (const some of writes) this.#ofScopes.add(scope.pk, some);
      renewals.push(...renewalOf(transaction, scope, lifetime));
      if (writes.some((some) => some.removals.length > 0)) removals.push(removalIfEmpty(transaction, scope));
    }
    return [
      ...this.#ofSessions.statements(transaction.dialect),
      ...this.#ofScopes.statements(transaction.dialect),
      ...renewals,
      ...untouched.flatMap(({ owner, lifetime }) => renewalIfDue(transaction, owner, lifetime)),
      ...removals,
    ];
  }
}
