import { NEVER } from '../../../../domain/values/expiry.js';
import type { TimeRange } from '../../../plan-time.js';
import type { DirectCreate, MessageAnswer, PlannedMessage } from '../../append/direct-writes.js';
import {
  alikeSets,
  allSets,
  EVENT_COLUMNS,
  type PlannedGrowth,
  type PlannedRows,
  type PlannedSession,
  valuesOfEvent,
} from '../../append/planned-rows.js';
import { insertOfSession, UNLESS_THERE } from '../../append/insert-session.js';
import { PARTIAL_COLUMNS, replacesPartial, valuesOfPartial } from '../../live/partial-events.js';
import { postgresDialect } from '../../sql/dialect.js';
import { POSTGRES_NOW } from '../../sql/server-time.js';
import { equalities, joinSql, NO_SQL, Sql, sql } from '../../sql/sql.js';
import { arrayText, typesOf, unnest } from '../../sql/postgres-arrays.js';
import { entryChanges, headOfLines, INDEX_COLUMNS, recordLines } from '../../sql/session-rows.js';
import { areReadable, selectSharedState } from '../../state/read-state.js';
import type { Entry } from '../../state/write-state.js';
import { addOnConflict, USAGE_COLUMNS, type UsageRow } from '../../state/write-usage.js';
import type { Tables } from '../../tables.js';

/**
 * One statement, which is a transaction of its own. Its text does not depend on the number of rows, so that it can be
 * prepared. Its first row is the time. If it did not write, the sessions as they are follow.
 */
export function directWriteOfPostgres(tables: Tables, { rows, time }: PlannedMessage): Sql {
  const { sessions, sessionState, sharedState, scopes, usage } = rows;
  const now = new Sql(POSTGRES_NOW);
  const pks = sql`CAST(${arrayText(sessions.map(({ pk }) => pk))} AS bigint[])`;
  return sql`
    WITH ${updateOf(tables, sessions, createWriteCondition(tables, scopes, time))}
      ${addedEvents(tables, rows)}
      ${growth(tables, scopes)}
      ${endedPartials(tables, rows)}
      ${savedPartials(tables, rows)}
      ${changedEntries(tables, sessions)}
      ${upsert(sql`of_sessions`, tables.sessionState, sql`session_pk`, sessionState)}
      ${upsert(sql`shared`, tables.sharedState, sql`scope_pk`, sharedState)}
      ${removal(tables.sessionState, sessionState)}
      ${addition(tables, usage, sharedState.length > 0 ? sql`shared` : undefined)}
    SELECT ${now} AS now, NULL AS head, NULL AS metadata, NULL AS state WHERE EXISTS (SELECT 1 FROM written)
    UNION ALL SELECT ${now}, ${recordLines(postgresDialect)}, s.metadata, s.state FROM ${tables.sessions} s
      WHERE s.pk = ANY(${pks}) AND NOT EXISTS (SELECT 1 FROM written)`;
}

/** A row of {@link directWriteOfPostgres}. */
interface MessageRow {
  readonly now: number;
  /** Null if all is written. */
  readonly head: string | null;
  readonly metadata: string | null;
  readonly state: string | null;
}

/** What the rows of {@link directWriteOfPostgres} say, and the server's time. */
export function messageAnswerOf(answer: readonly unknown[]): {
  readonly now: number | undefined;
  readonly result: MessageAnswer;
} {
  const rows = answer as readonly MessageRow[];
  const [first] = rows;
  if (first?.head === null) return { now: first.now, result: 'written' };
  return {
    now: first?.now,
    result: rows.map(({ head, metadata, state }) => headOfLines(head ?? '', metadata ?? '', state)),
  };
}

function createWriteCondition(tables: Tables, scopes: readonly PlannedGrowth[], time: TimeRange | undefined): Sql {
  return sql`
    ${time ? sql`AND ${new Sql(POSTGRES_NOW)} BETWEEN ${time.from} AND ${time.to}` : NO_SQL} ${haveRoom(tables, scopes)}`;
}

