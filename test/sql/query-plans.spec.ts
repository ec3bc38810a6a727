import { Connection } from 'mysql2';
import { Client } from 'pg';
import { SessionService } from '../../src/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { SETTINGS, runAllStatements } from '../counted/all-statements.js';
import { KEY, METADATA } from '../counted/operations.js';
import { fillSqlLog, fillSqlSessions, fillSqlState } from '../support/filled-sql.js';
import type { SentStatement } from '../support/observed-driver.js';
import { type SqlBench, describeSqlServers } from '../support/sql-bench.js';

describeSqlServers('The statements for $name', (bench) => {
  it('find every row by an index, and read lists in the order of an index', async () => {
    const statements = new Map<string, SentStatement>();
    for (const settings of SETTINGS) {
      for (const statement of await statementsWith(bench(), settings))
        statements.set(shapeOf(statement.text), statement);
    }
    const texts = [...statements.keys()];
    for (const verb of ['SELECT', 'INSERT', 'UPDATE', 'DELETE']) {
      expect(texts.filter((text) => text.trim().startsWith(verb)).length).toBeGreaterThan(3);
    }
    const raw = await bench().connect();
    await bench()
      .sessions()
      .createSession({ ...KEY, metadata: METADATA });
    await fillSqlSessions(raw, bench().name, 2_000);
    // The rows of one app or user are few among all.
    await raw.query("UPDATE agent_sessions SET app_name = 'other' WHERE session_id LIKE 'other%' AND pk % 10 <> 0");
    await raw.query(
      "UPDATE agent_session_index SET app_name = 'other' WHERE session_id LIKE 'other%' AND session_pk % 10 <> 0",
    );
    await fillSqlLog(raw, 10_000, (seq) => ({ author: seq % 10 ? 'agent' : 'user' }));
    await fillSqlState(raw, bench().name, 2_000);
    await raw.query(ENTRIES);
    const scans = bench().name === 'postgres' ? await postgresScans(bench()) : await mariaDbScans(bench());
    const found = [];
    for (const statement of statements.values()) {
      const steps = await scans(statement);
      if (steps.length > 0) found.push([statement.text, ...steps]);
    }
    expect(found).toEqual([]);
    // A statement that must scan the table.
    expect(await scans({ text: 'SELECT * FROM agent_sessions WHERE state_bytes = 3', values: [] })).not.toEqual([]);
  });
});

/** As many entries as there are sessions. */
const ENTRIES = `INSERT INTO agent_entries (space, name, stamp, entry_rank, since_time, expires_at, content)
  SELECT DISTINCT 'filled', session_id, pk, pk, pk, pk, '' FROM agent_sessions`;

