import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Libsql from 'libsql';
import type { Clock } from '../../src/sessions/domain/process/clock.js';
import type { OpenStorage, RawData } from '../../src/testing/open-storage.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { newStoreFolder } from './store-folder.js';
import { keysInTexts } from './sql-raw-data.js';

/** The file of a store without data. To copy it is much faster than to create the tables. */
let emptyFile: Promise<Buffer> | undefined;

/** A SQLite store in its own file, which is removed at the end. */
export async function openSqlite({ clock }: { clock?: Clock | undefined }): Promise<OpenStorage> {
  const folder = newStoreFolder();
  const database = join(folder, 'sessions.db');
  await writeFile(database, await (emptyFile ??= readEmptyFile()));
  const storage = new TypeOrmSessionStorage({ database, clock });
  await storage.open();
  return {
    storage,
    raw: async () => readRaw(database),
    async destroy() {
      await storage.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function readEmptyFile(): Promise<Buffer> {
  const folder = newStoreFolder();
  const database = join(folder, 'sessions.db');
  const storage = new TypeOrmSessionStorage({ database });
  await storage.open();
  await storage.close();
  const file = await readFile(database);
  await rm(folder, { recursive: true });
  return file;
}

/** The data of the file, read over another connection. */
export function readRaw(database: string): RawData {
  const connection = new Libsql(database, { readonly: true });
  try {
    const rows = (table: string): unknown[] => connection.prepare(`SELECT * FROM ${table}`).all();
    const found = connection
      .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'agent%'`)
      .all();
    const tables = new Map((found as { name: string }[]).map(({ name }) => [name, rows(name)]));
    const count = (name: string): number => tables.get(name)?.length ?? 0;
    return {
      sessions: count('agent_sessions'),
      events: count('agent_session_events'),
      stateEntries:
        keysInTexts(tables.get('agent_sessions')) + count('agent_session_state') + count('agent_shared_state'),
      text: JSON.stringify([...tables]),
    };
  } finally {
    connection.close();
  }
}