function updateOf(tables: Tables, sessions: readonly PlannedSession[], limits: Sql): Sql {
  const [only, ...others] = sessions;
  return only && others.length === 0 ? updateOne(tables, only, limits) : updateTogether(tables, sessions, limits);
}

function addedEvents(tables: Tables, { events }: PlannedRows): Sql {
  const [only, ...others] = events;
  if (!only) return NO_SQL;
  const added =
    others.length === 0
      ? sql`SELECT ${joinSql(
          valuesOfEvent(only).map(
            (value, place) => sql`CAST(${value} AS ${new Sql(EVENT_COLUMNS.types[place] ?? '')})`,
          ),
          ', ',
        )} FROM written LIMIT 1`
      : sql`SELECT v.* FROM ${unnest(
          EVENT_COLUMNS.types,
          events.map(valuesOfEvent),
        )} AS v(${EVENT_COLUMNS.names}) WHERE EXISTS (SELECT 1 FROM written)`;
  return sql`, added AS (INSERT INTO ${tables.events} (${EVENT_COLUMNS.names}) ${added})`;
}

/** Partial events that are complete. */
function endedPartials({ partials }: Tables, { endedPartials: all }: PlannedRows): Sql {
  const ended = all.flatMap(({ pk, ended: messages }) =>
    messages === 'all' ? [[pk, '']] : messages.map((message) => [pk, message]),
  );
  if (ended.length === 0) return NO_SQL;
  // No message id is empty.
  return sql`, ended AS (
    DELETE FROM ${partials} p USING ${unnest(['bigint', 'text'], ended)} AS v(owner, message)
    WHERE p.session_pk = v.owner AND v.message IN ('', p.message_id) AND EXISTS (SELECT 1 FROM written))`;
}

/** Those that replace others are not among those that end. */
function savedPartials({ partials: table }: Tables, { partials }: PlannedRows): Sql {
  if (partials.length === 0) return NO_SQL;
  return sql`, saved AS (
    INSERT INTO ${table} (${PARTIAL_COLUMNS.names})
    SELECT v.* FROM ${unnest(PARTIAL_COLUMNS.types, partials.map(valuesOfPartial))} AS v(${PARTIAL_COLUMNS.names})
    WHERE EXISTS (SELECT 1 FROM written) ${replacesPartial(postgresDialect)})`;
}

/** The index of metadata. */
function changedEntries({ sessionIndex }: Tables, sessions: readonly PlannedSession[]): Sql {
  const changes = sessions.map(({ indexed }) => ({ ...indexed, ...entryChanges(indexed) }));
  const removed = changes.flatMap((change) => change.removed.map((entry) => [change.pk, entry]));
  const added = changes.flatMap(({ pk, record, added: entries }) =>
    entries.map((entry) => [pk, entry, record.appName, record.userId, record.sessionId, record.createTime]),
  );
  return sql`
    ${
      removed.length > 0
        ? sql`, unindexed AS (
            DELETE FROM ${sessionIndex} i USING ${unnest(['bigint', 'text'], removed)} AS v(owner, entry)
            WHERE i.session_pk = v.owner AND i.entry = v.entry AND EXISTS (SELECT 1 FROM written))`
        : NO_SQL
    }
    ${
      added.length > 0
        ? sql`, indexed AS (
            INSERT INTO ${sessionIndex} (${INDEX_COLUMNS.names})
            SELECT v.* FROM ${unnest(INDEX_COLUMNS.types, added)} AS v
            WHERE EXISTS (SELECT 1 FROM written))`
        : NO_SQL
    }`;
}

/**
 * One statement that creates a session. Its rows are the state of user and app, and one with the session's key and the time, unless
 * there is a session with its ids. A wrong time, or too much state to read, violates NOT NULL.
 */
