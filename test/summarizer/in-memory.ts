import { InMemorySessionStorage } from '../../src/index.js';
import type { TestStore } from '../support/stores.js';

/** For what has nothing to do with stores. */
export const inMemory: TestStore = {
  name: 'memory',
  async open({ clock }) {
    const storage = new InMemorySessionStorage({ clock });
    return { storage, raw: async () => storage.snapshot(), destroy: () => storage.close() };
  },
};
