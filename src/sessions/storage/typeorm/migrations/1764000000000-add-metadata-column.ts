import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dialectOf } from '../sql/dialect.js';
import { Sql, sql } from '../sql/sql.js';
import { dataSourceOf, tableNamesOf, tablesOf } from '../tables.js';

/** The metadata of a session. NULL is none: in rows of older versions, and rows that they still write. */
export class AddMetadataColumn1764000000000 implements MigrationInterface {
  name = 'AddMetadataColumn1764000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const dataSource = dataSourceOf(queryRunner);
    const { columnTypes: types, name } = dialectOf(dataSource.options.type);
    // MySQL changes tables outside of transactions, so an interrupted migration may have added the column.
    if (name === 'mysql' && (await queryRunner.hasColumn(tableNamesOf(dataSource).sessions, COLUMN))) return;
    const { charset, collation } = types.textCollation ?? {};
    const definition = `${COLUMN} ${types.text}${charset ? ` CHARACTER SET ${charset} COLLATE ${collation}` : ''} NULL`;
    const { sessions } = tablesOf(dataSource);
    await queryRunner.query(sql`ALTER TABLE ${sessions} ADD COLUMN ${new Sql(definition)}`.text);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const { sessions } = tablesOf(dataSourceOf(queryRunner));
    await queryRunner.query(sql`ALTER TABLE ${sessions} DROP COLUMN ${new Sql(COLUMN)}`.text);
  }
}

const COLUMN = 'metadata';
