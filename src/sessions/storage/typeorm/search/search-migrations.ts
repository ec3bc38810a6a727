import type { MigrationInterface, QueryRunner } from 'typeorm';
import { namingOf } from '../schema/migrations.js';
import { dataSourceOf } from '../tables.js';
import { createSearch, dropSearch } from './search-tables.js';

/** The search index, which is not there unless it is used. */
class CreateSearch1766000000000 implements MigrationInterface {
  name = 'CreateSearch1766000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of createSearch(namingOf(dataSourceOf(queryRunner)))) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of dropSearch(namingOf(dataSourceOf(queryRunner)))) await queryRunner.query(statement);
  }
}

/**
 * The migrations of the search index, for a DataSource of your own that runs them itself: after `SESSION_MIGRATIONS`. Other stores make the
 * index when search begins.
 *
 * @example new DataSource({ type: 'postgres', url, migrations: [...SESSION_MIGRATIONS, ...SEARCH_MIGRATIONS] });
 */
export const SEARCH_MIGRATIONS: (new () => MigrationInterface)[] = [CreateSearch1766000000000];
Object.freeze(SEARCH_MIGRATIONS);
