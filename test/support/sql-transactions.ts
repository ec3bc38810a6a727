import { setTimeout as delay } from 'node:timers/promises';
import type { RawConnection, SqlServerName } from './sql-servers.js';

/** How often to look again; whoever looks at MariaDB's transactions more often sees old ones. */
const POLL_MS: Readonly<Record<SqlServerName, number>> = { mariadb: 110, postgres: 10 };
const PATIENCE_MS = 10_000;

const WAITING: Readonly<Record<SqlServerName, string>> = {
  mariadb: `
    SELECT COUNT(*) AS number FROM information_schema.innodb_trx t
    JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
    WHERE p.db = DATABASE() AND t.trx_state = 'LOCK WAIT'`,
  postgres: `
    SELECT COUNT(*) AS number FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`,
};

const OPEN: Readonly<Record<SqlServerName, string>> = {
  mariadb: `
    SELECT COUNT(*) AS number FROM information_schema.innodb_trx t
    JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
    WHERE p.db = DATABASE() AND p.id <> CONNECTION_ID()`,
  postgres: `
    SELECT COUNT(*) AS number FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
      AND backend_type = 'client backend'`,
};

/** Waits until somebody in this database waits for a lock, or as many as are asked for. */
export async function someoneWaitsForLock(server: SqlServerName, connection: RawConnection, many = 1): Promise<void> {
  await until(async () => (await numberFrom(connection, WAITING[server])) >= many, 'Nobody waits for a lock', server);
}

/** Waits until no transaction of others is open in this database; a server may notice late that a client has gone. */
export async function noTransactionIsOpen(server: SqlServerName, connection: RawConnection): Promise<void> {
  await until(async () => (await numberFrom(connection, OPEN[server])) === 0, 'A transaction was left open', server);
}

export async function numberFrom(connection: RawConnection, query: string): Promise<number> {
  const [row] = await connection.query(query);
  return Number(row?.number);
}

export async function until(
  isSo: () => Promise<boolean>,
  complaint: string,
  server: SqlServerName = 'postgres',
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(complaint);
    await delay(POLL_MS[server]);
  }
}
