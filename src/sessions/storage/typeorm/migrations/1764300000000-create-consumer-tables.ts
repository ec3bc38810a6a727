import { type MigrationInterface, type QueryRunner, Table, type TableColumnOptions } from 'typeorm';
import { type Dialect, dialectOf } from '../sql/dialect.js';
import { Sql, sql } from '../sql/sql.js';
import { dataSourceOf, prefixedName, schemaOf, tableNamesOf, tablesOf } from '../tables.js';

/**
 * What durable consumers need. The events of rows of older versions count as dispatched; a consumer that begins at the
 * start gets them all the same.
 */
export class CreateConsumerTables1764300000000 implements MigrationInterface {
  name = 'CreateConsumerTables1764300000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const isMysql = dialectOf(dataSourceOf(queryRunner).options.type).name === 'mysql';
    await addMark(queryRunner);
    // MySQL makes tables outside of transactions, so an interrupted migration may have left some, each of them whole.
    for (const table of tablesFor(queryRunner)) await queryRunner.createTable(table, isMysql);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const dataSource = dataSourceOf(queryRunner);
    for (const table of tablesFor(queryRunner).toReversed()) await queryRunner.dropTable(table, true);
    const { sessions } = tablesOf(dataSource);
    const isMysql = dialectOf(dataSource.options.type).name === 'mysql';
    const schema = schemaOf(dataSource);
    const index = `${schema ? `${dataSource.driver.escape(schema)}.` : ''}${indexName(queryRunner)}`;
    await queryRunner.query(`DROP INDEX ${index}${isMysql ? ` ON ${sessions.text}` : ''}`);
    for (const name of ['waiting_since', 'dispatched_seq']) {
      await queryRunner.query(sql`ALTER TABLE ${sessions} DROP COLUMN ${new Sql(name)}`.text);
    }
  }
}

/** Adds the columns and their index. In MySQL with one statement, which happens as a whole or not at all. */
async function addMark(queryRunner: QueryRunner): Promise<void> {
  const dataSource = dataSourceOf(queryRunner);
  const { name, columnTypes: types } = dialectOf(dataSource.options.type);
  const { sessions } = tablesOf(dataSource);
  const columns = [
    `ADD COLUMN dispatched_seq ${types.count} NOT NULL DEFAULT 0`,
    `ADD COLUMN waiting_since ${types.number} NOT NULL DEFAULT 0`,
  ];
  const index = indexName(queryRunner);
  if (name === 'mysql') {
    if (await queryRunner.hasColumn(tableNamesOf(dataSource).sessions, 'waiting_since')) return;
    await queryRunner.query(`ALTER TABLE ${sessions.text} ${columns.join(', ')}, ADD INDEX ${index} (waiting_since)`);
    return;
  }
  for (const column of columns) await queryRunner.query(`ALTER TABLE ${sessions.text} ${column}`);
  await queryRunner.query(`CREATE INDEX ${index} ON ${sessions.text} (waiting_since) WHERE "waiting_since" > 0`);
}

function indexName(queryRunner: QueryRunner): string {
  const dataSource = dataSourceOf(queryRunner);
  return dataSource.driver.escape(prefixedName(dataSource, 'agent_sessions_waiting'));
}

function tablesFor(queryRunner: QueryRunner): Table[] {
  const dataSource = dataSourceOf(queryRunner);
  const dialect = dialectOf(dataSource.options.type);
  const names = tableNamesOf(dataSource);
  const column = columnsOf(dialect);
  const schema = schemaOf(dataSource);
  const ofAll = { schema, ...(dialect.name === 'mysql' && { engine: 'InnoDB' }) };
  return [
    new Table({
      ...ofAll,
      name: names.consumers,
      columns: [
        { ...column.exact('name', NAME_BYTES), isPrimary: true },
        column.number('registered_at'),
        column.text('settings'),
      ],
    }),
    new Table({
      ...ofAll,
      name: names.consumerWork,
      columns: [
        { ...column.number('session_pk', dialect.columnTypes.key), isPrimary: true },
        { ...column.exact('consumer', NAME_BYTES), isPrimary: true },
        { ...column.number('letter_seq', dialect.columnTypes.count), isPrimary: true },
        ...['seq', 'up_to', 'tries'].map((name) => column.number(name, dialect.columnTypes.count)),
        ...['since_time', 'due_time'].map((name) => column.number(name)),
        column.exact('claim', NAME_BYTES),
        column.text('problem'),
      ],
      indices: [
        { name: prefixedName(dataSource, 'agent_consumer_work_by_due_time'), columnNames: ['consumer', 'due_time'] },
      ],
      foreignKeys: [
        {
          name: prefixedName(dataSource, 'agent_consumer_work_session'),
          columnNames: ['session_pk'],
          referencedTableName: schema ? `${schema}.${names.sessions}` : names.sessions,
          referencedColumnNames: ['pk'],
          onDelete: 'CASCADE',
          onUpdate: 'NO ACTION',
        },
      ],
    }),
  ];
}

const NAME_BYTES = 191;

function columnsOf({ columnTypes: types }: Dialect) {
  return {
    number: (name: string, type = types.number): TableColumnOptions => ({ name, type }),
    exact: (name: string, bytes: number): TableColumnOptions => ({
      name,
      ...types.exact(bytes),
      ...types.exactCollation,
    }),
    text: (name: string): TableColumnOptions => ({ name, type: types.text, ...types.textCollation }),
  };
}
