import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dialectOf } from '../sql/dialect.js';
import { sql } from '../sql/sql.js';
import { dataSourceOf, prefixedName, schemaOf, tableNamesOf, tablesOf } from '../tables.js';

/** The groups of events. NULL is not known: in rows of older versions, and rows that they still write. */
export class AddEventGroups1764400000000 implements MigrationInterface {
  name = 'AddEventGroups1764400000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const dataSource = dataSourceOf(queryRunner);
    const { name, columnTypes: types } = dialectOf(dataSource.options.type);
    const { events } = tablesOf(dataSource);
    const { type, length } = types.exact(GROUP_BYTES);
    const collation = types.exactCollation ? ` COLLATE "${types.exactCollation.collation}"` : '';
    const column = `ADD COLUMN ${COLUMN} ${type}${length === undefined ? '' : `(${length})`}${collation} NULL`;
    const index = indexName(queryRunner);
    if (name === 'mysql') {
      // MySQL changes tables outside of transactions, but one statement happens as a whole or not at all.
      if (await queryRunner.hasColumn(tableNamesOf(dataSource).events, COLUMN)) return;
      await queryRunner.query(`ALTER TABLE ${events.text} ${column}, ADD INDEX ${index} ${INDEXED}`);
      return;
    }
    await queryRunner.query(`ALTER TABLE ${events.text} ${column}`);
    await queryRunner.query(`CREATE INDEX ${index} ON ${events.text} ${INDEXED}`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const dataSource = dataSourceOf(queryRunner);
    const { events } = tablesOf(dataSource);
    const isMysql = dialectOf(dataSource.options.type).name === 'mysql';
    const schema = schemaOf(dataSource);
    const index = `${schema ? `${dataSource.driver.escape(schema)}.` : ''}${indexName(queryRunner)}`;
    await queryRunner.query(`DROP INDEX ${index}${isMysql ? ` ON ${events.text}` : ''}`);
    await queryRunner.query(sql`ALTER TABLE ${events} DROP COLUMN event_group`.text);
  }
}

function indexName(queryRunner: QueryRunner): string {
  const dataSource = dataSourceOf(queryRunner);
  return dataSource.driver.escape(prefixedName(dataSource, 'agent_session_events_by_group'));
}

const GROUP_BYTES = 64;
const COLUMN = 'event_group';
const INDEXED = `(session_pk, ${COLUMN}, seq)`;
