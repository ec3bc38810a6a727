import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';
import { TypeOrmSessionStorage } from '../../../src/typeorm.js';

/** Where a store is, as plain data, so that every process can open it for itself. */
export interface StoreDescription {
  readonly kind: 'sqlite';
  readonly database: string;
}

const openers: Record<StoreDescription['kind'], (store: StoreDescription) => Promise<SessionStorage>> = {
  async sqlite({ database }) {
    const storage = new TypeOrmSessionStorage({ database });
    await storage.open();
    return storage;
  },
};

/** Opens the store in this process, over a connection of its own. */
export function openDescribed(store: StoreDescription): Promise<SessionStorage> {
  return openers[store.kind](store);
}
