import { DataSource, type QueryRunner } from 'typeorm';
import { dataSourceOf } from '../../src/sessions/storage/typeorm/tables.js';

const dataSource = new DataSource({ type: 'postgres' });

describe('the DataSource of a migration', () => {
  it.each([
    ['from TypeORM 1.0 on', { dataSource }],
    ['before', { connection: dataSource }],
  ])('is found under the name that it has %s', (_version, queryRunner) => {
    expect(dataSourceOf(queryRunner as unknown as QueryRunner)).toBe(dataSource);
  });
});
