import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { indexEntries } from '../../../domain/metadata-entries.js';
import { dialectOf } from '../sql/dialect.js';
import { dataSourceOf, prefixedName, schemaOf, tableNamesOf, tablesOf } from '../tables.js';

/** The entries of metadata by which lists are filtered, also of sessions that are there already. */
export class CreateSessionIndex1764100000000 implements MigrationInterface {
  name = 'CreateSessionIndex1764100000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // MySQL creates tables outside of transactions, so an interrupted migration may have created this one.
    const mayExist = dialectOf(dataSourceOf(queryRunner).options.type).name === 'mysql';
    await queryRunner.createTable(indexTable(queryRunner), mayExist);
    await fillIndex(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable(indexTable(queryRunner), true);
  }
}

function indexTable(queryRunner: QueryRunner): Table {
  const dataSource = dataSourceOf(queryRunner);
  const { name: dialect, columnTypes: types } = dialectOf(dataSource.options.type);
  const { sessionIndex, sessions } = tableNamesOf(dataSource);
  const schema = schemaOf(dataSource);
  const text = (name: string, bytes: number) => ({ name, ...types.exact(bytes), ...types.exactCollation });
  const index = (name: string, columnNames: string[]) => ({ name: prefixedName(dataSource, name), columnNames });
  return new Table({
    name: sessionIndex,
    schema,
    ...(dialect === 'mysql' && { engine: 'InnoDB' }),
    columns: [
      { name: 'session_pk', type: types.key, isPrimary: true },
      { ...text('entry', ENTRY_BYTES), isPrimary: true },
      ...['app_name', 'user_id', 'session_id'].map((name) => text(name, ID_BYTES)),
      { name: 'create_time', type: types.number },
    ],
    indices: [
      index('agent_session_index_of_user', ['app_name', 'user_id', 'entry', 'create_time', 'session_id']),
      index('agent_session_index_of_app', ['app_name', 'entry', 'create_time', 'user_id', 'session_id']),
    ],
    foreignKeys: [
      {
        name: prefixedName(dataSource, 'agent_session_index_session'),
        columnNames: ['session_pk'],
        referencedTableName: schema ? `${schema}.${sessions}` : sessions,
        referencedColumnNames: ['pk'],
        onDelete: 'CASCADE',
        onUpdate: 'NO ACTION',
      },
    ],
  });
}

const ID_BYTES = 191;
const ENTRY_BYTES = 600;
const SESSIONS_PER_BATCH = 500;

interface OlderSession {
  readonly pk: number | string;
  readonly metadata: string;
}

/** In batches, so that a large table fits into memory. What an interrupted migration wrote is written again. */
async function fillIndex(queryRunner: QueryRunner): Promise<void> {
  const dataSource = dataSourceOf(queryRunner);
  const { sessions, sessionIndex } = tablesOf(dataSource);
  const value = dialectOf(dataSource.options.type).name === 'postgres' ? '$1' : '?';
  let rows: OlderSession[];
  let after: number | string = 0;
  do {
    rows = (await queryRunner.query(
      `SELECT pk, metadata FROM ${sessions.text}
       WHERE pk > ${after} AND metadata IS NOT NULL AND metadata <> '' ORDER BY pk LIMIT ${SESSIONS_PER_BATCH}`,
    )) as OlderSession[];
    for (const { pk, metadata } of rows) {
      await queryRunner.query(`DELETE FROM ${sessionIndex.text} WHERE session_pk = ${pk}`);
      for (const entry of indexEntries(metadata)) {
        await queryRunner.query(
          `INSERT INTO ${sessionIndex.text} (session_pk, entry, app_name, user_id, session_id, create_time)
           SELECT pk, ${value}, app_name, user_id, session_id, create_time FROM ${sessions.text} WHERE pk = ${pk}`,
          [entry],
        );
      }
      after = pk;
    }
  } while (rows.length === SESSIONS_PER_BATCH);
}