/** The statements that a store sends. */
async function statementsWith(bench: SqlBench, settings: (typeof SETTINGS)[number]): Promise<SentStatement[]> {
  const clock = new ManualClock(Date.now());
  const raw = await bench.connect();
  const storage = bench.storage({ clock, driverOptions: { ...SINGLY, ...socketOf(bench) } });
  const sessions = new SessionService({ storage, clock, ...settings });
  await sessions.getUserState({ appName: 'shop', userId: 'ann' });
  const sent: SentStatement[] = [];
  const spy = spyOnDriver(bench, (statement) => sent.push(statement));
  await runAllStatements({
    sessions,
    storage,
    clock,
    fillSessions: (count) => fillSqlSessions(raw, bench.name, count),
    fillLog: (count, eventAt) => fillSqlLog(raw, count, eventAt),
  });
  await sessions.whenIdle();
  spy.mockRestore();
  for (const table of ['agent_sessions', 'agent_shared_scopes']) await raw.query(`DELETE FROM ${table}`);
  // The store quotes table names. The code that fills the tables does not.
  return sent.filter(({ text }) => /^\s*(SELECT|INSERT|UPDATE|DELETE)\b/.test(text) && /[`"]agent_/.test(text));
}

/** Sends each statement in its own message. */
const SINGLY = { multipleStatements: false };

function socketOf({ database }: SqlBench): object {
  return database.storageOptions.driverOptions ?? {};
}

function spyOnDriver(bench: SqlBench, onStatement: (statement: SentStatement) => void): jest.SpyInstance {
  const prototype = (bench.name === 'postgres' ? Client : Connection).prototype as unknown as DriverPrototype;
  const query = prototype.query;
  return jest.spyOn(prototype, 'query').mockImplementation(function (this: unknown, ...given: unknown[]) {
    const [statement] = given as [{ text?: string; sql?: string; values?: unknown[] } | string];
    if (typeof statement === 'object') {
      onStatement({ text: statement.text ?? statement.sql ?? '', values: statement.values ?? [] });
    }
    return query.apply(this, given);
  });
}

interface DriverPrototype {
  query(...given: unknown[]): unknown;
}

/** The text without values and their number. */
function shapeOf(text: string): string {
  return text
    .replaceAll(/'(?:[^'\\]|\\.|'')*'/g, '?')
    .replaceAll(/\b\d+\b/g, '?')
    .replaceAll(/\$\?/g, '?')
    .replaceAll(/(\([?, ]+\)(, )?)+/g, '(?)')
    .replaceAll(/\?(, \?)+/g, '?');
}

type ScansOf = (statement: SentStatement) => Promise<string[]>;

async function mariaDbScans(bench: SqlBench): Promise<ScansOf> {
  const raw = await bench.connect();
  const tables = await raw.query("SHOW TABLES LIKE 'agent%'");
  for (const row of tables) await raw.query(`ANALYZE TABLE ${String(Object.values(row)[0])}`);
  const { createConnection } = await import('mysql2/promise');
  const { mysqlOptionsOf } = await import('../servers/mysql-login.js');
  const { url, driverOptions } = bench.database.storageOptions;
  const database = new URL(url).pathname.slice(1);
  const connection = await createConnection({ ...mysqlOptionsOf(url), ...driverOptions, database, charset: 'utf8mb4' });
  bench.closeInTheEnd(() => connection.end());
  // With this setting the planner scans a table only if it has no other way.
  await connection.query('SET SESSION max_seeks_for_key = 1');
  return async ({ text, values }) => {
    const [rows] = (await connection.query(`EXPLAIN ${text}`, [...values])) as unknown as [readonly MariaDbStep[]];
    const isList = /ORDER BY [is]\.(create_time|update_minute)/.test(text);
    const sorts = rows.filter(
      ({ table, Extra }) => isList && table?.startsWith('<') === false && /filesort/.test(Extra ?? ''),
    );
    return [...sorts.map((row) => JSON.stringify(row)), ...scansAmong(rows)];
  };
}

interface MariaDbStep {
  readonly table: string | null;
  readonly type: string | null;
  readonly select_type: string;
  readonly possible_keys: unknown;
  readonly Extra: string | null;
}

function scansAmong(rows: readonly MariaDbStep[]): string[] {
  return (
    rows
      .filter(({ table, type }) => table !== null && !table.startsWith('<') && /^(ALL|index)$/.test(type ?? ''))
      // It chooses between a scan and an index by samples, which differ from run to run.
      .filter(({ possible_keys: keys }) => keys === null)
      .filter(({ select_type: kind }) => kind !== 'INSERT')
      .map((row) => JSON.stringify(row))
  );
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

async function postgresScans(bench: SqlBench): Promise<ScansOf> {
  const client = new Client({ connectionString: bench.database.storageOptions.url });
  await client.connect();
  bench.closeInTheEnd(() => client.end());
  await client.query('ANALYZE');
  // With this setting the planner scans a table only if it has no other way.
  await client.query('SET enable_seqscan = off');
  const scansIn = (node: PlanNode): string[] => [
    ...(isScan(node) ? [JSON.stringify({ ...node, Plans: undefined })] : []),
    ...(node.Plans ?? []).flatMap(scansIn),
  ];
  return async ({ text, values }) => {
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`EXPLAIN (FORMAT JSON) ${text}`, [
      ...values,
    ]);
    return rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => scansIn(Plan)));
  };
}

function isScan(node: PlanNode): boolean {
  const type = node['Node Type'];
  if (type === 'Seq Scan') return true;
  // It has only the rows that are looked for.
  if (node['Index Name'] === 'agent_sessions_waiting') return false;
  return /^(Index|Index Only|Bitmap Index) Scan$/.test(type) && node['Index Cond'] === undefined;
}
