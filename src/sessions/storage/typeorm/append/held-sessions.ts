import { groupBy } from '../../../domain/stored/batches.js';
import type { StoredEvent } from '../../../domain/stored/commit.js';
import { sessionNameOf } from '../../../domain/values/ids.js';
import type { StateSize } from '../../../domain/stored/state-size.js';
import type { HeldSession, HoldRequest, SessionHead } from '../../planned-write.js';
import {
  columnsWith,
  EVENT_COLUMNS,
  type EventRow,
  hasKey,
  toSessionHead,
  METADATA_COLUMN,
  type MetadataRow,
  type RecordRow,
  toStoredEvent,
} from '../sql/session-rows.js';
import { joinSql, NO_SQL, type Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';
import { countState } from '../state/state-sizes.js';

/** How to lock sessions, and to read their events. */
export interface LockPolicy {
  readonly skipsLocked?: boolean;
  /** Whether the transaction may have read before it locked. Then only locking reads return the newest events. */
  readonly hasOldSnapshot?: boolean;
  /** Whether to read the events with locks at once. In MySQL such a read also locks gaps, so that it can cause deadlocks. */
  readonly locksEvents?: boolean;
}

export const WAIT_FOR_LOCKED: LockPolicy = {};
export const SKIP_LOCKED: LockPolicy = { skipsLocked: true };

/** A locked session. */
class LockedSession implements HeldSession {
  readonly events = new Map<string, StoredEvent>();
  readonly head: SessionHead;
  readonly pk: number;

  constructor(
    private readonly transaction: SqlTransaction,
    row: LockedRow,
    private readonly ids: readonly string[],
    private readonly hasOldSnapshot: boolean,
  ) {
    this.pk = row.pk;
    this.head = toSessionHead(row);
  }

  countState(): Promise<StateSize> {
    const { tables, dialect } = this.transaction;
    const rows = { table: tables.sessionState, owner: sql`session_pk`, pk: sql`${this.pk}` };
    return countState(this.transaction, rows, this.hasOldSnapshot ? dialect.lock('v') : NO_SQL);
  }

  /** After a wait for a lock, PostgreSQL returns the current row of the session, but the events from before the wait. */
  readonly readEvents = async (): Promise<ReadonlyMap<string, StoredEvent>> => {
    const lock = this.hasOldSnapshot ? this.transaction.dialect.lock('e') : NO_SQL;
    await this.load(sql`event_id IN (${sqlList(this.ids)}) ${lock}`);
    return this.events;
  };

  /** Loads the events that match. */
  async load(which: Sql): Promise<void> {
    const rows = await this.transaction.rows<EventRow>(
      sql`SELECT ${EVENT_COLUMNS} FROM ${this.transaction.tables.events} e WHERE session_pk = ${this.pk} AND ${which}`,
    );
    for (const row of rows) this.add(row);
  }

  add(row: EventRow): void {
    this.events.set(row.event_id, toStoredEvent(row));
  }
}

/** There is none, so no events either. */
const MISSING: HeldSession = {
  head: undefined,
  events: new Map(),
  countState: async () => ({ atMost: 0, entries: new Map() }),
};

type LockedRow = RecordRow & Partial<MetadataRow>;

/**
 * Locks sessions in one order and loads those of their events that are stored. Returns one for each request, or undefined for a
 * session that may be skipped.
 */
export async function holdSessions(
  transaction: SqlTransaction,
  requests: readonly HoldRequest[],
  policy: LockPolicy,
): Promise<readonly (HeldSession | undefined)[]> {
  const [only, ...others] = requests;
  if (!only) return [];
  const lock = lockClause(transaction, policy);
  // One statement would read the events before it has waited for the lock.
  const sessions =
    others.length === 0 && !policy.hasOldSnapshot
      ? await holdOne(transaction, only, lock(undefined))
      : await holdSeveral(transaction, requests, lock(sql`s.pk`), policy);
  const isSkipping = transaction.dialect.locksRows && policy.skipsLocked === true;
  return requests.map(({ key }) => sessions.get(sessionNameOf(key)) ?? (isSkipping ? undefined : MISSING));
}

/** With SKIP LOCKED the order does not matter, because a transaction that never waits cannot deadlock. */
function lockClause({ dialect }: SqlTransaction, { skipsLocked }: LockPolicy): (order: Sql | undefined) => Sql {
  return skipsLocked ? () => dialect.lockSkipLocked('s') : (order) => dialect.lock('s', order);
}

type SessionsByName = Map<string, LockedSession>;

function columnsFor(requests: readonly HoldRequest[]): Sql {
  return columnsWith(requests.some(({ withMetadata }) => withMetadata) ? METADATA_COLUMN : undefined);
}

/** The usual case: one statement for the session and its events. */
async function holdOne(transaction: SqlTransaction, request: HoldRequest, lock: Sql): Promise<SessionsByName> {
  const { tables } = transaction;
  const { key, ids } = request;
  const sessions: SessionsByName = new Map();
  // Without ids, an impossible one keeps the statement the same.
  const rows = await transaction.lockedRows<LockedRow & { stored_seq: number | null }>(sql`
    SELECT ${columnsFor([request])}, e.seq AS stored_seq
    FROM ${tables.sessions} s LEFT JOIN ${tables.events} e
      ON e.session_pk = s.pk AND e.event_id IN (${sqlList(ids.length > 0 ? ids : [''])})
    WHERE ${hasKey(key)} ${lock}`);
  const [row] = rows;
  if (!row) return sessions;
  const session = new LockedSession(transaction, row, ids, false);
  const seqs = rows.flatMap(({ stored_seq: seq }) => (seq === null ? [] : [seq]));
  if (seqs.length > 0) await session.load(sql`seq IN (${sqlList(seqs)})`);
  return sessions.set(sessionNameOf(key), session);
}

/** Two statements, because databases plan a join over many pairs of session and event badly. */
async function holdSeveral(
  transaction: SqlTransaction,
  requests: readonly HoldRequest[],
  lock: Sql,
  { locksEvents, hasOldSnapshot = false }: LockPolicy,
): Promise<SessionsByName> {
  const { tables, dialect, sessionsKey } = transaction;
  const sessions: SessionsByName = new Map();
  const keys = requests.map(({ key }) => sql`(${hasKey(key)})`);
  const rows = await transaction.lockedRows<LockedRow>(sql`
    SELECT ${columnsFor(requests)} FROM ${tables.sessions} s ${dialect.forceIndex(sessionsKey)}
    WHERE ${joinSql(keys, ' OR ')} ${lock}`);
  const idsByName = groupBy(requests, ({ key }) => sessionNameOf(key));
  const byPk = new Map<number, LockedSession>();
  const stored: Sql[] = [];
  for (const row of rows) {
    const name = sessionNameOf({ appName: row.app_name, userId: row.user_id, sessionId: row.session_id });
    const ids = (idsByName.get(name) ?? []).flatMap((request) => request.ids);
    const session = new LockedSession(transaction, row, ids, hasOldSnapshot);
    byPk.set(row.pk, session);
    sessions.set(name, session);
    if (ids.length > 0) stored.push(sql`(session_pk = ${row.pk} AND event_id IN (${sqlList(ids)}))`);
  }
  if (stored.length === 0) return sessions;
  const found = await transaction.rows<EventRow & { session_pk: number }>(
    sql`SELECT session_pk, ${EVENT_COLUMNS} FROM ${tables.events} e WHERE ${joinSql(stored, ' OR ')}
      ${locksEvents ? dialect.lock('e') : NO_SQL}`,
  );
  for (const row of found) byPk.get(row.session_pk)?.add(row);
  return sessions;
}
