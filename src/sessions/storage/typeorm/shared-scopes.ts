import { type Lifetime, NEVER, expiresAt, isExpired } from '../../domain/expiry.js';
import type { StateOwner } from '../../domain/ids.js';
import { type Sql, joinSql, sql } from './sql.js';
import type { SqlTransaction } from './sql-transaction.js';

/** A shared scope that a transaction has locked. */
export interface LockedScope {
  readonly pk: number;
  readonly expiresAt: number;
}

/** App scopes have an empty user id, which no user has. */
export function userIdOf({ userId }: StateOwner): string {
  return userId ?? '';
}

/** Tells owners apart: no id holds a line break. */
export function ownerKey(owner: StateOwner): string {
  return `${owner.appName}\n${userIdOf(owner)}`;
}

function isOwner(owner: StateOwner): Sql {
  return sql`(app_name = ${owner.appName} AND user_id = ${userIdOf(owner)})`;
}

interface ScopeRow {
  readonly pk: number;
  readonly app_name: string;
  readonly user_id: string;
  readonly expires_at: number;
}

/** Locks the scopes of these owners that are alive, in one statement and one order. Expired ones are removed. */
export async function lockScopes(
  transaction: SqlTransaction,
  owners: readonly StateOwner[],
): Promise<Map<string, LockedScope>> {
  const locked = new Map<string, LockedScope>();
  if (owners.length === 0) return locked;
  const { dialect, tables } = transaction;
  const rows = await transaction.lockedRows<ScopeRow>(sql`
    SELECT c.pk, c.app_name, c.user_id, c.expires_at FROM ${tables.sharedScopes} c
    WHERE ${joinSql(owners.map(isOwner), ' OR ')} ${dialect.lock('c', sql`c.app_name, c.user_id`)}`);
  for (const { pk, app_name: appName, user_id: userId, expires_at: expiry } of rows) {
    if (isExpired(expiry, transaction.now))
      await transaction.change(sql`DELETE FROM ${tables.sharedScopes} WHERE pk = ${pk}`);
    else locked.set(ownerKey({ appName, userId }), { pk, expiresAt: expiry });
  }
  return locked;
}

export async function insertScope(
  transaction: SqlTransaction,
  owner: StateOwner,
  lifetime: Lifetime,
): Promise<LockedScope> {
  const expiry = expiresAt(transaction.now, lifetime);
  const pk = await transaction.insert(
    sql`
    INSERT INTO ${transaction.tables.sharedScopes} (app_name, user_id, expires_at)
    VALUES (${owner.appName}, ${userIdOf(owner)}, ${expiry})`,
    'pk',
  );
  return { pk, expiresAt: expiry };
}

/** Gives a locked scope its new expiry, where that is another one. */
export function renewalOf({ tables, now }: SqlTransaction, scope: LockedScope, lifetime: Lifetime): readonly Sql[] {
  const expiry = expiresAt(now, lifetime);
  if (scope.expiresAt === expiry) return [];
  return [sql`UPDATE ${tables.sharedScopes} SET expires_at = ${expiry} WHERE pk = ${scope.pk}`];
}

/** Prolongs a scope that is alive. */
export function renewal({ tables, now }: SqlTransaction, owner: StateOwner, lifetime: Lifetime): Sql {
  return sql`
    UPDATE ${tables.sharedScopes} SET expires_at = ${expiresAt(now, lifetime)}
    WHERE ${isOwner(owner)} AND expires_at > ${now}`;
}

/** Prolongs a scope that is alive and has used up enough of its life; without reading first. */
export function renewalIfDue(transaction: SqlTransaction, owner: StateOwner, lifetime: Lifetime): readonly Sql[] {
  if (lifetime.ttlMs >= NEVER) return [];
  const due = sql`AND expires_at < ${Math.ceil(transaction.now + lifetime.renewBelowMs)}`;
  return [sql`${renewal(transaction, owner, lifetime)} ${due}`];
}

export function removalIfEmpty({ tables: { sharedScopes, sharedState } }: SqlTransaction, { pk }: LockedScope): Sql {
  return sql`
    DELETE FROM ${sharedScopes}
    WHERE pk = ${pk} AND NOT EXISTS (SELECT 1 FROM ${sharedState} WHERE scope_pk = ${pk})`;
}
