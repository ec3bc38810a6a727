import type { UserKey } from '../../../domain/values/ids.js';
import type { WeightedGroup } from '../../../domain/search/search-groups.js';
import type { SearchTerm } from '../../../domain/search/terms.js';
import type { FoundEvent, SearchEntry, SearchIndex, SearchQuery, SearchScope } from '../../search-index.js';
import type { OpenDatabase } from '../connect/lazy-database.js';
import type { Dialect } from '../sql/dialect.js';
import { hasAllEntries, parsePrimaryKey } from '../sql/session-rows.js';
import { joinSql, NO_SQL, Sql, sql, sqlList } from '../sql/sql.js';
import { BEGIN_LAZILY, type SqlTransaction } from '../sql/transaction.js';
import type { SearchPlace } from './search-place.js';

/** A transaction, and where the index is. */
interface Access {
  readonly transaction: SqlTransaction;
  readonly place: SearchPlace;
}

/** The index of a database, with its own index of words. */
export class SqlSearch implements SearchIndex {
  #opening: Promise<void> | undefined;

  constructor(private readonly openDatabase: () => Promise<OpenDatabase>) {}

  /** After a failure, the next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async add(entries: readonly SearchEntry[], trimsLog: boolean): Promise<void> {
    const { transactions, search: place } = await this.#opened();
    await transactions.write(async (transaction) => {
      const access = { transaction, place };
      const pks = trimsLog ? [...new Set(entries.map(parsePrimaryKey))] : [];
      transaction.addToCommit([
        ...entries.map((entry) => insertion(access, entry)),
        ...pks.map((pk) => removalOfTrimmed(access, pk)),
      ]);
    });
  }

  async replace(incarnation: string, eventId: string, entry: SearchEntry | undefined): Promise<void> {
    const { transactions, search: place } = await this.openDatabase();
    // Whoever redacts an event need not be who searches.
    if (!(await place.isThere())) return;
    await transactions.write(async (transaction) => {
      const pk = parsePrimaryKey({ incarnation });
      const removed = await transaction.change(
        sql`DELETE FROM ${place.table} WHERE session_pk = ${pk} AND seq IN
          (SELECT e.seq FROM ${transaction.tables.events} e WHERE e.session_pk = ${pk} AND e.event_id = ${eventId})`,
      );
      if (removed > 0 && entry) transaction.addToCommit([insertion({ transaction, place }, entry)]);
    });
  }

  async counts(scope: SearchScope, terms: readonly SearchTerm[]): Promise<number[]> {
    const { transactions, search: place } = await this.#opened();
    const rows = await transactions.read(async (transaction) => {
      const access = { transaction, place };
      const counts = terms.map(
        (term, index) => sql`SELECT ${index} AS term, COUNT(*) AS found ${fromMatching(access, scope, [term])}`,
      );
      return (await transaction.commitWith([joinSql(counts, ' UNION ALL ')]))[0] as CountRow[];
    }, BEGIN_LAZILY);
    const found = new Map(rows.map((row) => [Number(row.term), Number(row.found)]));
    return terms.map((_, index) => found.get(index) ?? 0);
  }

  async search(query: SearchQuery): Promise<FoundEvent[]> {
    const { transactions, search: place } = await this.#opened();
    const rows = await transactions.read(
      async (transaction) => (await transaction.commitWith([hits({ transaction, place }, query)]))[0] as HitRow[],
      BEGIN_LAZILY,
    );
    return rows.map(foundEvent);
  }

  async clear(owner: Partial<UserKey>, limit: number): Promise<number> {
    const { transactions, search: place } = await this.#opened();
    return transactions.write(async (transaction) => {
      const rows = await transaction.rows<{ pk: number }>(sql`
        SELECT x.pk FROM ${place.table} x JOIN ${transaction.tables.sessions} s ON s.pk = x.session_pk
        WHERE ${createOwnerCondition(owner)} LIMIT ${limit}`);
      if (rows.length === 0) return 0;
      return transaction.change(sql`DELETE FROM ${place.table} WHERE pk IN (${sqlList(rows.map(({ pk }) => pk))})`);
    });
  }

  async #open(): Promise<void> {
    const { transactions, search } = await this.openDatabase();
    await search.prepare(transactions);
  }

  async #opened(): Promise<OpenDatabase> {
    await this.open();
    return this.openDatabase();
  }
}

interface CountRow {
  readonly term: number | string;
  readonly found: number | string;
}

/** Sums and large numbers are texts in some drivers. */
interface HitRow extends Readonly<Record<'weight' | 'said_at' | 'seq', number | string>> {
  readonly session_id: string;
  readonly event_id: string;
  readonly author: string;
  readonly content: string;
}

function foundEvent(row: HitRow): FoundEvent {
  return {
    weight: Number(row.weight),
    at: Number(row.said_at),
    seq: Number(row.seq),
    sessionId: row.session_id,
    id: row.event_id,
    author: row.author,
    text: row.content,
  };
}

/** The places of a page first, then what they hold: to sort whole texts costs more. */
function hits(access: Access, { groups, limit, position, ...scope }: SearchQuery): Sql {
  const { place, transaction } = access;
  const { events } = transaction.tables;
  const { number } = WORDS[transaction.dialect.name];
  const found = groups.map(
    ({ words, weight }) =>
      sql`SELECT x.pk, x.said_at, s.session_id, x.seq, ${new Sql(String(Math.trunc(weight)))} AS weight ${fromMatching(access, scope, words)}`,
  );
  const before = position
    ? sql`HAVING SUM(g.weight) < ${position.weight} OR (SUM(g.weight) = ${position.weight} AND
        (g.said_at < ${position.at} OR (g.said_at = ${position.at} AND
          (g.session_id < ${position.sessionId} OR (g.session_id = ${position.sessionId} AND g.seq < ${number(position.seq)})))))`
    : NO_SQL;
  return sql`
    SELECT p.weight, p.said_at, p.seq, p.session_id, x.author, x.content, e.event_id FROM (
      SELECT g.pk, g.said_at, g.session_id, g.seq, SUM(g.weight) AS weight FROM (${joinSql(found, ' UNION ALL ')}) g
      GROUP BY g.pk, g.said_at, g.session_id, g.seq ${before}
      ORDER BY weight DESC, g.said_at DESC, g.session_id DESC, g.seq DESC LIMIT ${limit}
    ) p JOIN ${place.table} x ON x.pk = p.pk
      JOIN ${events} e ON e.session_pk = x.session_pk AND e.seq = x.seq
    ORDER BY p.weight DESC, p.said_at DESC, p.session_id DESC, p.seq DESC`;
}

/** The owner is a condition of its own: terms of others could be the same. An event must be in the log. */
function fromMatching(
  { transaction: { tables, dialect, time }, place }: Access,
  { appName, userId, sessionId, afterTimestamp, entries }: SearchScope,
  words: WeightedGroup<SearchTerm>['words'],
): Sql {
  const { sessions, events } = tables;
  const { matching, first } = WORDS[dialect.name];
  return sql`
    FROM (SELECT y.pk, y.session_pk, y.seq, y.said_at FROM ${place.table} y WHERE ${matching(place, words)} ${first}) x
      JOIN ${sessions} s ON s.pk = x.session_pk
      JOIN ${events} e ON e.session_pk = x.session_pk AND e.seq = x.seq
    WHERE ${createOwnerCondition({ appName, userId })} AND s.expires_at > ${time} AND e.payload IS NOT NULL
      ${sessionId === undefined ? NO_SQL : sql`AND s.session_id = ${sessionId}`}
      ${afterTimestamp === undefined ? NO_SQL : sql`AND x.said_at >= ${afterTimestamp}`}
      ${entries.length === 0 ? NO_SQL : sql`AND ${hasAllEntries(tables, new Sql('s.pk'), entries)}`}`;
}

/** Takes the place from the log, so that nothing is added whose event is gone. */
function insertion({ transaction: { tables, dialect }, place }: Access, entry: SearchEntry): Sql {
  const { stored, number, locked } = WORDS[dialect.name];
  return sql`
    INSERT INTO ${place.table} (session_pk, seq, author, said_at, content, words)
    SELECT e.session_pk, e.seq, ${entry.author}, ${number(entry.at)}, ${entry.text}, ${stored(entry.terms.join(' '))}
    FROM ${tables.events} e WHERE e.session_pk = ${parsePrimaryKey(entry)} AND e.seq = ${entry.seq} AND e.payload IS NOT NULL ${locked}
    ${dialect.onConflictSet(sql`session_pk, seq`, ['author'])}`;
}

function removalOfTrimmed({ transaction: { tables }, place }: Access, pk: number): Sql {
  return sql`
    DELETE FROM ${place.table}
    WHERE session_pk = ${pk} AND seq < (SELECT s.first_seq FROM ${tables.sessions} s WHERE s.pk = ${pk})`;
}

function createOwnerCondition({ appName, userId }: Partial<UserKey>): Sql {
  const conditions = [
    ...(appName === undefined ? [] : [sql`s.app_name = ${appName}`]),
    ...(userId === undefined ? [] : [sql`s.user_id = ${userId}`]),
  ];
  return conditions.length === 0 ? sql`1 = 1` : joinSql(conditions, ' AND ');
}

/** How a database finds words. */
interface WordIndex {
  /** The rows `y` that have all of the terms. */
  readonly matching: (place: SearchPlace, terms: readonly SearchTerm[]) => Sql;
  /** Ends the SELECT of these rows, so that they are found first: they are few, and a user may have many sessions. */
  readonly first: Sql;
  /** Terms as they are stored, from a text with a space between them. */
  readonly stored: (terms: string) => Sql;
  readonly number: (value: number) => Sql;
  /** Ends a SELECT of `e`: an event that is being deleted is waited for. */
  readonly locked: Sql;
}

const WORDS: Readonly<Record<Dialect['name'], WordIndex>> = {
  sqlite: {
    matching: ({ words }, terms) =>
      sql`y.pk IN (SELECT rowid FROM ${words} WHERE ${words} MATCH ${written(terms, ' AND ', (term, star) => `"${term}"${star}`)})`,
    first: NO_SQL,
    stored: (terms) => sql`${terms}`,
    number: (value) => sql`${value}`,
    locked: NO_SQL,
  },
  mysql: {
    matching: (_place, terms) =>
      sql`MATCH (y.words) AGAINST (${written(terms, ' ', (term, star) => `+${term}${star}`)} IN BOOLEAN MODE)`,
    first: NO_SQL,
    stored: (terms) => sql`${terms}`,
    number: (value) => sql`${value}`,
    locked: NO_SQL,
  },
  postgres: {
    matching: (_place, terms) =>
      sql`y.words @@ CAST(${written(terms, ' & ', (term, star) => `'${term}'${star && ':*'}`)} AS tsquery)`,
    first: sql`OFFSET 0`,
    stored: (terms) => sql`array_to_tsvector(string_to_array(${terms}, ' '))`,
    number: (value) => sql`CAST(${value} AS bigint)`,
    locked: sql`FOR KEY SHARE OF e`,
  },
};

/** Terms are small letters and digits. Anything else could be an operator. */
function written(
  terms: readonly SearchTerm[],
  between: string,
  write: (term: string, star: '*' | '') => string,
): string {
  return terms
    .map(({ term, isBeginning }) => {
      if (!/^[a-z0-9]+$/.test(term)) throw new Error('A term of a search has characters of a query language');
      return write(term, isBeginning ? '*' : '');
    })
    .join(between);
}
