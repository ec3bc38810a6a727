/** A rule for text: the pattern, and its description after "must be". */
export interface TextRule {
  readonly pattern: RegExp;
  readonly allowed: string;
}

/** Our longest name, that of an index, has 33 characters, and PostgreSQL cuts names after 63. */
export const TABLE_PREFIX: TextRule = {
  pattern: /^\w{0,30}$/,
  allowed: 'letters from a to z, digits and _, at most 30 of them',
};

export const SCHEMA_NAME: TextRule = {
  pattern: /^(?=.{0,63}$)([\w-]+( [\w-]+)*)?$/,
  allowed: 'letters from a to z, digits, _, - and single spaces between words, at most 63 of them',
};

/** Braces would change the cluster slot of keys. */
export const REDIS_PREFIX: TextRule = { pattern: /^[^{}]*$/, allowed: 'text without braces' };

/** Node fires longer timers at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A day. Sums of limits must fit into a timer. */
export const LONGEST_TIME_LIMIT_MS = 86_400_000;

/** Whether the URL names a database. PostgreSQL has a default, MySQL has none. */
export function namesDatabase(url: string): boolean {
  return !/^(mysql|mariadb):/i.test(url) || new URL(url).pathname.length > 1;
}

/** Whether tables can be in a schema of their own: on PostgreSQL only. */
export function hasSchemas(url: string | undefined): boolean {
  return url !== undefined && /^postgres(ql)?:/i.test(url);
}
