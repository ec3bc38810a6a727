import { InMemorySessionStorage } from '../../src/index.js';
import type { TestStore } from '../support/stores.js';

/** For tests that do not depend on the store. */
export const inMemory: TestStore = {
  name: 'memory',
  async open({ clock }) {
    const storage = new InMemorySessionStorage({ clock });
    return { storage, raw: async () => storage.snapshot(), destroy: () => storage.close() };
  },
};
