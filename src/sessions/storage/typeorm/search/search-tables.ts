import { columnType } from '../schema/column-types.js';
import { type Naming, formatTablePath } from '../schema/create-tables.js';
import type { Dialect } from '../sql/dialect.js';
import { EVENTS } from '../schema/session-tables.js';
import type { ColumnKind } from '../schema/table.js';

/** An event as it is found. It is deleted with its event. */
export const SEARCH = 'agent_search';
/** Of SQLite: the words of the rows of the table, kept by triggers. */
export const SEARCH_WORDS = 'agent_search_words';

/** The columns that the store reads and writes. */
export const SEARCH_COLUMNS = ['pk', 'session_pk', 'seq', 'author', 'said_at', 'content', 'words'] as const;

/** The statements that make the index, where it is not there. */
export function createSearch(naming: Naming): string[] {
  return CREATE[naming.dialect.name](naming, formatTablePath(naming, SEARCH));
}

/** The statements that remove it. */
export function dropSearch(naming: Naming): string[] {
  const words =
    naming.dialect.name === 'sqlite' ? [`DROP TABLE IF EXISTS ${formatTablePath(naming, SEARCH_WORDS)}`] : [];
  return [...words, `DROP TABLE IF EXISTS ${formatTablePath(naming, SEARCH)}`];
}

const CREATE: Readonly<Record<Dialect['name'], (naming: Naming, table: string) => string[]>> = {
  sqlite(naming, table) {
    const words = formatTablePath(naming, SEARCH_WORDS);
    const trigger = (name: string): string => naming.escape(`${naming.prefix}${SEARCH}_${name}`);
    return [
      `CREATE TABLE IF NOT EXISTS ${table} (${naming.escape('pk')} integer PRIMARY KEY AUTOINCREMENT NOT NULL, ${columns(naming, 'text')})`,
      // The words are small letters and digits. Their places do not matter.
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${words} USING fts5(words, content='${naming.prefix}${SEARCH}', content_rowid='pk', tokenize='ascii', detail='none', columnsize=0)`,
      `CREATE TRIGGER IF NOT EXISTS ${trigger('added')} AFTER INSERT ON ${table} BEGIN INSERT INTO ${words} (rowid, words) VALUES (new.pk, new.words); END`,
      `CREATE TRIGGER IF NOT EXISTS ${trigger('removed')} AFTER DELETE ON ${table} BEGIN INSERT INTO ${words} (${words}, rowid, words) VALUES ('delete', old.pk, old.words); END`,
    ];
  },
  mysql(naming, table) {
    const words = naming.escape('words');
    return [
      `CREATE TABLE IF NOT EXISTS ${table} (${naming.escape('pk')} bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, ` +
        `${columns(naming, 'longtext CHARACTER SET ascii COLLATE ascii_bin')}, ` +
        `FULLTEXT INDEX ${naming.escape(`${naming.prefix}${SEARCH}_by_words`)} (${words})) ENGINE=InnoDB`,
    ];
  },
  postgres(naming, table) {
    const index = naming.escape(`${naming.prefix}${SEARCH}_by_words`);
    return [
      `CREATE TABLE IF NOT EXISTS ${table} (${naming.escape('pk')} bigserial PRIMARY KEY, ${columns(naming, 'tsvector')})`,
      // Without a list of pending words, which each search would read.
      `CREATE INDEX IF NOT EXISTS ${index} ON ${table} USING gin (${naming.escape('words')}) WITH (fastupdate = off)`,
    ];
  },
};

/** All columns but the key. An entry belongs to its event, so that large logs are deleted in batches together with it. */
function columns(naming: Naming, typeOfWords: string): string {
  const { escape, prefix } = naming;
  const named = (name: string): string => escape(`${prefix}${SEARCH}_${name}`);
  const place = `(${escape('session_pk')}, ${escape('seq')})`;
  return [
    `${escape('session_pk')} ${formatColumnType(naming, 'key')} NOT NULL`,
    `${escape('seq')} ${formatColumnType(naming, 'count')} NOT NULL`,
    `${escape('author')} ${formatColumnType(naming, 'text')} NOT NULL`,
    `${escape('said_at')} ${formatColumnType(naming, 'number')} NOT NULL`,
    `${escape('content')} ${formatColumnType(naming, 'text')} NOT NULL`,
    `${escape('words')} ${typeOfWords} NOT NULL`,
    `CONSTRAINT ${named('place')} UNIQUE ${place}`,
    `CONSTRAINT ${named('event')} FOREIGN KEY ${place} REFERENCES ${formatTablePath(naming, EVENTS.name)} ${place} ON DELETE CASCADE ON UPDATE NO ACTION`,
  ].join(', ');
}

function formatColumnType({ dialect, escape }: Naming, kind: ColumnKind): string {
  const { type, charset, collation } = columnType(dialect.name, { kind });
  return [type, charset && `CHARACTER SET ${charset}`, collation && `COLLATE ${escape(collation)}`]
    .filter((part) => part !== undefined)
    .join(' ');
}
