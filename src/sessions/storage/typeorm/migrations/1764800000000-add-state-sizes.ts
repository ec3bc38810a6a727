import type { MigrationInterface, QueryRunner } from 'typeorm';
import { UNCOUNTED } from '../../../domain/state-size.js';
import { dialectOf } from '../sql/dialect.js';
import { Sql, sql } from '../sql/sql.js';
import { dataSourceOf, tableNamesOf, tablesOf } from '../tables.js';

/** How large states are at most. Rows of older versions, and rows that they still add, are not counted. */
export class AddStateSizes1764800000000 implements MigrationInterface {
  name = 'AddStateSizes1764800000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const dataSource = dataSourceOf(queryRunner);
    const { columnTypes: types, name } = dialectOf(dataSource.options.type);
    for (const table of TABLES) {
      // MySQL changes tables outside of transactions, so an interrupted migration may have added a column.
      if (name === 'mysql' && (await queryRunner.hasColumn(tableNamesOf(dataSource)[table], COLUMN))) continue;
      const definition = new Sql(`${COLUMN} ${types.number} NOT NULL DEFAULT ${UNCOUNTED}`);
      await queryRunner.query(sql`ALTER TABLE ${tablesOf(dataSource)[table]} ADD COLUMN ${definition}`.text);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const tables = tablesOf(dataSourceOf(queryRunner));
    for (const table of TABLES.toReversed()) {
      await queryRunner.query(sql`ALTER TABLE ${tables[table]} DROP COLUMN ${new Sql(COLUMN)}`.text);
    }
  }
}

const TABLES = ['sessions', 'sharedScopes'] as const;
const COLUMN = 'state_bytes';
