import { join } from 'node:path';
import { checkMysql } from './mysql-login.js';
import { PrivateServer } from './private-server.js';

export interface MariaDbBinaries {
  /** The path of `mariadbd`. */
  readonly command: string;
  /** The path of `mariadb-install-db`. */
  readonly installer: string;
}

/** Starts a private MariaDB whose user `root` has no password. */
export function startMariaDb(
  { command, installer }: MariaDbBinaries,
  { durable = false, args = [] }: { durable?: boolean; args?: readonly string[] } = {},
): Promise<PrivateServer> {
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
  const common = (folder: string): string[] => ['--no-defaults', `--datadir=${join(folder, 'data')}`, ...asRoot];
  const speed = durable ? [] : ['--innodb-flush-log-at-trx-commit=0', '--skip-innodb-doublewrite'];
  return PrivateServer.start({
    addressAt: (port) => `mysql://root@127.0.0.1:${port}`,
    check: checkMysql,
    preparation: (folder) => ({
      command: installer,
      args: [...common(folder), '--auth-root-authentication-method=normal', '--skip-test-db'],
      stopSignal: 'SIGTERM',
    }),
    program: (folder, port) => ({
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
    }),
  });
}
