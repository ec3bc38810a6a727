import { isDecodable } from './redis-address.js';

/** Whether it is the address of a SQL server. */
export function isServerUrl(value: unknown): boolean {
  return typeof value === 'string' && /^(mysql|mariadb|postgres|postgresql):\/\/./i.test(value) && isDecodable(value);
}

/** Whether it is the address of a PostgreSQL server. */
export function isPostgresUrl(value: unknown): boolean {
  return isServerUrl(value) && /^postgres/i.test(String(value));
}
