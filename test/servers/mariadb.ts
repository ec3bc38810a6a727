import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { findBinary } from './binaries.js';
import { checkMysql } from './mysql-login.js';
import { startMariaDb } from './private-mariadb.js';
import type { ServerKind } from './server-kind.js';

const USUAL_SOCKETS = ['/run/mysqld/mysqld.sock', '/var/lib/mysql/mysql.sock', '/tmp/mysql.sock'];

export const mariadb: ServerKind = {
  name: 'MariaDB',
  variable: 'TEST_MYSQL_URL',
  example: 'mysql://root:secret@127.0.0.1:3306',
  usualAddresses: ['mysql://root@127.0.0.1:3306', ...socketAddresses()],
  check: checkMysql,
  binaries: ['mariadbd', 'mariadb-install-db'],
  debianPackage: 'mariadb-server',
  starter(folders) {
    const command = findBinary('mariadbd', folders);
    const installer = findBinary('mariadb-install-db', folders);
    if (command === undefined || installer === undefined) return undefined;
    return () => startMariaDb({ command, installer });
  },
};

/** Sockets on which the server authenticates the user of the operating system. */
function socketAddresses(): string[] {
  const user = encodeURIComponent(userInfo().username);
  return USUAL_SOCKETS.filter((socket) => existsSync(socket)).map(
    (socket) => `mysql://${user}@localhost/?socketPath=${encodeURIComponent(socket)}`,
  );
}
