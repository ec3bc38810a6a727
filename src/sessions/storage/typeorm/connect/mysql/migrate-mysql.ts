import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { StoreUnavailableError } from '../../../../domain/errors/errors.js';
import { EntryLeases } from '../../../../coordination/entry-leases.js';
import { KnownEntries } from '../../../../coordination/known-entries.js';
import { SqlEntries } from '../../entries/sql-entries.js';
import { SESSION_MIGRATIONS, createTables } from '../../schema/migrations.js';
import { ENTRIES } from '../../schema/entry-table.js';
import { findDriverErrorCode } from '../driver-errors.js';
import { notedMigrations } from '../executed-migrations.js';
import { openPooledDatabase } from '../open-pool.js';
import { migrateOnOneConnection } from '../server-kind.js';
import { ASK_GALERA, GALERA_SETTINGS, isYes } from './galera.js';

const WAIT_LIMIT_SECONDS = 30;
const POLL_MS = 200;
/** How long the others wait after a crash of the process that migrates. Longer than opening may take. */
const LEASE_MS = 90_000;
const LEASE = 'migrations of the tables of sessions';

/** Runs the migrations. If several processes try, one migrates and the others wait, also at other nodes of a cluster. */
export async function migrateMysql(dataSource: DataSource, settings: readonly string[]): Promise<void> {
  if (!isYes(await dataSource.query(ASK_GALERA))) {
    await migrateUnderLock(dataSource, settings);
    return;
  }
  const executed = await notedMigrations(dataSource);
  if (SESSION_MIGRATIONS.every(({ name }) => executed.includes(name))) return;
  await createEntries(dataSource);
  await underLease(dataSource, settings, () => migrateUnderLock(dataSource, [...settings, ...GALERA_SETTINGS]));
}

async function migrateUnderLock(dataSource: DataSource, settings: readonly string[]): Promise<void> {
  await migrateOnOneConnection(dataSource, async (runner, migrate) => {
    for (const setting of settings) await runner.query(setting);
    // All databases of a server share lock names, and their length is limited. MySQL 9.7 has no MD5.
    const name = "CONCAT('agent_sessions ', LEFT(SHA2(CONCAT(DATABASE(), ?), 256), 32))";
    const prefix = [dataSource.options.entityPrefix ?? ''];
    const answer: unknown = await runner.query(`SELECT GET_LOCK(${name}, ${WAIT_LIMIT_SECONDS}) AS got`, prefix);
    const [lock] = answer as { got: string | number | null }[];
    if (Number(lock?.got) !== 1) throw stillMigrating();
    try {
      await migrate();
    } finally {
      await runner.query(`SELECT RELEASE_LOCK(${name})`, prefix);
    }
  });
}

/** The nodes of a cluster do not share the locks of GET_LOCK. They all refuse a second entry of the lease. */
async function underLease(
  dataSource: DataSource,
  settings: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const timeLimitMs = WAIT_LIMIT_SECONDS * 1_000;
  const { transactions } = openPooledDatabase(dataSource, { settings, timeLimitMs, close: async () => undefined });
  const leases = new EntryLeases(new KnownEntries(new SqlEntries(transactions)));
  const request = { name: LEASE, holder: randomUUID(), ttlMs: LEASE_MS };
  const giveUpAt = performance.now() + timeLimitMs;
  let lease = await leases.acquire(request);
  while (!lease) {
    if (performance.now() > giveUpAt) throw stillMigrating();
    await delay(POLL_MS);
    lease = await leases.acquire(request);
  }
  try {
    await work();
  } finally {
    // If this fails, the lease expires.
    await leases.release(lease).catch(() => undefined);
  }
}

/** The first migration expects that the table may exist. */
async function createEntries(dataSource: DataSource): Promise<void> {
  const runner: QueryRunner = dataSource.createQueryRunner();
  try {
    await createTables(runner, [ENTRIES]);
  } catch (error) {
    // Another node has just created it.
    if (findDriverErrorCode(error) !== 'ER_TABLE_EXISTS_ERROR') throw error;
  } finally {
    await runner.release();
  }
}

function stillMigrating(): StoreUnavailableError {
  return new StoreUnavailableError('Another process is still migrating the tables of sessions.', false);
}
