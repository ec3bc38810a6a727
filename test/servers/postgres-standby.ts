import { join } from 'node:path';
import { Client } from 'pg';
import { checkPostgres } from './postgres-login.js';
import { ownerOfPostgres } from './private-postgres.js';
import { PrivateServer } from './private-server.js';

interface StandbyBinaries {
  /** The path of `postgres`. */
  readonly command: string;
  /** The path of `pg_basebackup`. */
  readonly backup: string;
}

/** Starts a standby of a private PostgreSQL that acknowledges commits from then on only when the standby has them on disk. */
export async function startSynchronousStandby(
  binaries: StandbyBinaries,
  primary: PrivateServer,
): Promise<PrivateServer> {
  const standby = await startStandby(binaries, primary);
  await askPostgres(primary.address, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await askPostgres(primary.address, 'SELECT pg_reload_conf()');
  return standby;
}

/** Starts a standby of a private PostgreSQL, which does not wait for it. */
export function startStandby({ command, backup }: StandbyBinaries, primary: PrivateServer): Promise<PrivateServer> {
  const { hostname, port: from } = new URL(primary.address);
  return PrivateServer.start({
    owner: ownerOfPostgres(),
    addressAt: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    check: (address) => askPostgres(address, 'SELECT 1'),
    preparation: (folder) => ({
      command: backup,
      args: ['-D', join(folder, 'data'), '-h', hostname, '-p', from, '-U', 'postgres', '-R', '-c', 'fast', '--no-sync'],
      stopSignal: 'SIGTERM',
    }),
    program: (folder, port) => ({
      command,
      args: ['-D', join(folder, 'data'), '-p', `${port}`, '-h', '127.0.0.1', '-c', 'unix_socket_directories='],
      stopSignal: 'SIGINT',
    }),
  });
}

/** Makes a standby a primary, and waits until it takes writes. */
export async function promote(standby: PrivateServer): Promise<void> {
  await askPostgres(standby.address, 'SELECT pg_promote()');
  await checkPostgres(standby.address);
}

/** The rows of one query over a connection of its own. */
export async function askPostgres(address: string, query: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: address });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(query)).rows;
  } finally {
    await client.end();
  }
}
