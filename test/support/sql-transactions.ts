import type { RawConnection, SqlServerName } from './sql-servers.js';
import { until } from './until.js';

/** How many other transactions are open in this database, and how many of them wait for a lock. */
interface OpenTransactions {
  readonly open: number;
  readonly waiting: number;
}

const TRANSACTIONS: Readonly<Record<SqlServerName, (connection: RawConnection) => Promise<OpenTransactions>>> = {
  mariadb: mariaDbTransactions,
  postgres: postgresTransactions,
};

/** From the status report, since the table of transactions is cached while it is polled. */
async function mariaDbTransactions(connection: RawConnection): Promise<OpenTransactions> {
  const [report] = await connection.query('SHOW ENGINE INNODB STATUS');
  const threads = await connection.query(
    'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
  );
  const ours = new Set(threads.map(({ id }) => String(id)));
  const transactions = String(report?.Status)
    .split('---TRANSACTION ')
    .filter((text) => /^\S+, ACTIVE/.test(text) && ours.has(/thread id (\d+)/.exec(text)?.[1] ?? ''));
  return { open: transactions.length, waiting: transactions.filter((text) => /^LOCK WAIT/m.test(text)).length };
}

async function postgresTransactions(connection: RawConnection): Promise<OpenTransactions> {
  const [row] = await connection.query(`
    SELECT COUNT(*) AS open, COUNT(*) FILTER (WHERE wait_event_type = 'Lock') AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
      AND backend_type = 'client backend'`);
  return { open: Number(row?.open), waiting: Number(row?.waiting) };
}

/** Waits until this many transactions in the database wait for a lock. */
export async function someoneWaitsForLock(server: SqlServerName, connection: RawConnection, many = 1): Promise<void> {
  await until(async () => (await TRANSACTIONS[server](connection)).waiting >= many, 'No transaction waits for a lock');
}

/** Waits until no other transaction is open in the database. A server may notice late that a client has disconnected. */
export async function noTransactionIsOpen(server: SqlServerName, connection: RawConnection): Promise<void> {
  await until(async () => (await TRANSACTIONS[server](connection)).open === 0, 'A transaction was left open');
}

const OTHER_CONNECTIONS: Readonly<Record<SqlServerName, string>> = {
  mariadb: 'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
  postgres: `SELECT pid AS id FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
};

/**
 * Waits until this is the only connection to the database. A server closes a connection after it has ended its
 * transaction, and a killed client may have sent statements that the server has not read yet.
 */
export async function nobodyElseIsConnected(server: SqlServerName, connection: RawConnection): Promise<void> {
  await until(
    async () => (await connection.query(OTHER_CONNECTIONS[server])).length === 0,
    'A connection was left open',
  );
}

/** Ends all other connections to the database, and waits until they have rolled back. */
export async function disconnectOthers(server: SqlServerName, connection: RawConnection): Promise<void> {
  for (const { id } of await connection.query(OTHER_CONNECTIONS[server])) {
    // It may end by itself.
    await connection.query(END_OF[server](Number(id))).catch(() => []);
  }
  await nobodyElseIsConnected(server, connection);
}

const END_OF: Readonly<Record<SqlServerName, (id: number) => string>> = {
  mariadb: (id) => `KILL ${id}`,
  postgres: (id) => `SELECT pg_terminate_backend(${id})`,
};

export async function numberFrom(connection: RawConnection, query: string): Promise<number> {
  const [row] = await connection.query(query);
  return Number(row?.number);
}
