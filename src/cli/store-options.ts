import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { AUDIT_VARIABLES, type AuditConfig, auditFrom, problemsOfAudit } from '../config/audit-settings.js';
import { ConfigurationError } from '../config/configuration-error.js';
import { readVariables } from '../config/read-variables.js';
import { type SessionsConfig, sessionsFromEnvironment } from '../config/sessions-environment.js';
import { STORE_VARIABLES } from '../config/store-settings.js';

/** Options of all commands that say where the sessions are. */
export interface StoreOptions {
  readonly envFile?: string | undefined;
  readonly url?: string | undefined;
  readonly prefix?: string | undefined;
  readonly tablePrefix?: string | undefined;
  readonly schema?: string | undefined;
}

/** Names that the app of this package knows besides. */
const OF_THE_APP = ['SESSIONS_ACCESS'];

/** As of a variable of a script that is not set. The store of this folder is not what was meant. */
const NO_URL = '--url is empty: give an address such as sqlite:path, or leave it out for the store of the app.';

/** The settings of the app: variables, before them those of a file, and the options of the command line above all. */
export function settingsOf(options: StoreOptions, env: NodeJS.ProcessEnv): SessionsConfig {
  if (options.url?.trim() === '') throw new ConfigurationError([NO_URL]);
  const all = readEnvironment(options, env);
  const settings = sessionsFromEnvironment(withOptions(all, options), { alsoKnown: OF_THE_APP });
  if (settings.provider === 'memory') {
    throw new ConfigurationError([
      'Sessions in memory are in the process of the app, where commands cannot reach them: set SESSIONS_PROVIDER, or give --url.',
    ]);
  }
  if (options.url === undefined && !isStoreNamed(all)) assertDefaultStore(settings);
  return settings;
}

/** Where the app notes who asks for what. Undefined if it does not. */
export function readAuditConfig(options: StoreOptions, env: NodeJS.ProcessEnv): AuditConfig | undefined {
  const all = readEnvironment(options, env);
  const reading = readVariables(all, AUDIT_VARIABLES);
  const problems = [...reading.problems.values(), ...problemsOfAudit(reading, all)];
  if (problems.length > 0) throw new ConfigurationError(problems);
  return auditFrom(reading);
}

function readEnvironment({ envFile }: StoreOptions, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...(envFile === undefined ? {} : parseEnv(readFileSync(envFile, 'utf8'))), ...env };
}

function isStoreNamed(env: NodeJS.ProcessEnv): boolean {
  return STORE_VARIABLES.some(({ name }) => env[name]?.trim());
}

/** Without a variable, the store is the file that an app has in development: if there is one in this folder. */
function assertDefaultStore({ provider, ...settings }: SessionsConfig): void {
  const { database } = ('database' in settings && settings.database) || {};
  if (provider !== 'typeorm' || database === undefined || existsSync(database)) return;
  throw new ConfigurationError([
    `No store is named, and there is no ${database} in this folder: give --url (sqlite:path, postgres://…, mysql://…, redis://…), ` +
      '--env-file with the variables of the app, or set SESSIONS_PROVIDER and the address.',
  ]);
}

/** An address on the command line replaces all variables of stores. */
function withOptions(env: NodeJS.ProcessEnv, { url, prefix, tablePrefix, schema }: StoreOptions): NodeJS.ProcessEnv {
  const names = new Set(url === undefined ? [] : STORE_VARIABLES.map(({ name }) => name));
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
  const isRedis = url !== undefined && /^rediss?[-:]/.test(url);
  return {
    ...kept,
    ...(url !== undefined && {
      SESSIONS_PROVIDER: isRedis ? 'redis' : 'typeorm',
      [isRedis ? 'SESSIONS_REDIS_URL' : 'SESSIONS_DATABASE_URL']: url,
    }),
    ...(prefix !== undefined && { SESSIONS_REDIS_PREFIX: prefix }),
    ...(tablePrefix !== undefined && { SESSIONS_DATABASE_TABLE_PREFIX: tablePrefix }),
    ...(schema !== undefined && { SESSIONS_DATABASE_SCHEMA: schema }),
  };
}
