import { createConnection } from 'mysql2/promise';
import { mysqlOptionsOf } from './mysql-login.js';
import { type MariaDbBinaries, startMariaDb } from './private-mariadb.js';
import type { PrivateServer } from './private-server.js';

/** Starts a MariaDB that others can follow. */
export function startMariaDbPrimary(binaries: MariaDbBinaries): Promise<PrivateServer> {
  return startMariaDb(binaries, { args: ['--log-bin=bin', '--server-id=1', '--binlog-format=ROW'] });
}

/** Starts a replica of it, from its first commit on. */
export async function startMariaDbReplica(binaries: MariaDbBinaries, primary: PrivateServer): Promise<PrivateServer> {
  const replica = await startMariaDb(binaries, { args: ['--server-id=2'] });
  const { hostname, port } = new URL(primary.address);
  await askMariaDb(
    replica.address,
    `CHANGE MASTER TO MASTER_HOST='${hostname}', MASTER_PORT=${port}, MASTER_USER='root', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1`,
  );
  await askMariaDb(replica.address, 'START SLAVE');
  return replica;
}

/** Runs a statement over a connection of its own. */
export async function askMariaDb(address: string, statement: string): Promise<void> {
  const connection = await createConnection(mysqlOptionsOf(address));
  try {
    await connection.query(statement);
  } finally {
    connection.destroy();
  }
}
