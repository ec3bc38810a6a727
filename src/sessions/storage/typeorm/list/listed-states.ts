import { expectReadableText } from '../../../domain/stored/state-text.js';
import { type StateLimits, readExcessError } from '../../../domain/stored/state-size.js';
import type { ListedSession, ListRequest, StateEntries } from '../../session-storage.js';
import { Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { type FoundRow, keyList } from './listed-rows.js';
import { selectScopes } from '../state/read-state.js';
import { TOO_LARGE, expectReadable, sumOfState } from '../state/state-sizes.js';

export interface StateRow {
  readonly session_pk: number | null;
  readonly user_id: string | null;
  readonly name: string;
  readonly value: string;
}

export function withoutState({ record, metadata }: FoundRow): ListedSession {
  return { record, metadata, state: { session: [], user: [], app: [] } };
}

/** Refuses sessions whose own state is too large. Of those that have rows, only those whose bound is too large are counted. */
export async function expectOwnStates(
  transaction: SqlTransaction,
  rows: readonly FoundRow[],
  limits: StateLimits | undefined,
): Promise<void> {
  for (const { state, record } of rows) if (state !== undefined) expectReadableText(state, limits, record);
  const suspects = limits
    ? rows.filter(({ record, state }) => state === undefined && record.stateBytes > limits.session)
    : [];
  if (!limits || suspects.length === 0) return;
  const { tables, dialect } = transaction;
  const sum = sumOfState(dialect, { table: tables.sessionState, owner: sql`session_pk`, pk: sql`s.pk` });
  const counted = await transaction.rows<{ pk: number; bytes: number | string }>(
    sql`SELECT s.pk, ${sum} AS bytes FROM ${tables.sessions} s WHERE s.pk IN (${keyList(suspects.map(({ pk }) => pk))})`,
  );
  const sizes = new Map(counted.map(({ pk, bytes }) => [pk, Number(bytes)]));
  for (const { pk, record } of suspects) {
    const bytes = sizes.get(pk) ?? 0;
    if (bytes > limits.session) throw readExcessError({ scope: 'session', bytes, most: limits.session }, record);
  }
}

export function selectStates(
  { tables, dialect, now }: SqlTransaction,
  rows: readonly FoundRow[],
  limits?: StateLimits,
): Sql {
  const appName = rows[0]?.record.appName ?? '';
  const users = [...new Set(rows.map(({ record }) => record.userId))];
  const where = sql`
    c.app_name = ${appName} AND c.user_id IN (${sqlList(['', ...users])}) AND c.expires_at > ${now}`;
  const shared = selectScopes({ tables, dialect, limits }, where, {
    entry: sql`NULL AS session_pk, c.user_id, v.name, v.value`,
    tooLarge: (bytes) => sql`NULL, c.user_id, '${new Sql(TOO_LARGE)}', ${bytes}`,
  });
  const withRows = rows.filter(({ state }) => state === undefined);
  if (withRows.length === 0) return shared;
  return sql`
    SELECT session_pk, NULL AS user_id, name, value FROM ${tables.sessionState}
    WHERE session_pk IN (${keyList(withRows.map(({ pk }) => pk))})
    UNION ALL
    ${shared}`;
}

export function rowsWithState(
  rows: readonly FoundRow[],
  states: readonly StateRow[],
  { appName, maxStateBytes }: ListRequest,
): ListedSession[] {
  for (const row of states) {
    const userId = row.user_id ?? '';
    expectReadable([{ ...row, scope: userId === '' ? 'app' : 'user' }], maxStateBytes, { appName, userId });
  }
  // By session or by user. The app has an empty user id.
  const entries = new Map<string | number | null, (readonly [name: string, value: string])[]>();
  for (const { user_id: userId, session_pk: sessionPk, name, value } of states) {
    const owner = userId ?? sessionPk;
    const found = entries.get(owner);
    if (found) found.push([name, value]);
    else entries.set(owner, [[name, value]]);
  }
  const app = entries.get('') ?? NO_ENTRIES;
  return rows.map(({ pk, record, metadata, state }) => ({
    record,
    metadata,
    state: { session: state ?? entries.get(pk) ?? NO_ENTRIES, user: entries.get(record.userId) ?? NO_ENTRIES, app },
  }));
}

const NO_ENTRIES: StateEntries = [];
