import { type MigrationInterface, type QueryRunner, Table, type TableForeignKeyOptions } from 'typeorm';
import { dialectOf } from '../sql/dialect.js';
import { dataSourceOf, prefixedName, schemaOf, tableNamesOf } from '../tables.js';

/** The state of components: sessions, their values and lists, and the items of lists. */
export class CreateComponentTables1764700000000 implements MigrationInterface {
  name = 'CreateComponentTables1764700000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // MySQL makes tables outside of transactions, so an interrupted migration may have left some, each of them whole.
    const mayExist = dialectOf(dataSourceOf(queryRunner).options.type).name === 'mysql';
    for (const table of tablesFor(queryRunner)) await queryRunner.createTable(table, mayExist);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of tablesFor(queryRunner).toReversed()) await queryRunner.dropTable(table, true);
  }
}

function tablesFor(queryRunner: QueryRunner): Table[] {
  const dataSource = dataSourceOf(queryRunner);
  const { name: dialect, columnTypes: types } = dialectOf(dataSource.options.type);
  const names = tableNamesOf(dataSource);
  const schema = schemaOf(dataSource);
  const ofAll = { schema, ...(dialect === 'mysql' && { engine: 'InnoDB' }) };
  const exact = (bytes: number) => ({ ...types.exact(bytes), ...types.exactCollation });
  const text = { type: types.text, ...types.textCollation };
  const ofSession = (name: string): TableForeignKeyOptions => ({
    name: prefixedName(dataSource, name),
    columnNames: ['session_pk'],
    referencedTableName: schema ? `${schema}.${names.componentSessions}` : names.componentSessions,
    referencedColumnNames: ['pk'],
    onDelete: 'CASCADE',
    onUpdate: 'NO ACTION',
  });
  return [
    new Table({
      ...ofAll,
      name: names.componentSessions,
      columns: [
        { name: 'pk', type: types.key, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
        { name: 'name', ...exact(1_024) },
        { name: 'expires_at', type: types.number },
      ],
      indices: [
        { name: prefixedName(dataSource, 'agent_component_sessions_name'), columnNames: ['name'], isUnique: true },
        { name: prefixedName(dataSource, 'agent_components_by_expiry'), columnNames: ['expires_at'] },
      ],
    }),
    new Table({
      ...ofAll,
      name: names.components,
      columns: [
        { name: 'session_pk', type: types.key, isPrimary: true },
        { name: 'name', ...exact(255), isPrimary: true },
        { name: 'kind', type: types.count, isPrimary: true },
        { name: 'version', type: types.number },
        { name: 'items', type: types.count },
        { name: 'digest', ...exact(64) },
        { name: 'content', ...text, isNullable: true },
      ],
      foreignKeys: [ofSession('agent_components_session')],
    }),
    new Table({
      ...ofAll,
      name: names.componentItems,
      columns: [
        { name: 'session_pk', type: types.key, isPrimary: true },
        { name: 'name', ...exact(255), isPrimary: true },
        { name: 'seq', type: types.count, isPrimary: true },
        { name: 'content', ...text },
      ],
      foreignKeys: [ofSession('agent_component_items_session')],
    }),
  ];
}
