import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Owner } from './keeper.js';
import { checkPostgres } from './postgres-login.js';
import { PrivateServer } from './private-server.js';

export interface PostgresBinaries {
  /** The path of `postgres`. */
  readonly command: string;
  readonly initdb: string;
}

interface PostgresOptions {
  /** Flushes each commit to disk before it is acknowledged. */
  readonly durable?: boolean;
  readonly settings?: readonly string[];
  /** Throws until the server works. */
  readonly check?: (address: string) => Promise<unknown>;
  /** Called with the data folder before each start. */
  readonly beforeStart?: (dataFolder: string) => void;
}

const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** Starts a private PostgreSQL that needs no password. */
export function startPostgres(
  { command, initdb }: PostgresBinaries,
  { durable = false, settings = [], check = checkPostgres, beforeStart }: PostgresOptions = {},
): Promise<PrivateServer> {
  // No socket, because its path can exceed the length limit of sockets.
  const all = ['unix_socket_directories=', ...(durable ? [] : FAST), ...settings];
  return PrivateServer.start({
    owner: ownerOfPostgres(),
    addressAt: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    check,
    preparation: (folder) => ({
      command: initdb,
      args: ['-D', join(folder, 'data'), '-U', 'postgres', '--auth=trust', '--no-sync', '-E', 'UTF8', '--no-locale'],
      stopSignal: 'SIGTERM',
    }),
    program: (folder, port) => {
      const data = join(folder, 'data');
      beforeStart?.(data);
      const args = ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', ...all.flatMap((one) => ['-c', one])];
      return { command, args, stopSignal: 'SIGINT' };
    },
  });
}

/** PostgreSQL refuses to run as root. */
export function ownerOfPostgres(): Owner {
  if (process.getuid?.() !== 0) return {};
  return userNamed('postgres') ?? userNamed('nobody') ?? {};
}

function userNamed(name: string): Owner | undefined {
  try {
    const id = (which: string): number => Number(execFileSync('id', [which, name], { stdio: 'pipe' }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}
