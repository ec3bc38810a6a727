import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type EventInput, SessionService, StoreUnavailableError } from '../../src/index.js';
import { observedDriver } from '../support/observed-driver.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const APPENDS = 200;

describe('a SQLite store that is closed with queued appends', () => {
  let file: SqliteFile;

  beforeEach(() => {
    file = new SqliteFile();
  });

  afterEach(() => file.remove());

  it.each([true, false])('finishes them (shared transactions: %j)', async (coalesceAppends) => {
    const storage = await file.storage({ coalesceAppends });
    const sessions = new SessionService({ storage });
    await sessions.createSession(KEY);
    const appends = appendMany((event) => sessions.append({ session: SESSION, event }));
    await new Promise(setImmediate);
    await storage.close();
    expect(await storedIds()).toEqual(await acknowledged(appends));
    expect(await storedIds()).toHaveLength(APPENDS);
  });

  it.each([true, false])('refuses those that cannot be finished in time (%j)', async (coalesceAppends) => {
    const storage = await file.storage({ coalesceAppends, timeLimitMs: 100 });
    const sessions = new SessionService({ storage });
    await sessions.createSession(KEY);
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    const appends = appendMany((event) => sessions.append({ session: SESSION, event }));
    await new Promise(setImmediate);
    await storage.close();
    other.exec('COMMIT');
    expect(await acknowledged(appends)).toEqual([]);
    expect(await storedIds()).toEqual([]);
  });

  it('settles appends that arrive while it closes', async () => {
    await (await file.sessions()).createSession(KEY);
    const storage = await file.storage();
    const late = new SessionService({ storage });
    const appends = appendMany((event) => late.append({ session: SESSION, event }));
    const closing = storage.close();
    const more = appendMany(async (event) => late.append({ session: SESSION, event }), APPENDS);
    await closing;
    expect((await acknowledged([...appends, ...more])).toSorted()).toEqual((await storedIds()).toSorted());
  });

  async function storedIds(): Promise<string[]> {
    const reader = await file.sessions();
    const { events } = await reader.listEvents({ ...KEY, limit: 1_000 });
    await reader.close();
    return events.map(({ id }) => id);
  }
});

describe('a SQLite store that is closed', () => {
  // libsql cannot end a statement, and keeps the file open until all statements of the connection are collected.
  it('holds nothing of its connection, so that a garbage collection closes the file', async () => {
    const file = new SqliteFile();
    const connections: WeakRef<object>[] = [];
    const driver = observedDriver({ opened: (connection) => connections.push(new WeakRef(connection)) });
    for (let time = 0; time < 3; time++) {
      const sessions = await file.sessions({ driver });
      await sessions.getOrCreateSession(KEY);
      await sessions.append({ session: SESSION, event: { author: 'user' } });
      await sessions.close();
    }
    expect(connections).toHaveLength(3);
    await until(async () => {
      collectGarbage();
      await delay(1);
      return connections.every((connection) => connection.deref() === undefined) && openFiles(file.path) === 0;
    });
    await file.remove();
  });
});

/** How many descriptors this process has of a database and its log. Linux tells; elsewhere nothing is known. */
function openFiles(path: string): number {
  const folder = '/proc/self/fd';
  if (!existsSync(folder)) return 0;
  const targetOf = (name: string): string => {
    try {
      return readlinkSync(join(folder, name));
    } catch {
      return ''; // It was closed meanwhile.
    }
  };
  return readdirSync(folder).filter((name) => targetOf(name).startsWith(path)).length;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function appendMany(append: (event: EventInput) => Promise<unknown>, from = 0) {
  return Array.from({ length: APPENDS }, (_, index) => {
    const id = `e-${from + index}`;
    return { id, appending: Promise.allSettled([append({ author: 'user', id })]) };
  });
}

/** The acknowledged ids. All others must fail with the expected error. */
async function acknowledged(appends: ReturnType<typeof appendMany>): Promise<string[]> {
  const ids: string[] = [];
  for (const { id, appending } of appends) {
    const [outcome] = await appending;
    if (outcome.status === 'fulfilled') ids.push(id);
    else expect(outcome.reason).toBeInstanceOf(StoreUnavailableError);
  }
  return ids;
}
