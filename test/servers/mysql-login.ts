import { randomBytes } from 'node:crypto';
import { type ConnectionOptions, createConnection, type RowDataPacket } from 'mysql2/promise';
import { LOGIN_LIMIT_MS } from './server-kind.js';

/** The connection options of `TEST_MYSQL_URL`, with a socket from `?socketPath=`, for mysql2 and TypeORM. */
export function mysqlOptionsOf(
  address: string,
): Required<Pick<ConnectionOptions, 'host' | 'port' | 'user' | 'password'>> & { socketPath?: string } {
  const { hostname, port, username, password, searchParams } = new URL(address);
  const socketPath = searchParams.get('socketPath');
  return {
    host: hostname,
    port: Number(port || 3306),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    ...(socketPath === null ? {} : { socketPath }),
  };
}

/** Throws if the user cannot create databases. Returns the version. */
export async function checkMysql(address: string): Promise<string> {
  const connection = await createConnection({ ...mysqlOptionsOf(address), connectTimeout: LOGIN_LIMIT_MS });
  try {
    const database = `agent_sessions_probe_${randomBytes(6).toString('hex')}`;
    await connection.query(`CREATE DATABASE ${database}`);
    await connection.query(`DROP DATABASE ${database}`);
    const [rows] = await connection.query<(RowDataPacket & { version: string })[]>('SELECT VERSION() AS version');
    return rows.map(({ version }) => version).join();
  } finally {
    connection.destroy();
  }
}
