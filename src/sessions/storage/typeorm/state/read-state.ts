import type { SessionKey, StateOwner } from '../../../domain/ids.js';
import type { StateEntries, StoredSession, StoredState } from '../../session-storage.js';
import type { FoundSession } from '../sql/session-rows.js';
import { type Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import type { Tables } from '../tables.js';
import { userIdOf } from './write-state.js';

export interface StateRow {
  readonly scope: keyof StoredState;
  readonly name: string | null;
  readonly value: string | null;
  readonly expires_at: number | null;
}

/** Selects the state of a session in all scopes. {@link stateOf} reads the rows. */
export function selectState({ tables, now }: SqlTransaction, { pk, record }: FoundSession): Sql {
  return sql`
    SELECT 'session' AS scope, name, value, NULL AS expires_at FROM ${tables.sessionState} WHERE session_pk = ${pk}
    UNION ALL
    ${selectSharedState(tables, record)} AND c.expires_at > ${now}`;
}

/** Selects the state of user and app, also of scopes that have expired. {@link stateOf} reads the rows. */
export function selectSharedState({ sharedScopes, sharedState }: Tables, { appName, userId }: SharedOwner): Sql {
  return sql`
    SELECT CASE c.user_id WHEN '' THEN 'app' ELSE 'user' END AS scope, v.name, v.value, c.expires_at
    FROM ${sharedScopes} c JOIN ${sharedState} v ON v.scope_pk = c.pk
    WHERE c.app_name = ${appName} AND c.user_id IN ('', ${userId})`;
}

type SharedOwner = Pick<SessionKey, 'appName' | 'userId'>;

/** The state of a session in all scopes. */
export function stateOf(rows: readonly StateRow[]): Required<Pick<StoredSession, 'state' | 'scopeExpiry'>> {
  const entries = (scope: keyof StoredState): StateEntries =>
    rows.flatMap((row) => (row.scope === scope ? [[row.name ?? '', row.value ?? ''] as const] : []));
  const user = rows.find(({ scope }) => scope === 'user')?.expires_at;
  const app = rows.find(({ scope }) => scope === 'app')?.expires_at;
  return {
    state: { session: entries('session'), user: entries('user'), app: entries('app') },
    scopeExpiry: { ...(user && { user }), ...(app && { app }) },
  };
}

/** Reads the state of a shared scope, and its expiry if it exists, and commits. */
export async function readScopeAndCommit(
  transaction: SqlTransaction,
  owner: StateOwner,
): Promise<{ entries: StateEntries; expiresAt?: number }> {
  const { sharedScopes, sharedState } = transaction.tables;
  const [found = []] = await transaction.commitWith([
    sql`
    SELECT v.name, v.value, c.expires_at
    FROM ${sharedScopes} c JOIN ${sharedState} v ON v.scope_pk = c.pk
    WHERE c.app_name = ${owner.appName} AND c.user_id = ${userIdOf(owner)} AND c.expires_at > ${transaction.now}`,
  ]);
  const rows = found as { name: string; value: string; expires_at: number }[];
  return {
    entries: rows.map(({ name, value }) => [name, value] as const),
    ...(rows[0] && { expiresAt: rows[0].expires_at }),
  };
}
