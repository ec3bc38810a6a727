import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { dialectOf } from '../sql/dialect.js';
import { dataSourceOf, prefixedName, schemaOf, tableNamesOf } from '../tables.js';

/** The table of what has to be looked at later. */
export class CreateAgendaTable1763800000000 implements MigrationInterface {
  name = 'CreateAgendaTable1763800000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // MySQL creates tables outside of transactions, so an interrupted migration may have created it already.
    const mayExist = dialectOf(dataSourceOf(queryRunner).options.type).name === 'mysql';
    await queryRunner.createTable(agendaTable(queryRunner), mayExist);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable(agendaTable(queryRunner), true);
  }
}

function agendaTable(queryRunner: QueryRunner): Table {
  const dataSource = dataSourceOf(queryRunner);
  const { name: dialect, columnTypes: types } = dialectOf(dataSource.options.type);
  return new Table({
    name: tableNamesOf(dataSource).agenda,
    schema: schemaOf(dataSource),
    ...(dialect === 'mysql' && { engine: 'InnoDB' }),
    columns: [
      { name: 'name', ...types.exact(AGENDA_NAME_BYTES), ...types.exactCollation, isPrimary: true },
      { name: 'due_time', type: types.number },
    ],
    indices: [{ name: prefixedName(dataSource, 'agent_agenda_by_due_time'), columnNames: ['due_time', 'name'] }],
  });
}

const AGENDA_NAME_BYTES = 800;
