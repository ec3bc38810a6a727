import type { StateOwner } from '../../../domain/ids.js';
import type { StateEntries, StoredSession, StoredState } from '../../session-storage.js';
import type { FoundSession } from '../sql/session-rows.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { userIdOf } from './write-state.js';

interface StateRow {
  readonly scope: keyof StoredState;
  readonly name: string | null;
  readonly value: string | null;
  readonly expires_at: number | null;
}

/** Reads the state of a session in all scopes with one statement. */
export async function readState(
  transaction: SqlTransaction,
  { pk, record: { appName, userId } }: FoundSession,
): Promise<Pick<StoredSession, 'state' | 'scopeExpiry'>> {
  const { sessionState, sharedScopes, sharedState } = transaction.tables;
  const rows = await transaction.rows<StateRow>(sql`
    SELECT 'session' AS scope, name, value, NULL AS expires_at FROM ${sessionState} WHERE session_pk = ${pk}
    UNION ALL
    SELECT CASE c.user_id WHEN '' THEN 'app' ELSE 'user' END, v.name, v.value, c.expires_at
    FROM ${sharedScopes} c JOIN ${sharedState} v ON v.scope_pk = c.pk
    WHERE c.app_name = ${appName} AND c.user_id IN ('', ${userId}) AND c.expires_at > ${transaction.now}`);
  const entries = (scope: keyof StoredState): StateEntries =>
    rows.flatMap((row) => (row.scope === scope ? [[row.name ?? '', row.value ?? ''] as const] : []));
  const user = rows.find(({ scope }) => scope === 'user')?.expires_at;
  const app = rows.find(({ scope }) => scope === 'app')?.expires_at;
  return {
    state: { session: entries('session'), user: entries('user'), app: entries('app') },
    scopeExpiry: { ...(user && { user }), ...(app && { app }) },
  };
}

/** Reads the state of a shared scope, and its expiry if it exists. */
export async function readScope(
  transaction: SqlTransaction,
  owner: StateOwner,
): Promise<{ entries: StateEntries; expiresAt?: number }> {
  const { sharedScopes, sharedState } = transaction.tables;
  const rows = await transaction.rows<{ name: string; value: string; expires_at: number }>(sql`
    SELECT v.name, v.value, c.expires_at
    FROM ${sharedScopes} c JOIN ${sharedState} v ON v.scope_pk = c.pk
    WHERE c.app_name = ${owner.appName} AND c.user_id = ${userIdOf(owner)} AND c.expires_at > ${transaction.now}`);
  return {
    entries: rows.map(({ name, value }) => [name, value] as const),
    ...(rows[0] && { expiresAt: rows[0].expires_at }),
  };
}
