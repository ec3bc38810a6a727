import { types } from 'node:util';
import { TransferFileError } from '../transfer-errors.js';

/** A row with its columns by name. */
export type ForeignRow = Readonly<Record<string, unknown>>;

/** A database of another system, which is only read. */
export interface ForeignDatabase {
  readonly dialect: 'sqlite' | 'mysql' | 'postgres';
  /**
   * Runs a query, such as `dataSource.query` of TypeORM. Parameters are `?`, on PostgreSQL `$1`, `$2`.
   */
  readonly query: (statement: string, parameters: unknown[]) => Promise<unknown>;
}

const ROWS_PER_PAGE = 500;

/** Reads the rows of a query that has an order, page by page. Its parameters are written as `?`. */
export async function* readForeignRows(
  database: ForeignDatabase,
  statement: string,
  parameters: readonly string[] = [],
): AsyncGenerator<ForeignRow> {
  for (let offset = 0; ; offset += ROWS_PER_PAGE) {
    const page = await query(database, `${statement} LIMIT ${ROWS_PER_PAGE} OFFSET ${offset}`, parameters);
    yield* page;
    if (page.length < ROWS_PER_PAGE) return;
  }
}

/** The rows of a query. */
export async function query(
  { query: run, dialect }: ForeignDatabase,
  statement: string,
  parameters: readonly string[] = [],
): Promise<readonly ForeignRow[]> {
  let number = 0;
  const text = dialect === 'postgres' ? statement.replaceAll('?', () => `$${++number}`) : statement;
  const found = await run(text, [...parameters]);
  if (!Array.isArray(found)) throw new TransferFileError('`query` must return the rows of a query');
  return found as readonly ForeignRow[];
}

/** The names of the columns of a table; none if there is no such table. */
export async function readColumnNames(database: ForeignDatabase, table: string): Promise<ReadonlySet<string>> {
  const rows =
    database.dialect === 'sqlite'
      ? await query(database, `SELECT name AS column_name FROM pragma_table_info('${table}')`)
      : await query(
          database,
          `SELECT column_name AS column_name FROM information_schema.columns WHERE table_name = ? AND table_schema = ${
            database.dialect === 'mysql' ? 'DATABASE()' : 'ANY (current_schemas(false))'
          }`,
          [table],
        );
  return new Set(rows.map(({ column_name: name }) => String(name)));
}

/** The text of a value that is text or a number, or else `missing`. */
export function toForeignText(value: unknown, missing = ''): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value) : missing;
}

/** The bytes of a value, as drivers return them. */
export function toBytes(value: unknown): Uint8Array | undefined {
  if (types.isUint8Array(value)) return value;
  return types.isAnyArrayBuffer(value) ? new Uint8Array(value) : undefined;
}

/** A value of a JSON column: some drivers parse it, and some return its text. */
export function parseJsonColumn(value: unknown): unknown {
  const bytes = toBytes(value);
  if (bytes) return parseJsonColumn(Buffer.from(bytes).toString());
  if (typeof value !== 'string') return value ?? undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    throw new TransferFileError('a column that should have JSON has other text');
  }
}

/** An object of a JSON column. */
export function parseForeignObject(value: unknown): Record<string, unknown> {
  const parsed = parseJsonColumn(value);
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  return isObject ? (parsed as Record<string, unknown>) : {};
}

/** Numbers below are seconds. */
const FEWEST_MILLISECONDS = 1e11;

/** A time of a column or a field, in milliseconds. Text without a time zone is in UTC. */
export function parseForeignTime(value: unknown): number | undefined {
  if (value instanceof Date) return parseForeignTime(value.getTime());
  if (typeof value === 'bigint') return parseForeignTime(Number(value));
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || value < 0) return undefined;
    return Math.round(value < FEWEST_MILLISECONDS ? value * 1_000 : value);
  }
  if (typeof value !== 'string' || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return parseForeignTime(Number(value));
  const zoned = /(Z|[+-]\d{2}:?\d{2}|[+-]\d{2})$/.test(value) ? value : `${value}Z`;
  const time = Date.parse(zoned.replace(' ', 'T').replace(/([+-]\d{2})$/, '$1:00'));
  return Number.isNaN(time) ? undefined : time;
}
