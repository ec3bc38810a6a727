import { join } from 'node:path';
import type { Program } from './keeper.js';
import { checkMysql } from './mysql-login.js';
import { PrivateServer } from './private-server.js';

export interface MariaDbBinaries {
  /** The path of `mariadbd`. */
  readonly command: string;
  /** The path of `mariadb-install-db`. */
  readonly installer: string;
}

interface MariaDbOptions {
  /** Flushes each commit to disk before it is acknowledged. */
  readonly durable?: boolean;
  /** More arguments of mariadbd. */
  readonly args?: readonly string[];
  /** Throws until the server works. */
  readonly check?: (address: string) => Promise<unknown>;
  /** A data folder of a server that never ran, to begin with. Default: a new one. */
  readonly firstData?: string | undefined;
  /** Called with the data folder before each start. */
  readonly beforeStart?: (dataFolder: string) => void;
}

/** Starts a private MariaDB whose user `root` has no password. */
export function startMariaDb(
  { command, installer }: MariaDbBinaries,
  { durable = false, args = [], check = checkMysql, firstData, beforeStart }: MariaDbOptions = {},
): Promise<PrivateServer> {
  const speed = durable ? [] : ['--innodb-flush-log-at-trx-commit=0', '--skip-innodb-doublewrite'];
  return PrivateServer.start({
    addressAt: (port) => `mysql://root@127.0.0.1:${port}`,
    check,
    preparation: (folder) =>
      firstData === undefined
        ? mariaDbInstallation(installer, folder)
        : { command: 'cp', args: ['-a', firstData, join(folder, 'data')], stopSignal: 'SIGTERM' },
    program: (folder, port) => {
      beforeStart?.(join(folder, 'data'));
      return {
        command,
        args: [
          ...common(folder),
          `--port=${port}`,
          '--bind-address=127.0.0.1',
          // Relative to the data folder, because the full path can exceed the length limit of sockets.
          '--socket=server.sock',
          '--skip-log-bin',
          '--skip-name-resolve',
          '--innodb-buffer-pool-size=64M',
          ...speed,
          ...args,
        ],
        stopSignal: 'SIGTERM',
      };
    },
  });
}

/** Makes the first data of a server, in `data` of the folder. */
export function mariaDbInstallation(installer: string, folder: string): Program {
  return {
    command: installer,
    args: [...common(folder), '--auth-root-authentication-method=normal', '--skip-test-db'],
    stopSignal: 'SIGTERM',
  };
}

function common(folder: string): string[] {
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
  return ['--no-defaults', `--datadir=${join(folder, 'data')}`, '--innodb-log-file-size=16M', ...asRoot];
}
