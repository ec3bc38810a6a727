/** What a column holds. Each database has its own type for it. */
export interface Column {
  readonly kind: ColumnKind;
  /** The most bytes of `exact` text. */
  readonly bytes?: number;
  readonly isNullable?: boolean;
}

/**
 * - `generatedKey`: a number that the database gives to each row, and never again
 * - `key`: a reference to a generated key
 * - `count`: a small integer
 * - `number`: a time, or a large sum
 * - `exact`: text with a maximum number of bytes that compares byte by byte
 * - `text`: text of any length that is never compared
 */
export type ColumnKind = 'generatedKey' | 'key' | 'count' | 'number' | 'exact' | 'text';

/** The index of some columns, in this order. */
export interface Index<Name extends string = string> {
  readonly columns: readonly Name[];
  readonly isUnique?: boolean;
  /** Only these rows are in the index, where a database can leave out the others. */
  readonly only?: {
    readonly where: string;
    /** The columns where a database cannot. */
    readonly else: readonly Name[];
  };
}

/** A table: what creates it, what TypeORM knows of it, and the types of its rows follow from this. */
export interface Table<Columns extends Readonly<Record<string, Column>> = Readonly<Record<string, Column>>> {
  readonly name: string;
  readonly columns: Columns;
  readonly primaryKey: readonly string[];
  /**
   * The table of their parents: the first column of the primary key is the `pk` of one. A row is deleted with its parent. All keys
   * begin with it, so that the rows of a parent stay together, also in partitions.
   */
  readonly parent?: string;
  /** How full PostgreSQL makes pages, in percent. The rest is for new versions of rows that change often. Default: 100. */
  readonly fillFactor?: number;
  /** By name, which other tables have no index of, since some databases do not allow it. */
  readonly indexes?: Readonly<Record<string, Index>>;
}

/** A table whose keys and indexes name its own columns. */
interface CheckedTable<Columns extends Readonly<Record<string, Column>>> extends Table<Columns> {
  readonly primaryKey: readonly (keyof Columns & string)[];
  readonly indexes?: Readonly<Record<string, Index<keyof Columns & string>>>;
}

/**
 * Describes a table.
 *
 * @example
 * const ENTRIES = table({
 *   name: 'agent_entries',
 *   columns: { space: exact(400), name: exact(1_024), expires_at: number },
 *   primaryKey: ['space', 'name'],
 *   indexes: { agent_entries_by_expiry: index(['expires_at']) },
 * });
 */
export function table<const Columns extends Readonly<Record<string, Column>>>(
  description: CheckedTable<Columns>,
): Table<Columns> {
  return description;
}

/** A row of a table, as drivers return it. */
export type RowOf<Of extends Table> = { readonly [Name in keyof Of['columns']]: ValueOf<Of['columns'][Name]> };

type ValueOf<Of extends Column> =
  (Of['kind'] extends 'exact' | 'text' ? string : number) | (Of extends { readonly isNullable: true } ? null : never);

export const generatedKey = { kind: 'generatedKey' } as const;
export const key = { kind: 'key' } as const;
export const count = { kind: 'count' } as const;
export const number = { kind: 'number' } as const;
export const text = { kind: 'text' } as const;
export const textOrNull = { kind: 'text', isNullable: true } as const;
/** An id of a client. */
export const id = exact(191);

export function exact(bytes: number): { readonly kind: 'exact'; readonly bytes: number } {
  return { kind: 'exact', bytes };
}

export function index<const Name extends string>(columns: readonly Name[]): Index<Name> {
  return { columns };
}

export function unique<const Name extends string>(columns: readonly Name[]): Index<Name> {
  return { columns, isUnique: true };
}

/** The columns of a table, in their order. */
export function listColumns<Columns extends Readonly<Record<string, Column>>>({
  columns,
}: Table<Columns>): [name: keyof Columns & string, column: Column][] {
  return Object.entries(columns);
}

/** The indexes of a table, in a database that can leave out rows, or not. */
export function indexesOf(
  { indexes = {} }: Table,
  canLeaveOutRows: boolean,
): {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isUnique: boolean;
  readonly where?: string;
}[] {
  return Object.entries(indexes).map(([name, { columns, isUnique = false, only }]) => ({
    name,
    isUnique,
    columns: only && !canLeaveOutRows ? only.else : columns,
    ...(only && canLeaveOutRows && { where: only.where }),
  }));
}
