import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ComponentSession,
  type ComponentStore,
  InMemoryComponentStore,
  JsonFileComponentStore,
} from '../../../src/components/index.js';
import { ManualClock } from '../../../src/testing/manual-clock.js';

/** A folder that is removed after the tests of a file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agent-sessions-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface OpenComponents {
  readonly components: ComponentSession;
  readonly store: ComponentStore;
  readonly clock: ManualClock;
}

/** Each store, empty for each call. */
export function componentStores(): readonly {
  readonly name: string;
  readonly open: (ttlMs?: number) => OpenComponents;
}[] {
  const folder = temporaryFolder();
  let count = 0;
  return [
    { name: 'memory', open: (ttlMs) => opened((clock) => new InMemoryComponentStore({ clock }), ttlMs) },
    {
      name: 'JSON files',
      open: (ttlMs) =>
        opened(
          (clock) => new JsonFileComponentStore({ root: join(folder, `${++count}`), isSynced: false, clock }),
          ttlMs,
        ),
    },
  ];
}

function opened(make: (clock: ManualClock) => ComponentStore, ttlMs: number | undefined): OpenComponents {
  const clock = new ManualClock();
  const store = make(clock);
  return { components: new ComponentSession({ store, ttlMs }), store, clock };
}
