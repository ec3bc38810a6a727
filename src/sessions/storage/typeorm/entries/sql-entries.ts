import { placeText } from '../../../coordination/entry-view.js';
import { groupBy, inBatches } from '../../../domain/stored/batches.js';
import { expiresAt, isExpired } from '../../../domain/values/expiry.js';
import { compareBytes } from '../../../domain/values/ids.js';
import {
  type EntryCounts,
  type EntryOutcome,
  type EntryPlace,
  type EntryRange,
  type EntryStore,
  type EntryWrite,
  type FoundEntries,
  type NewEntry,
  PARKED,
  type StoredEntry,
} from '../../entry-store.js';
import { writtenEntry } from '../../written-entry.js';
import { ENTRIES } from '../schema/entry-table.js';
import { listColumns, type RowOf } from '../schema/table.js';
import { NO_SQL, Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import { BEGIN_LAZILY, type SqlTransaction, type Transactions } from '../sql/transaction.js';

type EntryRow = RowOf<typeof ENTRIES>;
type ComparedRow = Pick<EntryRow, 'space' | 'name' | 'stamp' | 'expires_at'>;

const COLUMNS = listColumns(ENTRIES).map(([name]) => name);
const SELECTED = new Sql(COLUMNS.map((name) => `n.${name}`).join(', '));
/** Limits the size of a statement. */
const PLACES_PER_STATEMENT = { items: 100 };
const ROWS_PER_INSERT = { items: 500, weight: 500_000, weightOf: ({ content }: EntryRow) => content.length };

/** Entries in one table. */
export class SqlEntries implements EntryStore {
  /** @param transactions of the database */
  constructor(private readonly transactions: Pick<Transactions, 'read' | 'write'>) {}

  find(places: readonly EntryPlace[]): ReturnType<EntryStore['find']> {
    return this.transactions.read((transaction) => entriesAt(transaction, places), BEGIN_LAZILY);
  }

  range({ space, from = Number.MIN_SAFE_INTEGER, upTo = PARKED, after, limit }: EntryRange): Promise<FoundEntries> {
    return this.transactions.read(async (transaction) => {
      const { tables, time } = transaction;
      const lowest = after ? Math.max(from, after.rank) : from;
      const follows = after ? sql`AND (n.entry_rank > ${after.rank} OR n.name > ${after.name})` : NO_SQL;
      const [rows = []] = await transaction.commitWith([
        sql`
          SELECT ${SELECTED} FROM ${tables.entries} n
          WHERE n.space = ${space} AND n.entry_rank >= ${lowest} AND n.entry_rank <= ${upTo === 'now' ? time : upTo}
            AND n.expires_at > ${time} ${follows}
          ORDER BY n.entry_rank, n.name LIMIT ${limit}`,
      ]);
      return { now: transaction.now, entries: (rows as EntryRow[]).map(toStoredEntry) };
    }, BEGIN_LAZILY);
  }

  /** Two messages. Who inserts an entry at the same time as another gets a duplicate key, begins again, and finds it. */
  write(writes: readonly EntryWrite[], news?: 'work'): Promise<EntryOutcome> {
    return this.transactions.write((transaction) => writeEntries(transaction, writes, news), {
      beginsLazily: writes.length > 0,
    });
  }

  count(space: string): Promise<EntryCounts> {
    return this.transactions.read(async (transaction) => {
      const { tables, time } = transaction;
      const [rows = []] = await transaction.commitWith([
        sql`
          SELECT COUNT(*) AS found, COUNT(CASE WHEN n.entry_rank = ${PARKED} THEN 1 END) AS parked,
            MIN(CASE WHEN n.entry_rank < ${PARKED} THEN n.since_time END) AS oldest
          FROM ${tables.entries} n WHERE n.space = ${space} AND n.expires_at > ${time}`,
      ]);
      const [{ found = 0, parked = 0, oldest = null } = {}] = rows as Partial<
        Record<'found' | 'parked' | 'oldest', number | string | null>
      >[];
      const oldestSince = oldest === null ? undefined : Number(oldest);
      return { now: transaction.now, waiting: Number(found) - Number(parked), oldestSince, parked: Number(parked) };
    }, BEGIN_LAZILY);
  }
}

/** Removes expired entries. Processes that purge at the same time skip each other's rows. */
export async function removeEntries(transaction: SqlTransaction, limit: number): Promise<void> {
  const { dialect, tables, now } = transaction;
  const rows = await transaction.rows<EntryPlace>(sql`
    SELECT n.space, n.name FROM ${tables.entries} n
    WHERE n.expires_at <= ${now} ORDER BY n.expires_at LIMIT ${limit} ${dialect.lockSkipLocked('n')}`);
  for (const some of inBatches(rows, PLACES_PER_STATEMENT)) {
    await transaction.change(sql`DELETE FROM ${tables.entries} WHERE (${isAt(some)}) AND expires_at <= ${now}`);
  }
}

async function writeEntries(
  transaction: SqlTransaction,
  writes: readonly EntryWrite[],
  news: 'work' | undefined,
): Promise<EntryOutcome> {
  const { dialect, tables } = transaction;
  const ordered = writes.toSorted((a, b) => compareBytes(a.space, b.space) || compareBytes(a.name, b.name));
  const rows: ComparedRow[] = [];
  for (const some of inBatches(ordered, PLACES_PER_STATEMENT)) {
    const locked = await transaction.lockedRows<ComparedRow>(sql`
      SELECT n.space, n.name, n.stamp, n.expires_at FROM ${tables.entries} n ${dialect.forceIndex(sql`PRIMARY`)}
      WHERE ${isAt(some)} ${dialect.lock('n', sql`n.space, n.name`)}`);
    rows.push(...locked);
  }
  const { now } = transaction;
  const live = rows.filter(({ expires_at: expiry }) => !isExpired(expiry, now));
  const stamps = new Map(live.map((row) => [placeText(row), row.stamp]));
  // Texts may be long, so they are read only if they are asked for.
  if (writes.some((write) => stamps.get(placeText(write)) !== write.expected)) {
    return { kind: 'changed', ...(await entriesAt(transaction, writes)) };
  }
  const stored = new Set(rows.map(placeText));
  const next = ordered.flatMap((write) => (isNew(write.next) ? [toEntryRow(write, write.next, now)] : []));
  const removed = ordered.filter((write) => write.next === undefined && stored.has(placeText(write)));
  const statements = [
    ...inBatches(removed, PLACES_PER_STATEMENT).map((some) => sql`DELETE FROM ${tables.entries} WHERE ${isAt(some)}`),
    ...insertion(
      transaction,
      next.filter((row) => stored.has(placeText(row))),
      true,
    ),
    ...insertion(
      transaction,
      next.filter((row) => !stored.has(placeText(row))),
      false,
    ),
  ];
  // A message has a maximum size, so what is long is sent piece by piece.
  const isLong = next.reduce((sum, { content }) => sum + content.length, 0) > ROWS_PER_INSERT.weight;
  for (const statement of isLong ? statements.splice(0) : []) await transaction.changeAll([statement]);
  transaction.addToCommit(statements);
  if (news) transaction.notifyConsumers(news);
  return { kind: 'written', now };
}

/** Ends the transaction. */
async function entriesAt(
  transaction: SqlTransaction,
  places: readonly EntryPlace[],
): Promise<{ readonly now: number; readonly entries: readonly (StoredEntry | undefined)[] }> {
  const queries = inBatches(places, PLACES_PER_STATEMENT).map(
    (some) => sql`SELECT ${SELECTED} FROM ${transaction.tables.entries} n WHERE ${isAt(some)}`,
  );
  const rows = (await transaction.commitWith(queries)).flat() as EntryRow[];
  const { now } = transaction;
  const live = rows.filter(({ expires_at: expiry }) => !isExpired(expiry, now));
  const entries = new Map(live.map((row) => [placeText(row), toStoredEntry(row)]));
  return { now, entries: places.map((place) => entries.get(placeText(place))) };
}

/** @param areStored whether the rows are there, and locked */
function insertion({ dialect, tables }: SqlTransaction, rows: readonly EntryRow[], areStored: boolean): Sql[] {
  const replacing = areStored ? dialect.onConflictSet(sql`space, name`, COLUMNS.slice(2)) : NO_SQL;
  return inBatches(rows, ROWS_PER_INSERT).map((some) => {
    const values = some.map((row) => sql`(${sqlList(COLUMNS.map((name) => row[name]))})`);
    return sql`INSERT INTO ${tables.entries} (${new Sql(COLUMNS.join(', '))}) VALUES ${joinSql(values, ', ')} ${replacing}`;
  });
}

function isNew(next: EntryWrite['next']): next is NewEntry {
  return next !== undefined && next !== 'same';
}

function toEntryRow(place: EntryPlace, next: NewEntry, now: number): EntryRow {
  const { space, name, stamp, rank, since, text } = writtenEntry(place, next, now);
  const times = { entry_rank: rank, since_time: since, expires_at: expiresAt(now, next) };
  return { space, name, stamp, ...times, content: text };
}

function toStoredEntry({
  space,
  name,
  stamp,
  entry_rank: rank,
  since_time: since,
  content: text,
}: EntryRow): StoredEntry {
  return { space, name, stamp, rank, since, text };
}

function isAt(places: readonly EntryPlace[]): Sql {
  const spaces = [...groupBy(places, ({ space }) => space)];
  return joinSql(
    spaces.map(([space, some]) => sql`space = ${space} AND name IN (${sqlList(some.map(({ name }) => name))})`),
    ' OR ',
  );
}
