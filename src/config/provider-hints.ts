/** What to write instead of a database name that is no provider. */
export interface ProviderHint {
  /** The usual name. */
  readonly name: string;
  /** As module options. */
  readonly options: string;
  /** As environment variables. */
  readonly variables: string;
}

const server = (name: string, url: string): ProviderHint => ({
  name,
  options: `{ provider: 'typeorm', database: { url: '${url}' } }`,
  variables: `SESSIONS_PROVIDER=typeorm and SESSIONS_DATABASE_URL=${url}`,
});

const mysql = server('MySQL and MariaDB', 'mysql://user:password@host:3306/database');
const postgres = server('PostgreSQL', 'postgres://user:password@host:5432/database');
const sqlite: ProviderHint = {
  name: 'SQLite',
  options: "{ provider: 'typeorm', database: { database: './data/sessions.db' } }",
  variables: 'SESSIONS_PROVIDER=typeorm and SESSIONS_DATABASE_URL=sqlite:./data/sessions.db',
};
const redis: ProviderHint = {
  name: 'Redis',
  options: "{ provider: 'redis', redis: { url: 'redis://host:6379' } }",
  variables: 'SESSIONS_PROVIDER=redis and SESSIONS_REDIS_URL=redis://host:6379',
};

const named = (names: readonly string[], hint: ProviderHint): (readonly [string, ProviderHint])[] =>
  names.map((name) => [name, hint]);

const HINTS: ReadonlyMap<string, ProviderHint> = new Map([
  ...named(['mysql', 'mysql2', 'mariadb'], mysql),
  ...named(['postgres', 'postgresql', 'pg'], postgres),
  ...named(['sqlite', 'sqlite3', 'better-sqlite3', 'libsql'], sqlite),
  ...named(['ioredis', 'redis-cluster', 'valkey'], redis),
]);

/** The hint for the name of a database or a driver. */
export function providerHint(name: unknown): ProviderHint | undefined {
  return typeof name === 'string' ? HINTS.get(name.toLowerCase()) : undefined;
}
