import { type Reading, problemsOfNames } from './read-variables.js';
import { days, oneOf } from './setting.js';
import { type Rows, valuesIn, variablesIn } from './variable-rows.js';

/** Where the app of `npm start` notes who asked for what, by its variables. */
export interface AuditConfig {
  readonly sink: 'log' | 'table';
  /** Of a table: after so many days a record expires. */
  readonly keepDays?: number | undefined;
}

const ROWS = {
  sink: {
    name: 'AUDIT',
    kind: oneOf('log', 'table'),
    meaning: 'who asked for what is noted in: `log`, or `table` of the store',
  },
  keepDays: {
    name: 'AUDIT_KEEP_DAYS',
    kind: days,
    meaning: 'after so many days a record in the table expires',
    otherwise: '365',
  },
} as const satisfies Rows;

export const AUDIT_VARIABLES = variablesIn(ROWS, 'audit');

/** Undefined if nothing is noted. */
export function auditFrom({ values }: Reading): AuditConfig | undefined {
  const { sink, keepDays } = valuesIn(ROWS, values);
  return sink && { sink, ...(keepDays !== undefined && { keepDays }) };
}

/** What is wrong with them together. */
export function problemsOfAudit({ values }: Reading, env: NodeJS.ProcessEnv): string[] {
  const names = AUDIT_VARIABLES.map(({ name }) => name);
  const unknown = problemsOfNames(env, names, 'AUDIT_');
  if (!values.has('AUDIT_KEEP_DAYS') || values.get('AUDIT') === 'table') return unknown;
  return [...unknown, 'AUDIT_KEEP_DAYS has no effect without AUDIT=table; remove the one, or set the other.'];
}
