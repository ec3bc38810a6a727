import { type MigrationInterface, type QueryRunner, Table, type TableColumnOptions } from 'typeorm';
import { dialectOf } from '../sql/dialect.js';
import { dataSourceOf, prefixedName, schemaOf, tableNamesOf } from '../tables.js';

/** Tokens of sessions, and of users and apps. Events of older versions are not counted. */
export class CreateUsageTables1764600000000 implements MigrationInterface {
  name = 'CreateUsageTables1764600000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // MySQL makes tables outside of transactions, so an interrupted migration may have left some, each of them whole.
    const mayExist = dialectOf(dataSourceOf(queryRunner).options.type).name === 'mysql';
    for (const table of tablesFor(queryRunner)) await queryRunner.createTable(table, mayExist);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of tablesFor(queryRunner)) await queryRunner.dropTable(table, true);
  }
}

const COUNTS = [
  'events',
  'prompt_tokens',
  'cached_tokens',
  'output_tokens',
  'thinking_tokens',
  'tool_use_tokens',
  'total_tokens',
];

function tablesFor(queryRunner: QueryRunner): Table[] {
  const dataSource = dataSourceOf(queryRunner);
  const { name: dialect, columnTypes: types } = dialectOf(dataSource.options.type);
  const names = tableNamesOf(dataSource);
  const schema = schemaOf(dataSource);
  const ofAll = { schema, ...(dialect === 'mysql' && { engine: 'InnoDB' }) };
  const keyed = (name: string, bytes: number): TableColumnOptions => ({
    name,
    ...types.exact(bytes),
    ...types.exactCollation,
    isPrimary: true,
  });
  const counts = COUNTS.map((name) => ({ name, type: types.number }));
  return [
    new Table({
      ...ofAll,
      name: names.sessionUsage,
      columns: [{ name: 'session_pk', type: types.key, isPrimary: true }, keyed('model', 191), ...counts],
      foreignKeys: [
        {
          name: prefixedName(dataSource, 'agent_session_usage_session'),
          columnNames: ['session_pk'],
          referencedTableName: schema ? `${schema}.${names.sessions}` : names.sessions,
          referencedColumnNames: ['pk'],
          onDelete: 'CASCADE',
          onUpdate: 'NO ACTION',
        },
      ],
    }),
    new Table({
      ...ofAll,
      name: names.sharedUsage,
      columns: [
        keyed('app_name', 191),
        keyed('user_id', 191),
        keyed('period', 10),
        { name: 'shard', type: types.count, isPrimary: true },
        keyed('model', 191),
        ...counts,
        { name: 'expires_at', type: types.number },
      ],
      indices: [{ name: prefixedName(dataSource, 'agent_shared_usage_by_expiry'), columnNames: ['expires_at'] }],
    }),
  ];
}
