import { type Lifetime, type Lifetimes, NEVER, expiresAt, isExpired } from '../../domain/expiry.js';
import type { StateOwner } from '../../domain/ids.js';
import { type StateWrites, isEmpty, writesOf } from '../../domain/scope-writes.js';
import { type Sql, inPortions, joinSql, sql, sqlList } from './sql.js';
import type { FoundSession } from './session-lookup.js';
import type { SqlConnection } from './sql-connection.js';
import type { Tables } from './tables.js';

interface ScopeWrites extends StateWrites {
  readonly lifetime: Lifetime;
  readonly now: number;
}

/** Writes what a commit changes in the session's own state and in both shared scopes, user before app. */
export async function writeAllScopes(
  connection: SqlConnection,
  tables: Tables,
  { pk, record: { appName, userId } }: FoundSession,
  { lifetimes, now, ...writes }: StateWrites & { lifetimes: Lifetimes | undefined; now: number },
): Promise<void> {
  const own = { table: tables.sessionState, owner: sql`session_pk`, pk };
  await writeEntries(connection, own, writesOf('session', writes));
  if (!lifetimes) return;
  const user = { ...writesOf('user', writes), lifetime: lifetimes.user, now };
  await writeScope(connection, tables, { appName, userId }, user);
  const app = { ...writesOf('app', writes), lifetime: lifetimes.app, now };
  await writeScope(connection, tables, { appName }, app);
}

/** Writes into one shared scope; without anything to write, the scope is only kept alive. */
export async function writeScope(
  connection: SqlConnection,
  tables: Tables,
  owner: StateOwner,
  { lifetime, now, ...writes }: ScopeWrites,
): Promise<void> {
  if (isEmpty(writes)) {
    await renewScopeIfDue(connection, tables, owner, lifetime, now);
    return;
  }
  const pk = await liveScope(connection, tables, owner, { lifetime, now, create: writes.upserts.length > 0 });
  if (pk === undefined) return;
  await writeEntries(connection, { table: tables.sharedState, owner: sql`scope_pk`, pk }, writes);
  if (writes.removals.length > 0) await deleteScopeIfEmpty(connection, tables, pk);
}

/** Prolongs a scope that is alive and has used up enough of its life; one statement, without reading first. */
async function renewScopeIfDue(
  connection: SqlConnection,
  { sharedScopes }: Tables,
  owner: StateOwner,
  lifetime: Lifetime,
  now: number,
): Promise<void> {
  if (lifetime.ttlMs >= NEVER) return;
  await connection.change(sql`
    UPDATE ${sharedScopes} SET expires_at = ${expiresAt(now, lifetime)}
    WHERE ${isOwner(owner)} AND expires_at > ${now} AND expires_at < ${now + lifetime.renewBelowMs}`);
}

export async function renewScope(
  connection: SqlConnection,
  { sharedScopes }: Tables,
  owner: StateOwner,
  lifetime: Lifetime,
  now: number,
): Promise<void> {
  await connection.change(sql`
    UPDATE ${sharedScopes} SET expires_at = ${expiresAt(now, lifetime)}
    WHERE ${isOwner(owner)} AND expires_at > ${now}`);
}

/** App scopes have an empty user id, which no user has. */
export function userIdOf({ userId }: StateOwner): string {
  return userId ?? '';
}

function isOwner(owner: StateOwner): Sql {
  return sql`app_name = ${owner.appName} AND user_id = ${userIdOf(owner)}`;
}

/** The scope to write to, with its new expiry; an expired one is replaced, so that nothing of it shines through. */
async function liveScope(
  connection: SqlConnection,
  { sharedScopes }: Tables,
  owner: StateOwner,
  { lifetime, now, create }: { lifetime: Lifetime; now: number; create: boolean },
): Promise<number | undefined> {
  const [found] = await connection.rows<{ pk: number; expires_at: number }>(
    sql`SELECT pk, expires_at FROM ${sharedScopes} WHERE ${isOwner(owner)}`,
  );
  const expiry = expiresAt(now, lifetime);
  if (found && !isExpired(found.expires_at, now)) {
    if (found.expires_at !== expiry) {
      await connection.change(sql`UPDATE ${sharedScopes} SET expires_at = ${expiry} WHERE pk = ${found.pk}`);
    }
    return found.pk;
  }
  if (found) await connection.change(sql`DELETE FROM ${sharedScopes} WHERE pk = ${found.pk}`);
  if (!create) return undefined;
  const { insertedPk } = await connection.change(sql`
    INSERT INTO ${sharedScopes} (app_name, user_id, expires_at)
    VALUES (${owner.appName}, ${userIdOf(owner)}, ${expiry})`);
  return insertedPk;
}

async function writeEntries(
  connection: SqlConnection,
  { table, owner, pk }: { table: Sql; owner: Sql; pk: number },
  { upserts, removals }: StateWrites,
): Promise<void> {
  for (const some of inPortions(upserts)) {
    const rows = some.map(({ name, value }) => sql`(${pk}, ${name}, ${value})`);
    await connection.change(sql`
      INSERT INTO ${table} (${owner}, name, value) VALUES ${joinSql(rows, ', ')}
      ON CONFLICT (${owner}, name) DO UPDATE SET value = excluded.value`);
  }
  for (const some of inPortions(removals)) {
    const names = sqlList(some.map(({ name }) => name));
    await connection.change(sql`DELETE FROM ${table} WHERE ${owner} = ${pk} AND name IN (${names})`);
  }
}

async function deleteScopeIfEmpty(
  connection: SqlConnection,
  { sharedScopes, sharedState }: Tables,
  pk: number,
): Promise<void> {
  await connection.change(sql`
    DELETE FROM ${sharedScopes}
    WHERE pk = ${pk} AND NOT EXISTS (SELECT 1 FROM ${sharedState} WHERE scope_pk = ${pk})`);
}
