import { ALL_TABLES } from '../../src/sessions/storage/typeorm/schema/all-tables.js';
import { foreignKeyName } from '../../src/sessions/storage/typeorm/schema/create-tables.js';
import type { Table } from '../../src/sessions/storage/typeorm/schema/table.js';

const TABLES = Object.values<Table>(ALL_TABLES);

/** PostgreSQL cuts names after 63 bytes, and a prefix may have 30. */
const MOST_BYTES = 33;

describe('The description of the tables', () => {
  it('gives no name twice, and none that is cut with the longest prefix', () => {
    const names = TABLES.flatMap((table) => [
      table.name,
      ...Object.keys(table.indexes ?? {}),
      ...(table.parent === undefined ? [] : [foreignKeyName(table)]),
    ]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => Buffer.byteLength(name) > MOST_BYTES)).toEqual([]);
  });

  it('begins every key of a table with the key of its parents, as partitions and shards need it', () => {
    const others = TABLES.filter(({ parent }) => parent !== undefined).flatMap(({ primaryKey, indexes = {} }) => {
      const unique = Object.values(indexes).flatMap(({ isUnique, columns }) => (isUnique ? [columns] : []));
      return [primaryKey, ...unique]
        .map(([first]) => first)
        .filter((first) => !/^(session|scope)_pk$/.test(first ?? ''));
    });
    expect(others).toEqual([]);
  });

  it('names parents before their children', () => {
    const names = TABLES.map(({ name }) => name);
    for (const [place, { parent }] of TABLES.entries()) {
      if (parent !== undefined) expect(names.slice(0, place)).toContain(parent);
    }
  });
});
