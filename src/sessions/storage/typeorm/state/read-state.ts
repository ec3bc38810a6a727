import { type SessionKey, type StateOwner, scopeOfOwner } from '../../../domain/values/ids.js';
import { expectReadableText, type StateText } from '../../../domain/stored/state-text.js';
import type { StateLimits } from '../../../domain/stored/state-size.js';
import type { SharedScope, StateEntries, StoredSession, StoredState } from '../../session-storage.js';
import type { Dialect } from '../sql/dialect.js';
import type { FoundSession } from '../sql/session-rows.js';
import { NO_SQL, Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import type { Tables } from '../tables.js';
import { userIdOf } from './locked-scopes.js';
import {
  type ReadLimit,
  TOO_LARGE,
  expectReadable,
  isReadable,
  isTooLarge,
  limitOfScope,
  limitText,
  sumOfState,
} from './state-sizes.js';

export interface StateRow {
  readonly scope: keyof StoredState;
  /** {@link TOO_LARGE} in a row that has the size of the scope instead of an entry. */
  readonly name: string | null;
  readonly value: string | null;
  readonly expires_at: number | null;
}

/** Where states are, and how large they may be to be read. */
export interface StateSource {
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly limits?: StateLimits | undefined;
}

/** Selects the state of a session in all scopes, its own unless that is one text. {@link parseStateRows} reads the rows. */
export function selectState(
  { tables, dialect, now }: SqlTransaction,
  { pk, record, state }: Pick<FoundSession, 'pk' | 'record' | 'state'>,
  limits?: StateLimits,
): Sql {
  const isLive = sql`AND c.expires_at > ${now}`;
  const shared = selectSharedState({ tables, dialect, limits }, record, isLive);
  if (state !== undefined) return shared;
  return sql`
    ${selectOwnState({ tables, dialect, limits }, pk, record.stateBytes)}
    UNION ALL
    ${shared}`;
}

/**
 * The session's own state. Only if its bound is too large, the statement counts it first. The expiry gives PostgreSQL the type of its
 * column.
 */
function selectOwnState({ tables, dialect, limits }: StateSource, pk: number, bound: number): Sql {
  const all = sql`
    SELECT 'session' AS scope, name, value, NULL AS expires_at FROM ${tables.sessionState} WHERE session_pk = ${pk}`;
  if (!limits || bound <= limits.session) return all;
  const sum = sumOfState(dialect, { table: tables.sessionState, owner: sql`session_pk`, pk: sql`${pk}` });
  const most = limitText(limits.session);
  return sql`
    ${all} AND ${sum} <= ${most}
    UNION ALL
    SELECT 'session', '${new Sql(TOO_LARGE)}', ${dialect.lines([sum])}, s.expires_at
    FROM ${tables.sessions} s WHERE s.pk = ${pk} AND ${sum} > ${most}`;
}

type SharedOwner = Pick<SessionKey, 'appName' | 'userId'>;

const SCOPE_NAME = sql`CASE c.user_id WHEN '' THEN 'app' ELSE 'user' END`;

/** Selects the state of user and app, also of scopes that have expired. {@link parseStateRows} reads the rows. */
export function selectSharedState(source: StateSource, { appName, userId }: SharedOwner, isLive = NO_SQL): Sql {
  const where = sql`c.app_name = ${appName} AND c.user_id IN ('', ${userId}) ${isLive}`;
  return selectScopes(source, where, {
    entry: sql`${SCOPE_NAME} AS scope, v.name, v.value, c.expires_at`,
    tooLarge: (bytes) => sql`${SCOPE_NAME}, '${new Sql(TOO_LARGE)}', ${bytes}, c.expires_at`,
  });
}

/** The columns of an entry, and those of a scope that is too large, given its size as text. */
interface ScopeColumns {
  readonly entry: Sql;
  readonly tooLarge: (bytes: Sql) => Sql;
}

/** Selects entries of shared scopes, and the sizes of those that are too large to be read. */
export function selectScopes({ tables, dialect, limits }: StateSource, where: Sql, columns: ScopeColumns): Sql {
  const limit = limits && limitOfScopes({ tables, dialect }, limits);
  const entries = sql`
    SELECT ${columns.entry}
    FROM ${tables.sharedScopes} c JOIN ${tables.sharedState} v ON v.scope_pk = c.pk
    WHERE ${where} ${limit ? sql`AND ${isReadable(limit)}` : NO_SQL}`;
  if (!limit) return entries;
  return sql`
    ${entries}
    UNION ALL
    SELECT ${columns.tooLarge(dialect.lines([limit.sum]))} FROM ${tables.sharedScopes} c
    WHERE ${where} AND ${isTooLarge(limit)}`;
}

/** Whether the state of user and app, also expired, is small enough to be read. Missing without limits. */
export function areReadable(
  { tables, dialect, limits }: StateSource,
  { appName, userId }: SharedOwner,
): Sql | undefined {
  if (!limits) return undefined;
  return sql`NOT EXISTS (
    SELECT 1 FROM ${tables.sharedScopes} c
    WHERE c.app_name = ${appName} AND c.user_id IN ('', ${userId}) AND ${isTooLarge(limitOfScopes({ tables, dialect }, limits))})`;
}

/** Refuses a new session of a user or an app whose state is too large to be read with it. */
export async function expectSharedReadable(
  transaction: SqlTransaction,
  key: SessionKey,
  limits: StateLimits | undefined,
): Promise<void> {
  if (!limits) return;
  const { tables, now } = transaction;
  const limit = limitOfScopes(transaction, limits);
  const rows = await transaction.rows<Pick<StateRow, 'scope' | 'value'>>(sql`
    SELECT ${SCOPE_NAME} AS scope, ${limit.sum} AS value FROM ${tables.sharedScopes} c
    WHERE c.app_name = ${key.appName} AND c.user_id IN ('', ${key.userId}) AND c.expires_at > ${now} AND ${isTooLarge(limit)}`);
  expectReadable(
    rows.map((row) => ({ ...row, name: TOO_LARGE })),
    limits,
    key,
  );
}

function limitOfScopes({ tables, dialect }: Omit<StateSource, 'limits'>, limits: StateLimits): ReadLimit {
  const rows = { table: tables.sharedState, owner: sql`scope_pk`, pk: sql`c.pk` };
  return { most: limitOfScope(limits), stored: sql`c.state_bytes`, sum: sumOfState(dialect, rows) };
}

/** The state of a session in all scopes. `text`: its own state, unless that has rows. */
export function parseStateRows(
  rows: readonly StateRow[],
  owner: SessionKey,
  { limits, text, isWritten }: { limits?: StateLimits | undefined; text?: StateText | undefined; isWritten?: boolean },
): Required<Pick<StoredSession, 'state' | 'scopeExpiry'>> {
  if (text !== undefined) expectReadableText(text, limits, owner);
  expectReadable(rows, limits, owner, isWritten);
  const entries = (scope: keyof StoredState): StateEntries =>
    rows.flatMap((row) => (row.scope === scope ? [[row.name ?? '', row.value ?? ''] as const] : []));
  const user = rows.find(({ scope }) => scope === 'user')?.expires_at;
  const app = rows.find(({ scope }) => scope === 'app')?.expires_at;
  return {
    state: { session: text ?? entries('session'), user: entries('user'), app: entries('app') },
    scopeExpiry: { ...(user && { user }), ...(app && { app }) },
  };
}

/**
 * Reads the state of a shared scope and commits.
 *
 * @param isWritten whether the transaction has changed it
 * @returns the state; it throws if that is too large, which must not undo the transaction
 */
export async function readScopeAndCommit(
  transaction: SqlTransaction,
  owner: StateOwner,
  limits?: StateLimits,
  isWritten = false,
): Promise<() => SharedScope> {
  const { tables, dialect, now } = transaction;
  const where = sql`
    c.app_name = ${owner.appName} AND c.user_id = ${userIdOf(owner)} AND c.expires_at > ${now}`;
  const statement = selectScopes({ tables, dialect, limits }, where, {
    entry: sql`v.name, v.value, c.expires_at`,
    tooLarge: (bytes) => sql`'${new Sql(TOO_LARGE)}', ${bytes}, c.expires_at`,
  });
  const [found = []] = await transaction.commitWith([statement]);
  const rows = found as { name: string; value: string; expires_at: number }[];
  const scope = scopeOfOwner(owner);
  return () => {
    expectReadable(
      rows.map((row) => ({ ...row, scope })),
      limits,
      owner,
      isWritten,
    );
    return {
      entries: rows.map(({ name, value }) => [name, value] as const),
      ...(rows[0] && { expiresAt: rows[0].expires_at }),
    };
  };
}
