import type { Clock } from '../../src/index.js';
import { InMemorySessionStorage } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';

/** A store that the suites run against. */
export interface TestStore {
  readonly name: string;
  open(options: { clock?: Clock }): Promise<OpenStorage>;
}

const memory: TestStore = {
  name: 'memory',
  async open({ clock }) {
    const storage = new InMemorySessionStorage({ clock });
    return { storage, raw: async () => storage.snapshot(), destroy: () => storage.close() };
  },
};

export const testStores: readonly TestStore[] = [memory];
