import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { dialectOf } from '../sql/dialect.js';
import { dataSourceOf, prefixedName, schemaOf, tableNamesOf } from '../tables.js';

/** The table of checkpoints. Sessions of older versions have none, and get them as they go on. */
export class CreateCheckpointsTable1764200000000 implements MigrationInterface {
  name = 'CreateCheckpointsTable1764200000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // MySQL makes tables outside of transactions, so an interrupted migration may have left this one, whole.
    const mayExist = dialectOf(dataSourceOf(queryRunner).options.type).name === 'mysql';
    await queryRunner.createTable(checkpointsTable(queryRunner), mayExist);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable(checkpointsTable(queryRunner), true);
  }
}

function checkpointsTable(queryRunner: QueryRunner): Table {
  const dataSource = dataSourceOf(queryRunner);
  const { name: dialect, columnTypes: types } = dialectOf(dataSource.options.type);
  const { checkpoints, sessions } = tableNamesOf(dataSource);
  const schema = schemaOf(dataSource);
  return new Table({
    name: checkpoints,
    schema,
    ...(dialect === 'mysql' && { engine: 'InnoDB' }),
    columns: [
      { name: 'session_pk', type: types.key, isPrimary: true },
      { name: 'seq', type: types.count, isPrimary: true },
      { name: 'content', type: types.text, ...types.textCollation },
    ],
    foreignKeys: [
      {
        name: prefixedName(dataSource, 'agent_session_checkpoints_session'),
        columnNames: ['session_pk'],
        referencedTableName: schema ? `${schema}.${sessions}` : sessions,
        referencedColumnNames: ['pk'],
        onDelete: 'CASCADE',
        onUpdate: 'NO ACTION',
      },
    ],
  });
}
