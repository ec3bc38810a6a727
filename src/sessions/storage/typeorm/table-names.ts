import type { DataSource } from 'typeorm';
import { SCHEMA_NAME, TABLE_PREFIX, type TextRule } from '../../../config/store-rules.js';
import { InvalidInputError } from '../../domain/errors.js';
import { schemaOf } from './tables.js';

interface Names {
  readonly tablePrefix?: string | undefined;
  readonly schema?: string | undefined;
}

/** These become part of statements, between quotes; so what a statement could take for something else is refused. */
export function checkNames({ tablePrefix = '', schema = '' }: Names): void {
  check(tablePrefix, TABLE_PREFIX, 'tablePrefix');
  check(schema, SCHEMA_NAME, 'schema');
}

function check(name: string, { pattern, allowed }: TextRule, what: string): void {
  if (!pattern.test(name)) throw new InvalidInputError(`must be ${allowed}`, what);
}

/** The same for a DataSource of the app, which calls the prefix `entityPrefix`. */
export function checkNamesOf(dataSource: DataSource): void {
  checkNames({ tablePrefix: dataSource.options.entityPrefix, schema: schemaOf(dataSource) });
}
