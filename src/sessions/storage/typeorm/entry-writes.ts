import type { StateWrites } from '../../domain/scope-writes.js';
import { groupedBy } from '../groups.js';
import type { Dialect } from './dialect.js';
import { inPortions } from '../portions.js';
import { type Sql, joinSql, sql, sqlList } from './sql.js';

interface Entry {
  readonly ownerPk: number;
  readonly name: string;
  /** `undefined` where the key is to go. */
  readonly value: string | undefined;
}

/** Keys of state to set and to remove in one table. Of several writes to one key, the last one counts. */
export class EntryWrites {
  readonly #entries = new Map<string, Entry>();

  /** @param owner the column that says whose the keys are */
  constructor(
    private readonly table: Sql,
    private readonly owner: Sql,
  ) {}

  add(ownerPk: number, { upserts, removals }: StateWrites): void {
    for (const { name } of removals) this.#set({ ownerPk, name, value: undefined });
    for (const { name, value } of upserts) this.#set({ ownerPk, name, value });
  }

  /** In the order of keys, so that two transactions with the same ones do not wait for each other in a circle. */
  statements({ orNewValue }: Dialect): Sql[] {
    const entries = [...this.#entries.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
    const upserts = inPortions(entries.filter(({ value }) => value !== undefined)).map((some) => {
      const rows = some.map(({ ownerPk, name, value = null }) => sql`(${ownerPk}, ${name}, ${value})`);
      return sql`
        INSERT INTO ${this.table} (${this.owner}, name, value) VALUES ${joinSql(rows, ', ')}
        ${orNewValue(this.owner)}`;
    });
    return [...upserts, ...this.#removals(entries.filter(({ value }) => value === undefined))];
  }

  #set(entry: Entry): void {
    this.#entries.set(`${entry.ownerPk} ${entry.name}`, entry);
  }

  #removals(entries: readonly Entry[]): Sql[] {
    return [...groupedBy(entries, ({ ownerPk }) => ownerPk)].flatMap(([ownerPk, ofOwner]) =>
      inPortions(ofOwner.map(({ name }) => name)).map(
        (names) => sql`DELETE FROM ${this.table} WHERE ${this.owner} = ${ownerPk} AND name IN (${sqlList(names)})`,
      ),
    );
  }
}
