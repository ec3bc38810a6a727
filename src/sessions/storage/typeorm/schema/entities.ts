import { EntitySchema, type EntitySchemaColumnOptions, type EntitySchemaOptions } from 'typeorm';
import { type SupportedType, dialectOf } from '../sql/dialect.js';
import { ALL_TABLES } from './all-tables.js';
import { columnType } from './column-types.js';
import { foreignKeyName } from './create-tables.js';
import { type Table, listColumns, indexesOf } from './table.js';

/**
 * The tables of the session store as entities, so that the DataSource of an app knows them. Only `SESSION_MIGRATIONS` change them:
 * generated migrations and `synchronize` leave them alone. The store itself does not need the entities.
 *
 * @example
 * new DataSource({
 *   type: 'postgres',
 *   entities: [User, ...sessionEntities('postgres')],
 *   migrations: [...SESSION_MIGRATIONS, 'dist/migrations/*.js'],
 * });
 *
 * @param type of the DataSource
 * @param entityPrefix of the DataSource, if it has one
 */
export function sessionEntities(type: SupportedType, entityPrefix = ''): EntitySchema[] {
  return Object.values<Table>(ALL_TABLES).map((table) => entityOf(table, type, entityPrefix));
}

function entityOf(table: Table, type: SupportedType, entityPrefix: string): EntitySchema {
  const { name: dialect, hasPartialIndexes } = dialectOf(type);
  const columns = listColumns(table).map(([name, column]) => {
    const isPrimary = table.primaryKey.includes(name);
    const options = {
      ...columnType(dialect, column),
      ...(isPrimary && { primary: true }),
      ...(column.kind === 'generatedKey' && { generated: 'increment' }),
      ...(column.isNullable && { nullable: true }),
    };
    return [name, options as EntitySchemaColumnOptions] as const;
  });
  return new EntitySchema({
    name: table.name,
    // TypeORM compares columns differently for each server, so that it would generate the same changes again and again.
    synchronize: false,
    columns: Object.fromEntries(columns),
    indices: indexesOf(table, hasPartialIndexes).map(({ name, columns: indexed, isUnique, where }) => ({
      name: entityPrefix + name,
      columns: [...indexed],
      ...(isUnique && { unique: true }),
      ...(where !== undefined && { where }),
    })),
    ...(table.parent !== undefined && { relations: parentOf(table, table.parent, entityPrefix) }),
  });
}

/** As a relation, since TypeORM knows `foreignKeys` from 0.3.23 on only. */
function parentOf(table: Table, target: string, entityPrefix: string): EntitySchemaOptions<unknown>['relations'] {
  const [name = ''] = table.primaryKey;
  const foreignKeyConstraintName = entityPrefix + foreignKeyName(table);
  return {
    owner: {
      type: 'many-to-one',
      target,
      nullable: false,
      onDelete: 'CASCADE',
      joinColumn: { name, referencedColumnName: 'pk', foreignKeyConstraintName },
    },
  };
}
