import type { StoredEvent } from '../../../domain/stored/commit.js';
import { groupBy, inBatches } from '../../../domain/stored/batches.js';
import { isExpired } from '../../../domain/values/expiry.js';
import type { StoredPartial } from '../../../domain/stored/partial-event.js';
import type { LogTail, TailRequest } from '../../session-changes.js';
import { LastQueries } from '../sql/last-queries.js';
import { eventHead, eventOfLines, parsePrimaryKey } from '../sql/session-rows.js';
import { joinSql, NO_SQL, Sql, sql, sqlList } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** More logs of which nothing is read but where they end. */
const PER_STATEMENT = { items: 1_000, weight: 100, weightOf: (log: TailRequest) => (readsMore(log) ? 1 : 0.1) };
const PARTIALS_PER_STATEMENT = 1_000;
/** Larger events are read one log at a time. */
const MOST_BYTES = 8_192;

/** What a row is. */
const PART = { session: 0, event: 1, partial: 2, bytes: 3 } as const;

/**
 * Of a session, its last event, when it expires, and the last partial event if it is wanted; of an event or a partial event, the number, the head and the body;
 * of bytes, after which event and up to which one they were added up, and the sum.
 */
interface TailRow {
  readonly part: number;
  readonly pk: number;
  readonly number: number;
  readonly expiry: number;
  readonly head: string;
  /** Null if it was trimmed, or is too large. */
  readonly body: string | null;
}

/**
 * Reads what is new in many logs with one message: one statement for 100 of them, or for 1,000 of which nothing but the end is read. The incarnation
 * is the primary key of the session.
 */
export async function logTails(
  transaction: SqlTransaction,
  logs: readonly TailRequest[],
): Promise<(LogTail | undefined)[]> {
  const last = new LastQueries(transaction);
  const portions = inBatches(logs, PER_STATEMENT).map((portion) => ({
    portion,
    rows: last.add<TailRow>(selectTails(transaction, portion)),
  }));
  await last.run();
  return portions.flatMap(({ portion, rows }) => {
    const found = groupBy(rows(), ({ pk }) => pk);
    const isWhole =
      portion.length === 1 || rows().filter(({ part }) => part === PART.partial).length < PARTIALS_PER_STATEMENT;
    return portion.map((log) =>
      toLogTail(log, found.get(parsePrimaryKey(log)) ?? [], { now: transaction.now, isWhole }),
    );
  });
}

/** Whether events or partial events may have to be looked at. */
function readsMore({ limit, afterPartial, bytesTo }: TailRequest): boolean {
  return limit > 0 || afterPartial !== undefined || bytesTo !== undefined;
}

/** One statement, which sees one snapshot. A range for each log, so that its length does not matter. */
function selectTails({ tables, dialect }: SqlTransaction, logs: readonly TailRequest[]): Sql {
  const isAlone = logs.length === 1;
  const followsPartials = logs.filter(({ afterPartial }) => afterPartial !== undefined);
  const lastPartial = sql`COALESCE((SELECT MAX(number) FROM ${tables.partials} p WHERE p.session_pk = s.pk), 0)`;
  const head = logs.some(({ withLastPartial }) => withLastPartial) ? dialect.lines([lastPartial]) : sql`''`;
  const followsEvents = logs.filter(({ limit }) => limit > 0);
  const ranges = followsEvents.map(
    (log) =>
      sql`(session_pk = ${parsePrimaryKey(log)} AND seq BETWEEN ${log.afterSeq + 1} AND ${log.afterSeq + log.limit})`,
  );
  const later = followsPartials.map(
    (log) => sql`(session_pk = ${parsePrimaryKey(log)} AND number > ${log.afterPartial ?? 0})`,
  );
  const branches = [
    sql`
      SELECT ${toTailPartNumber('session')} AS part, s.pk, s.last_seq AS number, s.expires_at AS expiry, ${head} AS head, '' AS body
      FROM ${tables.sessions} s WHERE s.pk IN (${sqlList(logs.map(parsePrimaryKey))})`,
  ];
  if (ranges.length > 0) {
    branches.push(sql`
      SELECT ${toTailPartNumber('event')}, session_pk, seq, 0, ${eventHead(dialect)},
        CASE WHEN ${dialect.bytesOf(new Sql('payload'))} <= ${MOST_BYTES} THEN payload END
      FROM ${tables.events} WHERE ${joinSql(ranges, ' OR ')}`);
  }
  if (later.length > 0) {
    branches.push(sql`
      SELECT * FROM (
        SELECT ${toTailPartNumber('partial')} AS part, session_pk, number, expires_at,
          ${dialect.lines([new Sql('after_seq'), new Sql('message_id')])} AS head,
          ${isAlone ? new Sql('content') : sql`CASE WHEN ${dialect.bytesOf(new Sql('content'))} <= ${MOST_BYTES} THEN content END`} AS body
        FROM ${tables.partials} WHERE ${joinSql(later, ' OR ')}
        ORDER BY session_pk, number ${isAlone ? NO_SQL : sql`LIMIT ${PARTIALS_PER_STATEMENT}`}
      ) AS newest`);
  }
  for (const log of logs)
    if (log.bytesTo !== undefined) branches.push(selectBytes({ tables, dialect }, log, log.bytesTo));
  return joinSql(branches, ' UNION ALL ');
}

