import type { Commit, StoredEvent } from '../../domain/commit.js';
import { sessionNameOf } from '../../domain/ids.js';
import type { SessionRecord } from '../../domain/session-record.js';
import { groupedBy } from '../groups.js';
import { hasKey } from './session-lookup.js';
import {
  EVENT_COLUMNS,
  type EventRow,
  RECORD_COLUMNS,
  type RecordRow,
  recordOf,
  storedEventOf,
} from './session-rows.js';
import { type Sql, joinSql, sql, sqlList } from './sql.js';
import type { SqlTransaction } from './sql-transaction.js';

/** A session that commits go to, as it is after those that came before in the same transaction. */
export class CommitPlace {
  readonly #seen = new Map<string, StoredEvent>();
  /** Whether a commit changed what readers see of the log, which is rare and may be long. */
  hasNewMarks = false;

  constructor(
    readonly pk: number,
    public record: SessionRecord,
  ) {}

  /** The event of this id that the session holds. */
  seen(eventId: string): StoredEvent | undefined {
    return this.#seen.get(eventId);
  }

  remember(event: StoredEvent): void {
    this.#seen.set(event.id, event);
  }

  /** Makes room for the next commit, after this one. */
  take(event: StoredEvent, record: SessionRecord): void {
    this.hasNewMarks ||= record.marksSeq !== this.record.marksSeq;
    this.record = record;
    this.remember(event);
  }
}

/** What becomes of sessions that somebody else has locked. */
export type LockedSessions = 'wait for locked sessions' | 'set locked sessions aside';

/**
 * Locks the sessions of these commits, in one order, and looks whether their events are there already.
 * Answers a place for each commit, or nothing where there is no such session.
 */
export async function lockPlaces(
  transaction: SqlTransaction,
  commits: readonly Commit[],
  lockedSessions: LockedSessions,
): Promise<readonly (CommitPlace | undefined)[]> {
  const ofSessions = groupedBy(commits, ({ key }) => sessionNameOf(key));
  const [only, ...others] = ofSessions.values();
  if (!only) return [];
  const lock = lockOf(transaction, lockedSessions);
  const places =
    others.length === 0
      ? await lockOnePlace(transaction, only, lock(undefined))
      : await lockSeveral(transaction, ofSessions, lock(sql`s.pk`));
  return commits.map(({ key }) => places.get(sessionNameOf(key)));
}

/** The end of the statement that locks: whoever need not wait takes the rows in any order, since nobody waits for it in a circle. */
function lockOf({ dialect }: SqlTransaction, lockedSessions: LockedSessions): (order: Sql | undefined) => Sql {
  return lockedSessions === 'wait for locked sessions'
    ? (order) => dialect.lock('s', order)
    : () => dialect.lockFree('s');
}

type Places = Map<string, CommitPlace>;

/** The usual case: one look for the session and for the events together. */
async function lockOnePlace(transaction: SqlTransaction, commits: readonly Commit[], lock: Sql): Promise<Places> {
  const { tables } = transaction;
  const places: Places = new Map();
  const [first] = commits;
  if (!first) return places;
  const rows = await transaction.lockedRows<RecordRow & { seen_seq: number | null }>(sql`
    SELECT ${RECORD_COLUMNS}, e.seq AS seen_seq
    FROM ${tables.sessions} s LEFT JOIN ${tables.events} e ON e.session_pk = s.pk AND e.event_id IN (${idsOf(commits)})
    WHERE ${hasKey(first.key)} ${lock}`);
  const [row] = rows;
  if (!row) return places;
  const place = new CommitPlace(row.pk, recordOf(row));
  const seen = rows.flatMap(({ seen_seq: seq }) => (seq === null ? [] : [seq]));
  if (seen.length > 0) await rememberSeen(transaction, place, sql`seq IN (${sqlList(seen)})`);
  return places.set(sessionNameOf(first.key), place);
}

/** Two looks, since one for all pairs of sessions and events is more than databases do well. */
async function lockSeveral(transaction: SqlTransaction, ofSessions: Map<string, Commit[]>, lock: Sql): Promise<Places> {
  const { tables, dialect, sessionsKey } = transaction;
  const places: Places = new Map();
  const keys = [...ofSessions.values()].flatMap(([first]) => (first ? [sql`(${hasKey(first.key)})`] : []));
  const rows = await transaction.lockedRows<RecordRow>(sql`
    SELECT ${RECORD_COLUMNS} FROM ${tables.sessions} s ${dialect.foundBy(sessionsKey)}
    WHERE ${joinSql(keys, ' OR ')} ${lock}`);
  if (rows.length === 0) return places;
  const byPk = new Map<number, CommitPlace>();
  const wanted = rows.map((row) => {
    const place = new CommitPlace(row.pk, recordOf(row));
    byPk.set(row.pk, place);
    places.set(sessionNameOf(place.record), place);
    return sql`(session_pk = ${row.pk} AND event_id IN (${idsOf(ofSessions.get(sessionNameOf(place.record)) ?? [])}))`;
  });
  const seen = await transaction.rows<EventRow & { session_pk: number }>(
    sql`SELECT session_pk, ${EVENT_COLUMNS} FROM ${tables.events} WHERE ${joinSql(wanted, ' OR ')}`,
  );
  for (const row of seen) byPk.get(row.session_pk)?.remember(storedEventOf(row));
  return places;
}

/** Adds those events of the log to what is known of it. */
export async function rememberSeen(transaction: SqlTransaction, place: CommitPlace, which: Sql): Promise<void> {
  const rows = await transaction.rows<EventRow>(
    sql`SELECT ${EVENT_COLUMNS} FROM ${transaction.tables.events} WHERE session_pk = ${place.pk} AND ${which}`,
  );
  for (const row of rows) place.remember(storedEventOf(row));
}

function idsOf(commits: readonly Commit[]): Sql {
  return sqlList(commits.map(({ event }) => event.id));
}
