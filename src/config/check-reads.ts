import { type Names, type Options, problemsOfValues, unknownNames } from './option-checks.js';
import type { ReadSettings } from './read-settings.js';
import { isPostgresUrl, isServerUrl } from './server-url.js';
import { type SettingsOf, isRecord, kindOf, wholeNumber } from './setting.js';
import { DATABASE } from './store-settings.js';
import type { TlsChoice } from './tls-settings.js';
import { databaseTls } from './url-options.js';

const { tls, poolSize, timeLimitMs, preparedStatements, pooler, driverOptions } = DATABASE;

const LONGEST_LAG_MS = 3_600_000;

/** The options of a read replica. */
export const READS = {
  url: { kind: kindOf('mysql://, mariadb:// or postgres://', isServerUrl), isSecret: true },
  tls,
  poolSize,
  timeLimitMs,
  preparedStatements,
  pooler,
  driverOptions,
  maxLagMs: { kind: wholeNumber(100, LONGEST_LAG_MS), default: 5_000 },
} as const satisfies SettingsOf<ReadSettings>;

const OF_POSTGRES = ['preparedStatements', 'pooler'];

/** What only stores with the address of a SQL server can have. */
export function problemsOfReads({ url, reads }: Options, names: Names): readonly string[] {
  if (reads === undefined) return [];
  const given = names.given('database.reads').join(' and ') || names.of('database.reads');
  if (!isServerUrl(url)) {
    return [
      `${given} has no effect without the address of a MySQL, MariaDB or PostgreSQL server in ${names.of('database.url')}; remove it.`,
    ];
  }
  if (!isRecord(reads)) return [`${given} must be an object, such as { url: "postgres://replica/agents" }.`];
  const before = 'database.reads.';
  const known = [...Object.keys(READS), 'onWarning'];
  const problems = [...unknownNames(reads, known, names, before), ...problemsOfValues(reads, READS, names, before)];
  if (problems.length > 0) return problems;
  const { url: address } = reads;
  if (typeof address !== 'string') return [`${names.of('database.reads.url')} is missing; a read replica needs it.`];
  const isPostgres = isPostgresUrl(address);
  if (isPostgres !== isPostgresUrl(url)) {
    return [
      `${names.of('database.reads.url')} is another kind of server than ${names.of('database.url')}; name its replica.`,
    ];
  }
  const idle = isPostgres ? [] : OF_POSTGRES.filter((name) => reads[name] !== undefined);
  const place = {
    url: address,
    tls: reads.tls as TlsChoice | undefined,
    driverOptions: isRecord(reads.driverOptions) ? reads.driverOptions : {},
  };
  const urlNames = { url: names.of('database.reads.url'), tls: names.of('database.reads.tls') };
  return [
    ...idle.map((name) => `${names.of(before + name)} is for PostgreSQL only; remove it.`),
    ...databaseTls(place, urlNames).problems,
  ];
}
