import { DataSource, type QueryRunner } from 'typeorm';
import { dataSourceOf } from '../../src/sessions/storage/typeorm/tables.js';

const dataSource = new DataSource({ type: 'postgres' });

describe('dataSourceOf', () => {
  it.each([
    ['TypeORM 1.0 and later', { dataSource }],
    ['earlier versions of TypeORM', { connection: dataSource }],
  ])('finds the DataSource of a query runner of %s', (_version, queryRunner) => {
    expect(dataSourceOf(queryRunner as unknown as QueryRunner)).toBe(dataSource);
  });
});
