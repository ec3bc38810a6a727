import {
  LONGEST_TIMER_MS,
  LONGEST_TIME_LIMIT_MS,
  REDIS_PREFIX,
  SCHEMA_NAME,
  TABLE_PREFIX,
  type TextRule,
} from '../../config/store-rules.js';
import type { DatabaseSettings, RedisSettings } from '../../config/store-settings.js';
import { TLS_ALLOWED, isTlsChoice } from '../../config/tls-settings.js';

export type Options = Readonly<Record<string, unknown>>;

/** The rule for an optional value. */
interface ValueKind {
  readonly fits: (value: unknown) => boolean;
  readonly allowed: string;
  /** Whether it may contain a password. Then messages never show it. */
  readonly isSecret?: boolean;
}

const wholeNumber = (least: number, most = Infinity): ValueKind => ({
  fits: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most,
  allowed: `a whole number from ${least} ${most === Infinity ? 'on' : `to ${most}`}`,
});
const text = ({ pattern, allowed }: TextRule): ValueKind => ({
  fits: (value) => typeof value === 'string' && pattern.test(value),
  allowed,
});
const flag: ValueKind = { fits: (value) => typeof value === 'boolean', allowed: 'true or false' };
const settings: ValueKind = { fits: isRecord, allowed: 'an object of settings', isSecret: true };
const tls: ValueKind = { fits: isTlsChoice, allowed: TLS_ALLOWED, isSecret: true };
const milliseconds = wholeNumber(1, LONGEST_TIME_LIMIT_MS);

/** Options for every store. */
export const COMMON_VALUES: Readonly<Record<string, ValueKind>> = {
  cleanup: flag,
  watchPollMs: wholeNumber(1, LONGEST_TIMER_MS),
  clock: { fits: (value) => isRecord(value) && typeof value.now === 'function', allowed: 'an object with now()' },
  newId: { fits: (value) => typeof value === 'function', allowed: 'a function' },
  onUnsavedState: { fits: (value) => typeof value === 'function', allowed: 'a function' },
};

const ADDRESS = /^(sqlite|mysql|mariadb|postgres|postgresql):|^(libsql|https?|wss?):\/\//i;

/** The type requires an entry for every option. */
export const REDIS_VALUES: Readonly<Record<Exclude<keyof RedisSettings, 'url' | 'client'>, ValueKind>> = {
  connection: settings,
  cluster: {
    fits: (value) => Array.isArray(value) && value.length > 0,
    allowed: 'a list of nodes, such as [{ host, port }]',
    isSecret: true,
  },
  tls,
  prefix: text(REDIS_PREFIX),
  commandTimeoutMs: milliseconds,
  waitReplicas: {
    fits: (value) => isRecord(value) && wholeNumber(1).fits(value.count) && milliseconds.fits(value.timeoutMs),
    allowed: `{ count, timeoutMs }, whole numbers from 1 on, the latter up to ${LONGEST_TIME_LIMIT_MS}`,
  },
};

/** The type requires an entry for every option. */
export const DATABASE_VALUES: Readonly<Record<Exclude<keyof DatabaseSettings, 'url' | 'dataSource'>, ValueKind>> = {
  database: {
    fits: (value) => typeof value === 'string' && !ADDRESS.test(value),
    allowed: 'the path of a SQLite file, and an address is { url }',
    isSecret: true,
  },
  tls,
  poolSize: wholeNumber(1),
  tablePrefix: text(TABLE_PREFIX),
  schema: text(SCHEMA_NAME),
  preparedStatements: flag,
  timeLimitMs: milliseconds,
  coalesceAppends: flag,
  driverOptions: settings,
};

export function isRecord(value: unknown): value is Options {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Describes each wrong value: its path, what was found, and what is allowed. */
export function problemsOfValues(
  given: Options,
  kinds: Readonly<Record<string, ValueKind>>,
  before: string,
): readonly string[] {
  return Object.entries(kinds).flatMap(([name, { fits, allowed, isSecret = false }]) => {
    const value = given[name];
    if (value === undefined || fits(value)) return [];
    const found = isSecret ? 'cannot be read (its value is not shown)' : `is ${shown(value)}`;
    return [`${before}${name} ${found}; it must be ${allowed}.`];
  });
}

/** Shows a value; JSON cannot represent NaN and functions. */
export function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? `a ${typeof value}`);
}
