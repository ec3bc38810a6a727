import type { DataSource, QueryRunner } from 'typeorm';
import { DATABASE } from '../../../config/store-settings.js';
import { checkSetting } from '../../domain/values/input-checks.js';
import { ALL_TABLES, type TableKey } from './schema/all-tables.js';
import { Sql } from './sql/sql.js';

/** The unique index on the ids of a session. */
const SESSIONS_KEY = 'agent_sessions_key';

/** The quoted table names, with the schema and the prefix of the DataSource. */
export type Tables = Readonly<Record<TableKey, Sql>>;

/** {@link SESSIONS_KEY}, quoted and with the prefix. */
export function sessionsKeyOf(dataSource: DataSource): Sql {
  return new Sql(dataSource.driver.escape(prefixedName(dataSource, SESSIONS_KEY)));
}

export function tablesOf(dataSource: DataSource): Tables {
  const entries = Object.entries(tableNamesOf(dataSource)).map(([key, name]) => {
    const path = [findPostgresSchema(dataSource), name].flatMap((part) =>
      part ? [dataSource.driver.escape(part)] : [],
    );
    return [key, new Sql(path.join('.'))] as const;
  });
  return Object.fromEntries(entries) as unknown as Tables;
}

/** The DataSource of a query runner. TypeORM before 1.0 calls it `connection`. */
export function dataSourceOf(queryRunner: QueryRunner): DataSource {
  return 'dataSource' in queryRunner ? queryRunner.dataSource : (queryRunner as { connection: DataSource }).connection;
}

/** The unquoted table names with the prefix, for TypeORM. */
export function tableNamesOf(dataSource: DataSource): Readonly<Record<TableKey, string>> {
  const entries = Object.entries(ALL_TABLES).map(([key, { name }]) => [key, prefixedName(dataSource, name)] as const);
  return Object.fromEntries(entries) as Record<TableKey, string>;
}

/** Adds the prefix to a name that must be unique in the database, such as the name of an index. */
function prefixedName({ options }: DataSource, name: string): string {
  return `${options.entityPrefix ?? ''}${name}`;
}

/** The schema of a PostgreSQL DataSource. */
export function findPostgresSchema({ options }: DataSource): string | undefined {
  return options.type === 'postgres' ? options.schema : undefined;
}

interface Names {
  readonly tablePrefix?: string | undefined;
  readonly schema?: string | undefined;
}

/** Refuses a prefix or schema with characters that could break a statement, because both become part of the SQL text. */
export function checkNames({ tablePrefix = '', schema = '' }: Names): void {
  checkSetting(DATABASE.tablePrefix, tablePrefix, 'tablePrefix');
  checkSetting(DATABASE.schema, schema, 'schema');
}

/** Checks the names of a DataSource of the app. */
export function checkNamesOf(dataSource: DataSource): void {
  checkNames({ tablePrefix: dataSource.options.entityPrefix, schema: findPostgresSchema(dataSource) });
}
