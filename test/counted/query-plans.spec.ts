import type Libsql from 'libsql';
import { SessionService } from '../../src/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { fillLog, fillSessions } from '../support/filled-sqlite.js';
import { type SentStatement, observedDriver } from '../support/observed-driver.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { StatementLog } from '../support/statement-log.js';
import { SETTINGS, runAllStatements } from './all-statements.js';

describe('the statements of SQLite', () => {
  let file: SqliteFile;
  let connection: Libsql.Database;
  let statements: readonly SentStatement[];

  beforeAll(async () => {
    statements = await allStatements();
    file = new SqliteFile();
    await file.storage();
    connection = file.connection();
  });

  afterAll(async () => {
    await file.remove();
  });

  it('are all covered', () => {
    const texts = statements.map(({ text }) => text);
    for (const table of [
      'sessions',
      'session_events',
      'session_state',
      'session_index',
      'shared_scopes',
      'shared_state',
      'entries',
    ]) {
      for (const verb of ['SELECT', 'INSERT', 'UPDATE', 'DELETE']) {
        const isThere = texts.some((text) => text.trim().startsWith(verb) && text.includes(`"agent_${table}"`));
        expect([table, verb, isThere]).toEqual([table, verb, !NEVER_SENT.has(`${verb} ${table}`)]);
      }
    }
  });

  it('find every row by an index', () => {
    const scans = statements.filter((statement) => planOf(statement).some((step) => isScanOfTable(step)));
    expect(scans.map((statement) => [statement.text, ...planOf(statement)])).toEqual([]);
  });

  it('find events by more than their session, unless they delete all of them', () => {
    const walks = statements.filter(({ text, ...rest }) => {
      const isOverLog = planOf({ text, ...rest }).some((step) => /^SEARCH .*\(session_pk=\?\)/.test(step));
      return isOverLog && /\bagent_session_events\b/.test(text) && !/^\s*DELETE/.test(text);
    });
    expect(walks.map((statement) => [statement.text, ...planOf(statement)])).toEqual([]);
  });

  it('find the last anchor by the index of anchors', () => {
    const steps = statements.filter(({ text }) => /\banchor = 1\b/.test(text)).flatMap(planOf);
    // Besides those for the beginning of a time window.
    const searches = steps.filter((step) => step.startsWith('SEARCH') && !step.startsWith('SEARCH p '));
    expect(searches.length).toBeGreaterThan(0);
    expect(searches.filter((step) => !step.includes('agent_session_events_anchors'))).toEqual([]);
  });

  it('sort only events of several ranges of a log, their sizes, the matches of a filter, and sessions of some minutes', () => {
    const sorts = statements.filter(
      ({ text, ...rest }) =>
        !/UNION ALL|LIMIT \?\) x\b|SUM\(size\) OVER|update_minute [<>]?= \?\s+ORDER BY s\.last_update_time/.test(
          text,
        ) && planOf({ text, ...rest }).some((step) => /TEMP B-TREE/.test(step)),
    );
    expect(sorts.map((statement) => [statement.text, ...planOf(statement)])).toEqual([]);
  });

  function planOf({ text, values }: SentStatement): string[] {
    const steps = connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[];
    return steps.map(({ detail }) => detail);
  }
});

/** Operations that the store must not use. */
const NEVER_SENT = new Set(
  [['UPDATE session_state', 'UPDATE session_index', 'UPDATE shared_state', 'UPDATE entries']].flat(),
);

/** A scan of a table or of a whole index, but not of rows that another step has found. */
function isScanOfTable(step: string): boolean {
  return /^SCAN (?!stretch\b|probe\b|w\b|x\b|counted\b|sizes\b|newest\b|\(subquery-\d+\)|CONSTANT ROW|\d+ CONSTANT ROWS)/.test(
    step,
  );
}

/** All different statements that a store sends. */
async function allStatements(): Promise<SentStatement[]> {
  const statements = new Map<string, SentStatement>();
  for (const settings of SETTINGS) {
    const file = new SqliteFile();
    for (const statement of await doEverything(file, settings)) statements.set(statement.text, statement);
    await file.remove();
  }
  return [...statements.values()];
}

async function doEverything(file: SqliteFile, settings: (typeof SETTINGS)[number]): Promise<readonly SentStatement[]> {
  const clock = new ManualClock(Date.now());
  const log = new StatementLog();
  const storage = await file.storage({ driver: observedDriver(log), clock });
  const sessions = new SessionService({ storage, clock, ...settings });
  log.clear();
  const connection = file.connection();
  await runAllStatements({
    sessions,
    storage,
    clock,
    fillSessions: async (count) => fillSessions(connection, count),
    fillLog: async (count, eventAt) => fillLog(connection, count, eventAt),
  });
  return log.statements();
}
