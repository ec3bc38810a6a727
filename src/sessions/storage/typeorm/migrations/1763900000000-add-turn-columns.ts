import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type Dialect, dialectOf } from '../sql/dialect.js';
import { Sql, sql } from '../sql/sql.js';
import { dataSourceOf, tableNamesOf, tablesOf } from '../tables.js';

/** The turn of a session. Rows of older versions, and rows that they still write, have had no turn. */
export class AddTurnColumns1763900000000 implements MigrationInterface {
  name = 'AddTurnColumns1763900000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const dataSource = dataSourceOf(queryRunner);
    const dialect = dialectOf(dataSource.options.type);
    const { sessions } = tablesOf(dataSource);
    for (const { name, definition } of columnsOf(dialect)) {
      // MySQL changes tables outside of transactions, so an interrupted migration may have added some columns.
      const isThere =
        dialect.name === 'mysql' && (await queryRunner.hasColumn(tableNamesOf(dataSource).sessions, name));
      // Not with TypeORM's addColumn, which on SQLite copies the table and deletes the old one with all its events.
      if (!isThere) await queryRunner.query(sql`ALTER TABLE ${sessions} ADD COLUMN ${new Sql(definition)}`.text);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const dataSource = dataSourceOf(queryRunner);
    const { sessions } = tablesOf(dataSource);
    for (const { name } of columnsOf(dialectOf(dataSource.options.type)).toReversed()) {
      await queryRunner.query(sql`ALTER TABLE ${sessions} DROP COLUMN ${new Sql(name)}`.text);
    }
  }
}

interface Column {
  readonly name: string;
  readonly definition: string;
}

function columnsOf({ columnTypes: types }: Dialect): Column[] {
  const { type, length } = types.exact(TEXT_BYTES);
  const collation = types.exactCollation ? ` COLLATE "${types.exactCollation.collation}"` : '';
  const text = (name: string): Column => {
    const size = length === undefined ? '' : `(${length})`;
    return { name, definition: `${name} ${type}${size}${collation} NOT NULL DEFAULT ''` };
  };
  return [
    number('turns_only', types.count),
    number('turn_number', types.count),
    ...['turn_token', 'turn_holder', 'turn_request'].map(text),
    number('turn_expires_at', types.number),
  ];
}

function number(name: string, type: string): Column {
  return { name, definition: `${name} ${type} NOT NULL DEFAULT 0` };
}

const TEXT_BYTES = 191;
