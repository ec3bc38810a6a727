import { type Lifetime, expiresAt, isExpired } from '../../../domain/values/expiry.js';
import { GrowingSize } from '../../../domain/stored/growing-size.js';
import { type StateOwner, scopeOfOwner } from '../../../domain/values/ids.js';
import {
  type StateExcess,
  type StateLimits,
  type StateSize,
  readExcessError,
} from '../../../domain/stored/state-size.js';
import { type SharedPart, type StateWrites, scopesWritten, writesOf } from '../../../domain/stored/stored-json.js';
import { ownerNameOf } from '../../state-owners.js';
import { joinSql, NO_SQL, type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { countState } from './state-sizes.js';

/** A shared scope that a transaction has locked. */
export interface LockedScope {
  /** Missing if there is none. */
  pk: number | undefined;
  expiresAt: number;
  /** As it is stored. */
  storedBytes: number;
  /** After the commits of this transaction. */
  readonly size: GrowingSize;
}

/** The scope of an app has an empty user id. */
export function userIdOf({ userId }: StateOwner): string {
  return userId ?? '';
}

export function isOwner(owner: StateOwner): Sql {
  return sql`(app_name = ${owner.appName} AND user_id = ${userIdOf(owner)})`;
}

interface ScopeRow {
  readonly pk: number;
  readonly app_name: string;
  readonly user_id: string;
  readonly expires_at: number;
  readonly state_bytes: number;
}

/** The shared scopes that a transaction writes to, locked after its sessions, with one statement and in one order. */
export class LockedScopes {
  readonly #scopes = new Map<string, LockedScope>();
  /** The keys of scopes that have expired. */
  readonly #expired = new Map<string, number>();

  private constructor(private readonly transaction: SqlTransaction) {}

  /** Locks the scopes of these owners. Expired scopes are as if they were missing. */
  static async lock(transaction: SqlTransaction, owners: readonly StateOwner[]): Promise<LockedScopes> {
    const locked = new LockedScopes(transaction);
    const different = [...new Map(owners.map((owner) => [ownerNameOf(owner), owner])).values()];
    if (different.length === 0) return locked;
    const { dialect, tables } = transaction;
    const rows = await transaction.lockedRows<ScopeRow>(sql`
      SELECT c.pk, c.app_name, c.user_id, c.expires_at, c.state_bytes FROM ${tables.sharedScopes} c
      WHERE ${joinSql(different.map(isOwner), ' OR ')} ${dialect.lock('c', sql`c.app_name, c.user_id`)}`);
    for (const { pk, app_name: appName, user_id: userId, expires_at: expiry, state_bytes: bytes } of rows) {
      const owner = userId === '' ? { appName } : { appName, userId };
      if (isExpired(expiry, transaction.now)) locked.#expired.set(ownerNameOf(owner), pk);
      else
        locked.#scopes.set(ownerNameOf(owner), {
          pk,
          expiresAt: expiry,
          storedBytes: bytes,
          size: new GrowingSize(scopeOfOwner(owner), { atMost: bytes }),
        });
    }
    return locked;
  }

  /** The scope, also if there is none yet. */
  of(owner: StateOwner): LockedScope {
    const key = ownerNameOf(owner);
    const found = this.#scopes.get(key);
    if (found) return found;
    const size = new GrowingSize(scopeOfOwner(owner), { atMost: 0, entries: new Map() });
    const missing = { pk: undefined, expiresAt: 0, storedBytes: 0, size };
    this.#scopes.set(key, missing);
    return missing;
  }

  /** Whether the scope would have more state than it may. */
  excessOf(
    owner: StateOwner,
    writes: StateWrites,
    limits: StateLimits | undefined,
    hasOldSnapshot?: boolean,
  ): Promise<StateExcess | undefined> {
    const scope = this.of(owner);
    return scope.size.excessOf(writes, limits, () => this.#count(scope, hasOldSnapshot));
  }

  /** Whether one of the scopes that a commit writes to would have more state than it may. */
  async excessOfCommit(commit: SharedPart, hasOldSnapshot?: boolean): Promise<StateExcess | undefined> {
    for (const owner of scopesWritten(commit)) {
      const excess = await this.excessOf(owner, commit, commit.maxStateBytes, hasOldSnapshot);
      if (excess) return excess;
    }
    return undefined;
  }

  /** Refuses state of these locked scopes that is too large to be read. */
  async expectReadable(owners: readonly StateOwner[], limits: StateLimits | undefined): Promise<void> {
    for (const owner of owners) {
      const scope = this.of(owner);
      const excess = await scope.size.readExcess(limits, () => this.#count(scope));
      if (excess) throw readExcessError(excess, owner);
    }
  }

  /** Adds the writes of a commit to the sizes. */
  growBy(commit: SharedPart): void {
    for (const owner of scopesWritten(commit)) this.grow(owner, writesOf(scopeOfOwner(owner), commit));
  }

  /** Adds writes to the size. */
  grow(owner: StateOwner, writes: StateWrites): void {
    this.of(owner).size.add(writes);
  }

  /** @param hasOldSnapshot whether the transaction may have read before: then only locking reads return the newest rows */
  #count({ pk = 0 }: LockedScope, hasOldSnapshot = false): Promise<StateSize> {
    const { tables, dialect } = this.transaction;
    const rows = { table: tables.sharedState, owner: sql`scope_pk`, pk: sql`${pk}` };
    return countState(this.transaction, rows, hasOldSnapshot ? dialect.lock('v') : NO_SQL);
  }

  /** Deletes what is left of the scope, if it has expired. */
  deleteExpired(owner: StateOwner): readonly Sql[] {
    const pk = this.#expired.get(ownerNameOf(owner));
    return pk === undefined ? [] : [sql`DELETE FROM ${this.transaction.tables.sharedScopes} WHERE pk = ${pk}`];
  }

  /** Inserts a scope that is missing, with the size after all writes, in the place of one that has expired. */
  async insert(owner: StateOwner, lifetime: Lifetime): Promise<number> {
    const { tables, now } = this.transaction;
    for (const statement of this.deleteExpired(owner)) await this.transaction.change(statement);
    const scope = this.of(owner);
    const expiry = expiresAt(now, lifetime);
    scope.storedBytes = scope.size.atMost;
    scope.expiresAt = expiry;
    scope.pk = await this.transaction.insert(
      sql`
      INSERT INTO ${tables.sharedScopes} (app_name, user_id, expires_at, state_bytes)
      VALUES (${owner.appName}, ${userIdOf(owner)}, ${expiry}, ${scope.storedBytes})`,
      'pk',
    );
    return scope.pk;
  }
}
