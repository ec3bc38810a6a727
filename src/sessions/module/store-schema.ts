import type { StoreSettings } from '../../config/store-settings.js';
import { loadPackage } from '../../config/load-package.js';

const loadTypeOrm = () => import('../storage/typeorm/typeorm-session-storage.js');

/** Which migrations of a database have run, by name, in their order. */
export interface StoreSchema {
  readonly executed: readonly string[];
  readonly pending: readonly string[];
  /** Whether migrations of an app made the tables. */
  readonly isOfApp: boolean;
}

/** The migrations of the store that the settings describe. `undefined` if it needs none. */
export async function storeSchemaOf(settings: StoreSettings): Promise<StoreSchema | undefined> {
  if (settings.provider !== 'typeorm') return undefined;
  const { schemaStatusOf } = await loadPackage(loadTypeOrm, 'The typeorm provider');
  return loadPackage(() => schemaStatusOf(settings.database ?? {}), 'The typeorm provider');
}
