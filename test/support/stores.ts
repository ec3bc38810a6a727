import type { Clock } from '../../src/index.js';
import { InMemorySessionStorage } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { openSqlite } from './sqlite-store.js';

/** A store that the suites run against. */
export interface TestStore {
  readonly name: string;
  open(options: { clock?: Clock | undefined }): Promise<OpenStorage>;
}

const allStores: readonly TestStore[] = [
  {
    name: 'memory',
    async open({ clock }) {
      const storage = new InMemorySessionStorage({ clock });
      return { storage, raw: async () => storage.snapshot(), destroy: () => storage.close() };
    },
  },
  { name: 'sqlite', open: openSqlite },
];

/** All stores, or those that `STORES` names, as in `STORES=memory,sqlite`. */
export const testStores: readonly TestStore[] = chosenStores(process.env.STORES);

function chosenStores(names: string | undefined): readonly TestStore[] {
  if (!names) return allStores;
  return names.split(',').map((name) => {
    const store = allStores.find((candidate) => candidate.name === name.trim());
    if (!store) throw new Error(`STORES names ${name}; there are ${allStores.map((known) => known.name).join(', ')}`);
    return store;
  });
}