export function directCreateOfPostgres(tables: Tables, session: DirectCreate): Sql {
  const { record, state, entries, time, limits } = session;
  const { appName, userId, sessionId, createTime } = record;
  const now = new Sql(POSTGRES_NOW);
  const isOnTime = time && sql`${now} BETWEEN ${time.from} AND ${time.to}`;
  const source = { tables, dialect: postgresDialect, limits };
  const conditions = [isOnTime, areReadable(source, record)].filter((one) => one !== undefined);
  const timeIfMet =
    conditions.length > 0
      ? sql`CASE WHEN ${joinSql(conditions, ' AND ')} THEN CAST(${createTime} AS bigint) END`
      : undefined;
  const ownState = state.map(({ name, value }) => [name, value]);
  const own = sql`, own AS (
    INSERT INTO ${tables.sessionState} (session_pk, name, value)
    SELECT added.pk, v.name, v.value FROM added, ${unnest(['text', 'text'], ownState)} AS v(name, value))`;
  const indexed = sql`, indexed AS (
    INSERT INTO ${tables.sessionIndex} (${INDEX_COLUMNS.names})
    SELECT added.pk, v.* FROM added, ${unnest(
      INDEX_COLUMNS.types.slice(1),
      entries.map((entry) => [entry, appName, userId, sessionId, createTime]),
    )} AS v)`;
  return sql`
    WITH added AS (${insertOfSession(tables, session, timeIfMet)} ${UNLESS_THERE} RETURNING pk)
      ${state.length > 0 ? own : NO_SQL} ${entries.length > 0 ? indexed : NO_SQL}
    SELECT pk, ${now} AS now, NULL AS scope, NULL AS name, NULL AS value, NULL AS expires_at FROM added
    UNION ALL SELECT NULL, NULL, shared.* FROM (${selectSharedState(source, record)}) AS shared`;
}

/** Never waits for a session: it might expire meanwhile. One that stays as it is has no new version of its row. */
function updateOne({ sessions }: Tables, session: PlannedSession, limits: Sql): Sql {
  const { pk, guards, isUnchanged } = session;
  const unchanged = sql`SELECT pk FROM ${sessions} WHERE pk = ${pk} AND ${equalities(guards, ' AND ')} ${limits} FOR UPDATE SKIP LOCKED`;
  if (isUnchanged) return sql`written AS MATERIALIZED (${unchanged})`;
  return sql`
    locked AS MATERIALIZED (${unchanged}),
    written AS (
      UPDATE ${sessions} AS s SET ${equalities(allSets(session), ', ')} FROM locked WHERE s.pk = locked.pk RETURNING s.pk)`;
}

/** Never waits either, so that a locked session does not delay the others, and two batches cannot deadlock. */
function updateTogether({ sessions: table }: Tables, sessions: readonly PlannedSession[], limits: Sql): Sql {
  const guards = sessions[0]?.guards.map(([column]) => column) ?? [];
  const expected = sessions.map(({ pk, ...one }) => [pk, ...one.guards.map(([, value]) => value)]);
  const columns = new Sql(['pk', ...guards].join(', '));
  const isSame = new Sql(guards.map((column) => `s.${column} = v.${column}`).join(' AND '));
  return sql`
    v AS MATERIALIZED (SELECT * FROM ${unnest(typesOf(expected), expected)} AS v(${columns})),
    locked AS MATERIALIZED (
      SELECT s.pk FROM v JOIN ${table} s ON s.pk = v.pk WHERE ${isSame} ${limits} FOR UPDATE OF s SKIP LOCKED),
    written AS MATERIALIZED (SELECT 1 WHERE (SELECT COUNT(*) FROM locked) = (SELECT COUNT(*) FROM v))
    ${updates(table, sessions)}`;
}

