import type { StoredScope } from '../../../../state/scopes.js';
import {
  type StateExcess,
  type StateLimits,
  type StateSize,
  readExcess,
  readExcessError,
  sizeAfter,
  stateExcess,
} from '../../../domain/state-size.js';
import type { StateWrites } from '../../../domain/stored-json.js';
import type { SessionKey } from '../../../domain/ids.js';
import type { Dialect } from '../sql/dialect.js';
import { NO_SQL, Sql, sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** The rows of a state: their table, the column of their owner, and its key. */
export interface StateRows {
  readonly table: Sql;
  readonly owner: Sql;
  readonly pk: Sql;
}

/** The bytes of a row of state, with the alias `v`. */
function rowBytes({ bytesOf }: Dialect): Sql {
  return sql`${bytesOf(sql`v.name`)} + ${bytesOf(sql`v.value`)}`;
}

/** A subquery: the exact size of a state. */
export function sumOfState(dialect: Dialect, { table, owner, pk }: StateRows): Sql {
  return sql`(SELECT COALESCE(SUM(${rowBytes(dialect)}), 0) FROM ${table} v WHERE v.${owner} = ${pk})`;
}

/** Counts a state entry by entry. It is locked, so that its rows change no more. */
export async function countState(
  transaction: SqlTransaction,
  { table, owner, pk }: StateRows,
  lock: Sql,
): Promise<StateSize> {
  const rows = await transaction.rows<{ name: string; bytes: number | string }>(
    sql`SELECT v.name, ${rowBytes(transaction.dialect)} AS bytes FROM ${table} v WHERE v.${owner} = ${pk} ${lock}`,
  );
  const entries = new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
  let atMost = 0;
  for (const bytes of entries.values()) atMost += bytes;
  return { atMost, entries };
}

/** A state whose size changes with each commit of a transaction. */
export class SizedState {
  #size: StateSize;
  /** What the transaction adds when it ends. */
  readonly #added: StateWrites[] = [];

  constructor(
    private readonly scope: StoredScope,
    atMost: number,
    /** Missing if nothing is stored yet. */
    private readonly rows: StateRows | undefined,
  ) {
    this.#size = rows ? { atMost } : { atMost, entries: new Map() };
  }

  get size(): StateSize {
    return this.#size;
  }

  add(writes: StateWrites): void {
    this.#added.push(writes);
    this.#size = sizeAfter(this.#size, writes, this.scope);
  }

  /** Whether it would have more than it may. Counts it if the limit might be passed. */
  async excessOf(
    transaction: SqlTransaction,
    { writes, limits, hasOldSnapshot }: Comparison,
  ): Promise<StateExcess | undefined> {
    const { scope } = this;
    if (!stateExcess(scope, this.#size, writes, limits)) return undefined;
    await this.#count(transaction, hasOldSnapshot ? transaction.dialect.lock('v') : NO_SQL);
    return stateExcess(scope, this.#size, writes, limits);
  }

  /** Whether it is too large to be read. Counts it if it might be. */
  async readExcess(transaction: SqlTransaction, limits: StateLimits | undefined): Promise<StateExcess | undefined> {
    if (!readExcess(this.scope, this.#size, limits)) return undefined;
    await this.#count(transaction, NO_SQL);
    return readExcess(this.scope, this.#size, limits);
  }

  async #count(transaction: SqlTransaction, lock: Sql): Promise<void> {
    if (!this.rows || this.#size.entries) return;
    const stored = await countState(transaction, this.rows, lock);
    this.#size = this.#added.reduce((size, added) => sizeAfter(size, added, this.scope), stored);
  }
}

/** What a commit is compared with. */
interface Comparison {
  readonly writes: StateWrites;
  readonly limits: StateLimits | undefined;
  /** Whether the transaction may have read before. Then only locking reads return the newest rows. */
  readonly hasOldSnapshot?: boolean | undefined;
}

/** The limits of reads, as numbers in a statement. */
export interface ReadLimit {
  readonly most: Sql;
  /** The upper bound that is stored. */
  readonly stored: Sql;
  /** The exact size. */
  readonly sum: Sql;
}

/** Matches state that may be read. Only if the stored bound is too large, the state is counted. */
export function isReadable({ most, stored, sum }: ReadLimit): Sql {
  return sql`(${stored} <= ${most} OR ${sum} <= ${most})`;
}

/** Matches state that is too large. */
export function isTooLarge({ most, stored, sum }: ReadLimit): Sql {
  return sql`(${stored} > ${most} AND ${sum} > ${most})`;
}

/** The name of a row that has the size of a state, as text, instead of an entry. No key is empty. */
export const TOO_LARGE = '';

/** Refuses rows with the size of a state. */
export function expectReadable(
  rows: readonly { readonly scope: StoredScope; readonly name: string | null; readonly value: string | null }[],
  limits: StateLimits | undefined,
  owner: Partial<SessionKey> & Pick<SessionKey, 'appName'>,
  isWritten = false,
): void {
  if (!limits) return;
  for (const { scope, name, value } of rows) {
    if (name !== TOO_LARGE) continue;
    throw readExcessError({ scope, bytes: Number(value), most: limits[scope] }, owner, isWritten);
  }
}

/** The limit of a shared scope, by its user id: a number in the text, because an untyped value would be text to PostgreSQL. */
export function limitOfScope({ user, app }: StateLimits): Sql {
  return new Sql(`(CASE c.user_id WHEN '' THEN ${app} ELSE ${user} END)`);
}

/** A limit as a number in a statement. */
export function limitText(most: number): Sql {
  return new Sql(String(most));
}
