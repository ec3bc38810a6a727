import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { dialectOf } from '../sql/dialect.js';
import { dropSearch } from '../search/search-tables.js';
import { dataSourceOf, findPostgresSchema } from '../tables.js';
import { ALL_TABLES } from './all-tables.js';
import { type Naming, createTable, dropTable } from './create-tables.js';
import type { Table } from './table.js';

/** The tables of the session store, as every kind of database has them. */
class CreateSessionTables1765000000000 implements MigrationInterface {
  name = 'CreateSessionTables1765000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await createTables(queryRunner, Object.values(ALL_TABLES));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const naming = namingOf(dataSourceOf(queryRunner));
    // Its entries belong to events.
    for (const statement of dropSearch(naming)) await queryRunner.query(statement);
    for (const table of Object.values(ALL_TABLES).toReversed()) await queryRunner.query(dropTable(naming, table));
  }
}

/**
 * All migrations of the session store, in order, for a DataSource of your own. Not read-only, since TypeORM asks for a
 * list that it may change; frozen all the same.
 *
 * @example
 * new DataSource({ type: 'postgres', url, migrations: SESSION_MIGRATIONS, entities: sessionEntities('postgres') });
 */
export const SESSION_MIGRATIONS: (new () => MigrationInterface)[] = [CreateSessionTables1765000000000];
Object.freeze(SESSION_MIGRATIONS);

/** Where the store notes which of its migrations have run, apart from those of the app. */
export function migrationsTableName(tablePrefix = ''): string {
  return `${tablePrefix}agent_session_migrations`;
}

/** Creates tables, in MySQL those that are missing. */
export async function createTables(queryRunner: QueryRunner, tables: readonly Table[]): Promise<void> {
  const naming = namingOf(dataSourceOf(queryRunner));
  for (const table of tables) {
    for (const statement of createTable(naming, table)) await queryRunner.query(statement);
  }
}

/** How names are written in the statements of a DataSource. */
export function namingOf(dataSource: DataSource): Naming {
  const { driver, options } = dataSource;
  return {
    dialect: dialectOf(options.type),
    escape: (name) => driver.escape(name),
    prefix: options.entityPrefix ?? '',
    schema: findPostgresSchema(dataSource),
  };
}
