import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ComponentSession, type ComponentStore, JsonFileComponentStore } from '../../../src/components/index.js';
import { ManualClock } from '../../../src/testing/manual-clock.js';
import { newStoreFolder } from '../../support/store-folder.js';
import { storesAboveThePort } from '../../support/stores.js';

/** A folder that is removed after the tests of a file. */
export function temporaryFolder(): string {
  const folder = newStoreFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface OpenComponents {
  readonly components: ComponentSession;
  readonly store: ComponentStore;
  readonly clock: ManualClock;
}

/** A store that a test opens empty. */
export interface ComponentTestStore {
  readonly name: string;
  readonly open: (ttlMs?: number) => Promise<OpenComponents>;
}

/** Opens an empty store, which is removed after the test. */
type Opening = (clock: ManualClock) => Promise<{ store: ComponentStore; destroy(): Promise<void> }>;

/** Each store that is chosen for what is built on the port, empty for each call. */
export function componentStores(): readonly ComponentTestStore[] {
  const folder = temporaryFolder();
  let count = 0;
  const jsonFiles: Opening = async (clock) => {
    const store = new JsonFileComponentStore({ root: join(folder, `${++count}`), isSynced: false, clock });
    return { store, destroy: () => store.close() };
  };
  return [
    { name: 'JSON files', open: opened(jsonFiles) },
    ...storesAboveThePort.map(({ name, open }) => ({
      name,
      open: opened(async (clock) => {
        const { storage, destroy } = await open({ clock });
        if (!storage.components) throw new Error(`${name} keeps no components`);
        return { store: storage.components, destroy };
      }),
    })),
  ];
}

const opening: (() => Promise<void>)[] = [];

/** Call it once in a file that opens stores. */
export function destroyAfterEach(): void {
  afterEach(async () => {
    await Promise.all(opening.splice(0).map((destroy) => destroy()));
  });
}

function opened(open: Opening): ComponentTestStore['open'] {
  return async (ttlMs) => {
    const clock = new ManualClock();
    const { store, destroy } = await open(clock);
    opening.push(destroy);
    return { components: new ComponentSession({ store, ttlMs }), store, clock };
  };
}
