import { DataSource } from 'typeorm';
import { SESSION_MIGRATIONS, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { SessionService } from '../../src/index.js';
import { observedDriver } from '../support/observed-driver.js';
import { SqliteFile } from '../support/sqlite-file.js';

const USER = { appName: 'shop', userId: 'ann' };
const NOTES = 40;

describe('statements of the app on the DataSource that it shares with the store', () => {
  let file: SqliteFile;
  let dataSource: DataSource;
  /** The app's statements that were sent while a transaction of the store was open. */
  let joined: string[];
  let failsAt: RegExp | undefined;

  beforeEach(async () => {
    file = new SqliteFile();
    joined = [];
    failsAt = undefined;
    let isOpen = false;
    const driver = observedDriver({
      beforeStatement: ({ text }) => {
        if (text.startsWith('BEGIN')) isOpen = true;
        if (/^(COMMIT|ROLLBACK)/.test(text)) isOpen = false;
        if (isOpen && /\bnotes\b/.test(text)) joined.push(text);
        if (failsAt?.test(text)) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
      },
    });
    const options = { driver, database: file.path, migrations: [...SESSION_MIGRATIONS] };
    dataSource = await new DataSource({ type: 'better-sqlite3', ...options }).initialize();
    await dataSource.runMigrations();
    await dataSource.query('CREATE TABLE notes (number integer)');
  });

  afterEach(async () => {
    await dataSource.destroy();
    await file.remove();
  });

  it('run between its transactions, so that none is lost with a rollback of the store', async () => {
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource, coalesceAppends: false }) });
    const session = await sessions.createSession(USER);
    failsAt = /INSERT INTO "agent_session_events"/;
    const appends = Array.from({ length: NOTES }, () =>
      sessions.appendEvent({ session, event: { author: 'user' } }).catch(() => undefined),
    );
    for (let number = 0; number < NOTES; number++)
      await dataSource.query('INSERT INTO notes (number) VALUES (?)', [number]);
    await Promise.all(appends);
    failsAt = undefined;

    expect(joined).toEqual([]);
    expect(await dataSource.query('SELECT COUNT(*) AS stored FROM notes')).toEqual([{ stored: NOTES }]);
    await sessions.appendEvent({ session, event: { author: 'user' } });
    expect(session.version).toBe(1);
  });

  it('run also beside transactions of the app, and the store goes on after them', async () => {
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource }) });
    const session = await sessions.createSession(USER);
    const appending = Array.from({ length: NOTES }, () => sessions.appendEvent({ session, event: { author: 'user' } }));
    for (let number = 0; number < NOTES; number += 2) {
      await dataSource.transaction((manager) => manager.query('INSERT INTO notes (number) VALUES (?)', [number]));
      await dataSource.query('INSERT INTO notes (number) VALUES (?)', [number + 1]);
    }
    await Promise.all(appending);

    expect(await dataSource.query('SELECT COUNT(*) AS stored FROM notes')).toEqual([{ stored: NOTES }]);
    expect(session.version).toBe(NOTES);
  });

  it('do not hold up the store if another subscriber keeps one from running', async () => {
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource }) });
    const session = await sessions.createSession(USER);
    const refusing = {
      beforeQuery: ({ query }: { query: string }) =>
        /refused/.test(query) ? Promise.reject(new Error('not this one')) : undefined,
    };
    (dataSource.subscribers as unknown[]).push(refusing);
    await expect(dataSource.query('SELECT 1 AS refused')).rejects.toThrow('not this one');

    await sessions.appendEvent({ session, event: { author: 'user' } });
    expect(session.version).toBe(1);
  });
});