function updates(table: Sql, sessions: readonly PlannedSession[]): Sql {
  const changed = sessions.filter(({ isUnchanged }) => !isUnchanged);
  const [first, ...others] = alikeSets(changed);
  if (!first) return NO_SQL;
  const rows = [first, ...others].map((sets, index) => [changed[index]?.pk ?? 0, ...sets.map(([, value]) => value)]);
  const columns = first.map(([column]) => column);
  const names = new Sql(['pk', ...columns].join(', '));
  const changes = new Sql(columns.map((column) => `${column} = c.${column}`).join(', '));
  return sql`, updated AS (
    UPDATE ${table} AS s SET ${changes} FROM ${unnest(typesOf(rows), rows)} AS c(${names})
    WHERE s.pk = c.pk AND EXISTS (SELECT 1 FROM written))`;
}

/**
 * The scopes must still exist, never expire, and have room. They are locked before all else, in the order of all transactions: the
 * checks of foreign keys, which need a lock, are the last part of the statement, and could deadlock.
 */
function haveRoom({ sharedScopes }: Tables, scopes: readonly PlannedGrowth[]): Sql {
  if (scopes.length === 0) return NO_SQL;
  const rooms = unnest(
    ['bigint', 'bigint'],
    scopes.map(({ pk, room }) => [pk, room]),
  );
  return sql`AND (
    SELECT COUNT(*) FROM (
      SELECT c.pk FROM ${rooms} AS v(pk, room) JOIN ${sharedScopes} c ON c.pk = v.pk
      WHERE c.expires_at = ${NEVER} AND c.state_bytes <= v.room
      ORDER BY c.app_name, c.user_id FOR NO KEY UPDATE OF c) lasting
  ) = ${scopes.length}`;
}

/** Adds to the sizes of scopes. */
function growth({ sharedScopes }: Tables, scopes: readonly PlannedGrowth[]): Sql {
  if (scopes.length === 0) return NO_SQL;
  const added = unnest(
    ['bigint', 'bigint'],
    scopes.map(({ pk, bytes }) => [pk, bytes]),
  );
  return sql`, grown AS (
    UPDATE ${sharedScopes} AS c SET state_bytes = c.state_bytes + v.bytes FROM ${added} AS v(pk, bytes)
    WHERE c.pk = v.pk AND EXISTS (SELECT 1 FROM written))`;
}

function upsert(name: Sql, table: Sql, owner: Sql, entries: readonly Entry[]): Sql {
  const rows = entries.flatMap((entry) =>
    entry.value === undefined ? [] : [[entry.ownerPk, entry.name, entry.value]],
  );
  if (rows.length === 0) return NO_SQL;
  return sql`, ${name} AS (
    INSERT INTO ${table} (${owner}, name, value)
    SELECT v.* FROM ${unnest(['bigint', 'text', 'text'], rows)} AS v(owner, name, value)
    WHERE EXISTS (SELECT 1 FROM written)
    ON CONFLICT (${owner}, name) DO UPDATE SET value = excluded.value RETURNING 1)`;
}

/**
 * Adds usage. PostgreSQL runs parts of a statement in any order, unless one reads what another one returns. All transactions
 * write shared state before shared usage, which prevents deadlocks.
 */
function addition(tables: Tables, rows: readonly UsageRow[], after: Sql | undefined): Sql {
  if (rows.length === 0) return NO_SQL;
  const { names, types } = USAGE_COLUMNS;
  return sql`, usage AS (
    INSERT INTO ${tables.sharedUsage} (${names})
    SELECT v.* FROM ${unnest(types, rows)} AS v(${names})
    WHERE EXISTS (SELECT 1 FROM written) ${after ? sql`AND (SELECT COUNT(*) FROM ${after}) > 0` : NO_SQL}
    ${addOnConflict(postgresDialect, tables)})`;
}

function removal(table: Sql, entries: readonly Entry[]): Sql {
  const rows = entries.flatMap((entry) => (entry.value === undefined ? [[entry.ownerPk, entry.name]] : []));
  if (rows.length === 0) return NO_SQL;
  return sql`, removed AS (
    DELETE FROM ${table} k USING ${unnest(['bigint', 'text'], rows)} AS v(owner, name)
    WHERE k.session_pk = v.owner AND k.name = v.name AND EXISTS (SELECT 1 FROM written))`;
}