/** As text, since databases have other types for sums. */
function selectBytes(
  { tables, dialect }: Pick<SqlTransaction, 'tables' | 'dialect'>,
  log: TailRequest,
  bytesTo: number,
): Sql {
  const { afterSeq } = log;
  const base = sql`CASE WHEN s.first_seq > ${afterSeq} THEN ${dialect.bytesOf(new Sql('s.base_state'))} ELSE 0 END`;
  const payloads = sql`
    SELECT COALESCE(SUM(${dialect.bytesOf(new Sql('payload'))}), 0) FROM ${tables.events} e
    WHERE e.session_pk = s.pk AND e.seq BETWEEN ${afterSeq + 1} AND ${bytesTo}`;
  return sql`
    SELECT ${toTailPartNumber('bytes')}, s.pk, ${afterSeq}, ${bytesTo}, ${dialect.lines([sql`${base} + (${payloads})`])}, ''
    FROM ${tables.sessions} s WHERE s.pk = ${parsePrimaryKey(log)}`;
}

function toTailPartNumber(name: keyof typeof PART): Sql {
  return new Sql(String(PART[name]));
}

function toLogTail(
  { afterSeq, afterPartial, limit, withLastPartial, bytesTo }: TailRequest,
  rows: readonly TailRow[],
  { now, isWhole }: { readonly now: number; readonly isWhole: boolean },
): LogTail | undefined {
  const session = rows.find(({ part }) => part === PART.session);
  if (!session || isExpired(session.expiry, now)) return undefined;
  const after = (wanted: number, number: number): TailRow[] =>
    rows.filter((row) => row.part === wanted && row.number > number).sort((a, b) => a.number - b.number);
  const events = followingIn(after(PART.event, afterSeq).slice(0, limit), afterSeq);
  const partials = afterPartial === undefined ? [] : after(PART.partial, afterPartial);
  const bytes = rows.find((row) => row.part === PART.bytes && row.number === afterSeq && row.expiry === bytesTo);
  const hasPartials = afterPartial !== undefined && isWhole && partials.every(({ body }) => body !== null);
  return {
    lastSeq: session.number,
    livesForMs: session.expiry - now,
    events,
    ...(withLastPartial && { lastPartial: Number(session.head) }),
    ...(hasPartials && { partials: partials.filter(({ expiry }) => !isExpired(expiry, now)).map(toStoredPartial) }),
    ...(bytes && { bytes: Number(bytes.head) }),
  };
}

/** Up to the first one that is missing. */
function followingIn(rows: readonly TailRow[], afterSeq: number): StoredEvent[] {
  const events: StoredEvent[] = [];
  for (const { number: seq, head, body: payload } of rows) {
    if (seq !== afterSeq + events.length + 1 || payload === null) break;
    events.push(eventOfLines({ seq, head, payload }));
  }
  return events;
}

function toStoredPartial({ number, expiry: expiresAt, head, body }: TailRow): StoredPartial {
  const [afterSeq, messageId = ''] = head.split('\n');
  return { number, afterSeq: Number(afterSeq), messageId, content: body ?? '', expiresAt };
}
