import { EntitySchema } from 'typeorm';
import { sessionEntities } from '../../src/typeorm.js';

/** The entities as TypeORM compares them with the tables. Those of an app are left alone. */
export function comparedEntities(...of: Parameters<typeof sessionEntities>): EntitySchema[] {
  return sessionEntities(...of).map(({ options }) => new EntitySchema({ ...options, synchronize: true }));
}
