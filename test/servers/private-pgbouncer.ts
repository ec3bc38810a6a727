import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { installedProgram } from './installed-program.js';
import { PrivateServer } from './private-server.js';
import { ownerOfPostgres } from './private-postgres.js';
import { LOGIN_LIMIT_MS } from './server-kind.js';

export interface PgBouncerOptions {
  readonly poolMode: 'session' | 'transaction' | 'statement';
  readonly poolSize?: number;
  /** Whether it lets clients ask for settings of connections, and ignores them. Default: as installed, it refuses them. */
  readonly ignoresSettings?: boolean;
}

/** Startup parameters that the store sends unless it knows of a pooler. */
const IGNORED = 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout';

/** Starts a PgBouncer in front of a PostgreSQL whose user `postgres` has no password. */
export async function startPgBouncer(
  target: string,
  { poolMode, poolSize = 10, ignoresSettings = false }: PgBouncerOptions,
): Promise<PrivateServer> {
  const command = await installedProgram('pgbouncer', 'The tests of poolers');
  const { hostname, port } = new URL(target);
  const owner = ownerOfPostgres();
  return PrivateServer.start({
    owner,
    addressAt: (own) => `postgres://postgres@127.0.0.1:${own}/postgres`,
    check,
    program: (folder, own) => {
      const write = (name: string, lines: readonly string[]): string => {
        const path = join(folder, name);
        writeFileSync(path, `${lines.join('\n')}\n`);
        if (owner.uid !== undefined && owner.gid !== undefined) chownSync(path, owner.uid, owner.gid);
        return path;
      };
      const users = write('users', ['"postgres" ""']);
      const file = write('pgbouncer.ini', [
        '[databases]',
        `* = host=${hostname} port=${port} user=postgres`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${own}`,
        'unix_socket_dir =',
        'auth_type = trust',
        `auth_file = ${users}`,
        `pool_mode = ${poolMode}`,
        `default_pool_size = ${poolSize}`,
        ...(ignoresSettings ? [`ignore_startup_parameters = ${IGNORED}`] : []),
      ]);
      return { command, args: [file], stopSignal: 'SIGTERM' };
    },
  });
}

async function check(address: string): Promise<void> {
  const client = new Client({ connectionString: address, connectionTimeoutMillis: LOGIN_LIMIT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end();
  }
}
