import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  type TableColumnOptions,
  type TableIndexOptions,
  type TableOptions,
} from 'typeorm';
import { type Dialect, dialectOf } from '../sql/dialect.js';
import { dataSourceOf, prefixedName, schemaOf, tableNamesOf } from '../tables.js';

/** The tables of the session store, as every kind of database has them. */
export class CreateSessionTables1763700000000 implements MigrationInterface {
  name = 'CreateSessionTables1763700000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // MySQL creates tables outside of transactions, so an interrupted migration may have created some of them.
    const mayExist = dialectOf(dataSourceOf(queryRunner).options.type).name === 'mysql';
    for (const table of tablesFor(queryRunner)) await queryRunner.createTable(table, mayExist);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of tablesFor(queryRunner).toReversed()) await queryRunner.dropTable(table, true);
  }
}

function tablesFor(queryRunner: QueryRunner): Table[] {
  const dataSource = dataSourceOf(queryRunner);
  const dialect = dialectOf(dataSource.options.type);
  const names = tableNamesOf(dataSource);
  const column = columnsOf(dialect);
  const index = (name: string, columnNames: string[], options: TableIndexOptions = { columnNames }) => ({
    ...options,
    name: prefixedName(dataSource, name),
    columnNames,
  });
  const belongsTo = (referenced: string, name: string, owner: string) => ({
    name: prefixedName(dataSource, name),
    columnNames: [owner],
    referencedTableName: schemaOf(dataSource) ? `${schemaOf(dataSource)}.${referenced}` : referenced,
    referencedColumnNames: ['pk'],
    onDelete: 'CASCADE',
    onUpdate: 'NO ACTION',
  });
  const onlyAnchors = dialect.hasPartialIndexes
    ? index('agent_session_events_anchors', ['session_pk', 'seq'], { columnNames: [], where: '"anchor" = 1' })
    : index('agent_session_events_anchors', ['session_pk', 'anchor', 'seq']);
  const table = (options: TableOptions): Table =>
    new Table({ ...options, schema: schemaOf(dataSource), ...(dialect.name === 'mysql' && { engine: 'InnoDB' }) });

  return [
    table({
      name: names.sessions,
      columns: [
        column.generatedKey('pk'),
        column.exact('app_name', ID_BYTES),
        column.exact('user_id', ID_BYTES),
        column.exact('session_id', ID_BYTES),
        ...['create_time', 'last_update_time', 'expires_at'].map(column.number),
        ...['first_seq', 'last_seq', 'tip_seq'].map(column.count),
        column.number('high_water'),
        ...['turns', 'events'].map(column.count),
        ...['content_length', 'tokens'].map(column.number),
        column.text('hidden'),
        ...['view_from_seq', 'summary_seq', 'marks_seq'].map(column.count),
        ...['covered', 'base_state'].map(column.text),
      ],
      indices: [
        index('agent_sessions_key', ['app_name', 'user_id', 'session_id'], { columnNames: [], isUnique: true }),
        index('agent_sessions_by_update', ['app_name', 'user_id', 'last_update_time', 'session_id']),
        index('agent_sessions_by_creation', ['app_name', 'user_id', 'create_time', 'session_id']),
        index('agent_sessions_of_app_by_update', ['app_name', 'last_update_time', 'user_id', 'session_id']),
        index('agent_sessions_of_app_by_creation', ['app_name', 'create_time', 'user_id', 'session_id']),
        index('agent_sessions_by_expiry', ['expires_at']),
      ],
    }),
    table({
      name: names.events,
      columns: [
        { ...column.key('session_pk'), isPrimary: true },
        { ...column.count('seq'), isPrimary: true },
        column.exact('event_id', ID_BYTES),
        column.exact('digest', DIGEST_BYTES),
        ...['appended_at', 'high_water'].map(column.number),
        column.count('anchor'),
        { ...column.text('payload'), isNullable: true },
      ],
      indices: [
        index('agent_session_events_by_id', ['session_pk', 'event_id'], { columnNames: [], isUnique: true }),
        index('agent_session_events_by_time', ['session_pk', 'high_water', 'seq']),
        onlyAnchors,
      ],
      foreignKeys: [belongsTo(names.sessions, 'agent_session_events_session', 'session_pk')],
    }),
    table({
      name: names.sessionState,
      columns: [
        { ...column.key('session_pk'), isPrimary: true },
        { ...column.exact('name', STATE_KEY_BYTES), isPrimary: true },
        column.text('value'),
      ],
      foreignKeys: [belongsTo(names.sessions, 'agent_session_state_session', 'session_pk')],
    }),
    table({
      name: names.sharedScopes,
      columns: [
        column.generatedKey('pk'),
        column.exact('app_name', ID_BYTES),
        column.exact('user_id', ID_BYTES),
        column.number('expires_at'),
      ],
      indices: [
        index('agent_shared_scopes_key', ['app_name', 'user_id'], { columnNames: [], isUnique: true }),
        index('agent_shared_scopes_by_expiry', ['expires_at']),
      ],
    }),
    table({
      name: names.sharedState,
      columns: [
        { ...column.key('scope_pk'), isPrimary: true },
        { ...column.exact('name', STATE_KEY_BYTES), isPrimary: true },
        column.text('value'),
      ],
      foreignKeys: [belongsTo(names.sharedScopes, 'agent_shared_state_scope', 'scope_pk')],
    }),
    leasesTableFor(queryRunner),
  ];
}

/** The table of leases. On a cluster of servers it comes first, because a lease lets one process migrate. */
export function leasesTableFor(queryRunner: QueryRunner): Table {
  const dataSource = dataSourceOf(queryRunner);
  const dialect = dialectOf(dataSource.options.type);
  const column = columnsOf(dialect);
  return new Table({
    schema: schemaOf(dataSource),
    ...(dialect.name === 'mysql' && { engine: 'InnoDB' }),
    name: tableNamesOf(dataSource).leases,
    columns: [
      column.generatedKey('token'),
      column.exact('name', LEASE_NAME_BYTES),
      column.exact('holder', ID_BYTES),
      column.number('expires_at'),
    ],
    indices: [
      { name: prefixedName(dataSource, 'agent_leases_name'), columnNames: ['name'], isUnique: true },
      { name: prefixedName(dataSource, 'agent_leases_by_expiry'), columnNames: ['expires_at'] },
    ],
  });
}

const ID_BYTES = 191;
const STATE_KEY_BYTES = 512;
const DIGEST_BYTES = 255;
const LEASE_NAME_BYTES = 400;

function columnsOf({ columnTypes: types }: Dialect) {
  return {
    generatedKey: (name: string): TableColumnOptions => ({
      name,
      type: types.key,
      isPrimary: true,
      isGenerated: true,
      generationStrategy: 'increment',
    }),
    key: (name: string): TableColumnOptions => ({ name, type: types.key }),
    count: (name: string): TableColumnOptions => ({ name, type: types.count }),
    number: (name: string): TableColumnOptions => ({ name, type: types.number }),
    exact: (name: string, bytes: number): TableColumnOptions => ({
      name,
      ...types.exact(bytes),
      ...types.exactCollation,
    }),
    text: (name: string): TableColumnOptions => ({ name, type: types.text, ...types.textCollation }),
  };
}
