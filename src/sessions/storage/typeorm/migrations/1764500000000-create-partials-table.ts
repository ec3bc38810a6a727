import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { dialectOf } from '../sql/dialect.js';
import { dataSourceOf, prefixedName, schemaOf, tableNamesOf } from '../tables.js';

/** The table of partial events. */
export class CreatePartialsTable1764500000000 implements MigrationInterface {
  name = 'CreatePartialsTable1764500000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // MySQL makes tables outside of transactions, so an interrupted migration may have left this one, whole.
    const mayExist = dialectOf(dataSourceOf(queryRunner).options.type).name === 'mysql';
    await queryRunner.createTable(partialsTable(queryRunner), mayExist);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable(partialsTable(queryRunner), true);
  }
}

function partialsTable(queryRunner: QueryRunner): Table {
  const dataSource = dataSourceOf(queryRunner);
  const { name: dialect, columnTypes: types } = dialectOf(dataSource.options.type);
  const { partials, sessions } = tableNamesOf(dataSource);
  const schema = schemaOf(dataSource);
  return new Table({
    name: partials,
    schema,
    ...(dialect === 'mysql' && { engine: 'InnoDB' }),
    columns: [
      { name: 'session_pk', type: types.key, isPrimary: true },
      { name: 'number', type: types.number, isPrimary: true },
      { name: 'after_seq', type: types.count },
      { name: 'message_id', ...types.exact(191), ...types.exactCollation },
      { name: 'expires_at', type: types.number },
      { name: 'content', type: types.text, ...types.textCollation },
    ],
    indices: [{ name: prefixedName(dataSource, 'agent_session_partials_by_expiry'), columnNames: ['expires_at'] }],
    foreignKeys: [
      {
        name: prefixedName(dataSource, 'agent_session_partials_session'),
        columnNames: ['session_pk'],
        referencedTableName: schema ? `${schema}.${sessions}` : sessions,
        referencedColumnNames: ['pk'],
        onDelete: 'CASCADE',
        onUpdate: 'NO ACTION',
      },
    ],
  });
}
