import { setTimeout as wait } from 'node:timers/promises';
import {
  ComponentConflictError,
  type ComponentSession,
  type ComponentStore,
  JsonFileComponentStore,
} from '../../../src/components/index.js';
import { type StoreDescription, openDescribed } from '../../support/processes/store-description.js';

/** JSON files, or a store of sessions, as plain data for another process. */
export type SharedComponents = { readonly kind: 'JSON files'; readonly root: string } | StoreDescription;

export async function openComponents(
  shared: SharedComponents,
): Promise<{ store: ComponentStore; close(): Promise<void> }> {
  if (shared.kind === 'JSON files') {
    const store = new JsonFileComponentStore({ root: shared.root, isSynced: false });
    return { store, close: () => store.close() };
  }
  const storage = await openDescribed(shared);
  if (!storage.components) throw new Error(`${shared.kind} keeps no components`);
  return { store: storage.components, close: () => storage.close() };
}

/** Saves with each policy, while another process does the same. */
export async function saveWithPolicies(components: ComponentSession, name: string, rounds: number): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    const loaded = await components.getListVersioned<string>('policies', 'merged');
    const items = [...loaded.value, `${name}-${round}`];
    await wait(Math.random() * 3);
    await components.saveList('policies', 'merged', items, { loaded, onConflict: 'append-merge' });
    await components.save('policies', 'overwritten', { name, round });
    await untilNoConflict(async () => {
      const { value = 0, version } = await components.getVersioned<number>('policies', 'counted');
      await components.save('policies', 'counted', value + 1, { version });
    });
    await untilNoConflict(async () => {
      const seen = await components.getListVersioned<string>('policies', 'checked');
      await components.saveList('policies', 'checked', [...seen.value, `${name}-${round}`], { loaded: seen });
    });
  }
}

async function untilNoConflict(save: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await save();
    } catch (error) {
      if (!(error instanceof ComponentConflictError)) throw error;
      await wait(Math.random() * 5);
    }
  }
}
