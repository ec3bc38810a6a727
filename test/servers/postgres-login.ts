import { Client } from 'pg';
import { LOGIN_LIMIT_MS } from './server-kind.js';

/** Throws if the user cannot create databases. Returns the version. */
export async function checkPostgres(address: string): Promise<string> {
  const client = new Client({
    connectionString: address,
    connectionTimeoutMillis: LOGIN_LIMIT_MS,
    query_timeout: LOGIN_LIMIT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; allowed: boolean }>(`
      SELECT current_setting('server_version') AS version,
        (rolsuper OR rolcreatedb) AND NOT pg_is_in_recovery() AS allowed
      FROM pg_roles WHERE rolname = current_user`);
    if (!rows.some(({ allowed }) => allowed)) throw new Error('its user may not create databases');
    return rows.map(({ version }) => version.split(' ', 1).join()).join();
  } finally {
    await client.end();
  }
}
