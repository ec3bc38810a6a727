import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { type StoreName, chosenStoreNames } from '../store-names.js';
import type { StoreDescription } from './store-description.js';

/** A store that several processes use at once, not yet opened by any. */
export interface SharedStore {
  readonly description: StoreDescription;
  /** Throws where the store itself finds something broken. */
  checkIntegrity(): void;
  /** Removes it with everything in it. */
  destroy(): Promise<void>;
}

export interface SharedStoreKind {
  readonly name: StoreName;
  create(): Promise<SharedStore>;
}

const allSharedStores: readonly SharedStoreKind[] = [{ name: 'sqlite', create: createSqliteFile }];

/**
 * Describes processes that share a store, for each store that can be shared and that `STORES` does not leave
 * out; `$name` in the title is its name.
 */
export function describeSharedStores(title: string, define: (store: SharedStoreKind) => void): void {
  const chosen = allSharedStores.filter(({ name }) => chosenStoreNames().includes(name));
  for (const store of chosen) describe(title.replace('$name', store.name), () => define(store));
  if (chosen.length === 0) it('has no store to share', () => expect(chosen).toEqual([]));
}

async function createSqliteFile(): Promise<SharedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-'));
  const database = join(folder, 'sessions.db');
  return {
    description: { kind: 'sqlite', database },
    checkIntegrity() {
      const connection = new Libsql(database);
      try {
        const problems = [...connection.prepare('PRAGMA integrity_check').all(), ...foreignKeyProblems(connection)];
        if (JSON.stringify(problems) !== '[{"integrity_check":"ok"}]') throw new Error(JSON.stringify(problems));
      } finally {
        connection.close();
      }
    },
    destroy: () => rm(folder, { recursive: true }),
  };
}

function foreignKeyProblems(connection: Libsql.Database): unknown[] {
  return connection.prepare('PRAGMA foreign_key_check').all();
}
