import type { SessionHead } from '../../../planned-write.js';
import type { DirectCreate, PlannedMessage } from '../../append/direct-writes.js';
import { alikeSets, allSets, type PlannedSession, writeChildren, writeSums } from '../../append/planned-rows.js';
import { growScopes } from '../../append/sql-writes.js';
import { insertOfSession } from '../../append/insert-session.js';
import { headOfLines, insertEntries, recordLines } from '../../sql/session-rows.js';
import { areReadable, selectSharedState } from '../../state/read-state.js';
import type { Dialect } from '../../sql/dialect.js';
import { MYSQL_NOW } from '../../sql/server-time.js';
import { equalities, joinSql, NO_SQL, Sql, sql, sqlList } from '../../sql/sql.js';
import { valuesOfMysql } from '../../sql/update-rows.js';
import type { Tables } from '../../tables.js';

/** Fails with the code {@link NOT_WRITTEN}, in every `sql_mode`, so that the server runs no further statement of the message. */
const FAIL = new Sql('(SELECT 1 UNION ALL SELECT 2)');
export const NOT_WRITTEN = 'ER_SUBQUERY_NO_1_ROW';

/**
 * The statements between START TRANSACTION and COMMIT, for one message. They fail if a session is not the expected one. The
 * first locks without a wait: a session might expire meanwhile, and must not delay the others.
 */
export function directWriteOfMysql(dialect: Dialect, tables: Tables, { rows, time }: PlannedMessage): readonly Sql[] {
  const { sessions, scopes } = rows;
  const limits = sql`
    ${time ? sql`AND ${new Sql(MYSQL_NOW)} BETWEEN ${time.from} AND ${time.to}` : NO_SQL}
    ${scopes.length > 0 ? sql`AND ROW_COUNT() = ${scopes.length}` : NO_SQL}`;
  const changed = sessions.filter(({ isUnchanged }) => !isUnchanged);
  const areExpected = sql`@agent_sessions = ${sessions.length} ${limits}`;
  return [
    sql`
      SELECT COUNT(*) INTO @agent_sessions FROM ${tables.sessions}
      WHERE ${isOneOf(sessions)} FOR UPDATE SKIP LOCKED`,
    ...(scopes.length > 0 ? [growScopes(tables, rows, sql`ORDER BY app_name, user_id`)] : []),
    ...(changed.length > 0 ? [update(tables, changed, areExpected)] : []),
    sql`SELECT IF(${changed.length > 0 ? sql`ROW_COUNT() = ${changed.length}` : areExpected}, 1, ${FAIL}) INTO @agent_sessions`,
    ...writeChildren(dialect, tables, rows),
    ...writeSums(dialect, tables, rows),
  ];
}

/** The sessions of a message, after it has written nothing. */
export function selectHeadsOfMysql(dialect: Dialect, tables: Tables, { rows }: PlannedMessage): Sql {
  return sql`
    SELECT ${recordLines(dialect)} AS head, s.metadata, s.state FROM ${tables.sessions} s
    WHERE s.pk IN (${sqlList(rows.sessions.map(({ pk }) => pk))})`;
}

/** The rows of {@link selectHeadsOfMysql}. */
export function headsIn(rows: unknown): SessionHead[] {
  return (rows as readonly { head: string; metadata: string; state: string | null }[]).map(
    ({ head, metadata, state }) => headOfLines(head, metadata, state),
  );
}

/**
 * The statements that create a session. They fail if there is one with its ids, or too much state to read. The first gives its key, and the last one the
 * state of user and app.
 */
export function directCreateOfMysql(dialect: Dialect, tables: Tables, session: DirectCreate): readonly Sql[] {
  const { record, state, entries, time, limits } = session;
  const { appName, userId, sessionId, createTime } = record;
  const isOnTime = time && sql`${new Sql(MYSQL_NOW)} BETWEEN ${time.from} AND ${time.to}`;
  const conditions = [isOnTime, areReadable({ tables, dialect, limits }, record)].filter((one) => one !== undefined);
  const timeIfMet =
    conditions.length > 0 ? sql`IF(${joinSql(conditions, ' AND ')}, ${createTime}, ${FAIL})` : undefined;
  const states = state.map(({ name, value }) => sql`(LAST_INSERT_ID(), ${name}, ${value})`);
  const indexed = entries.map(
    (entry) => sql`(LAST_INSERT_ID(), ${entry}, ${appName}, ${userId}, ${sessionId}, ${createTime})`,
  );
  return [
    insertOfSession(tables, session, timeIfMet),
    ...(states.length > 0
      ? [sql`INSERT INTO ${tables.sessionState} (session_pk, name, value) VALUES ${joinSql(states, ', ')}`]
      : []),
    ...(indexed.length > 0 ? [insertEntries(tables, indexed)] : []),
    selectSharedState({ tables, dialect, limits }, record),
  ];
}

/** Those that stay as they are are compared here, and the others by their update. */
function isOneOf(sessions: readonly PlannedSession[]): Sql {
  const changed = sessions.filter(({ isUnchanged }) => !isUnchanged).map(({ pk }) => pk);
  const unchanged = sessions.filter(({ isUnchanged }) => isUnchanged);
  return joinSql(
    [
      ...(changed.length > 0 ? [sql`pk IN (${sqlList(changed)})`] : []),
      ...unchanged.map(({ pk, guards }) => sql`(pk = ${pk} AND ${equalities(guards, ' AND ')})`),
    ],
    ' OR ',
  );
}

/** The join has this order, so that it neither scans nor locks other rows. */
function update({ sessions: table }: Tables, sessions: readonly PlannedSession[], limits: Sql): Sql {
  const [first, ...others] = sessions;
  if (first && others.length === 0) {
    const { pk, guards } = first;
    return sql`
      UPDATE ${table} SET ${equalities(allSets(first), ', ')}
      WHERE pk = ${pk} AND ${equalities(guards, ' AND ')} AND ${limits}`;
  }
  const guards = first?.guards.map(([column]) => column) ?? [];
  const all = alikeSets(sessions);
  const sets = all[0]?.map(([column]) => column) ?? [];
  const names = ['pk', ...guards.map((column) => `old_${column}`), ...sets.map((column) => `new_${column}`)];
  const rows = sessions.map(({ pk, ...one }, index) => {
    return [pk, ...one.guards.map(([, value]) => value), ...(all[index] ?? []).map(([, value]) => value)];
  });
  const isSame = new Sql(guards.map((column) => `s.${column} = v.old_${column}`).join(' AND '));
  const changes = new Sql(sets.map((column) => `s.${column} = v.new_${column}`).join(', '));
  return sql`
    UPDATE (${valuesOfMysql(names, rows)}) v STRAIGHT_JOIN ${table} s ON s.pk = v.pk
    SET ${changes} WHERE ${isSame} AND ${limits}`;
}
