import { opendir } from 'node:fs/promises';
import { JsonFileComponentStore } from '../components/json-files/json-file-component-store.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';

/** Component state in the store, and in a folder if one is named. One that is not there is no empty one. */
export async function componentsOf(storage: SessionStorage, folder: string | undefined): Promise<ComponentStore[]> {
  if (folder !== undefined) await (await opendir(folder)).close();
  const files = folder === undefined ? [] : [new JsonFileComponentStore({ root: folder })];
  return [...(storage.components ? [storage.components] : []), ...files];
}
