import { ConfigurationError } from '../../../config/configuration-error.js';
import { problemsOfGroup } from '../../../config/option-checks.js';
import { type Kind, type SettingsOf, days, oneOf } from '../../../config/setting.js';
import type { AuditRecord } from './audit-record.js';

/**
 * Takes records, in their order. It is called again when it has ended, with all that have come since, at most 500.
 *
 * @example const sink: AuditSink = async (records) => void (await audit.insert(records.map((record) => ({ ...record }))));
 */
export type AuditSink = (records: readonly AuditRecord[]) => void | Promise<void>;

/** Where it is noted who asked for what. */
export interface AuditOptions {
  /** `log`: a line of JSON each, in the log of the app. `table`: in the store of the sessions, for `readAudit`. Or a function. */
  readonly sink: 'log' | 'table' | AuditSink;
  /** With `table`: after so many days a record expires. Default: 365. */
  readonly keepDays?: number | undefined;
  /**
   * What happens where a record cannot be written, or takes 10 seconds. `log`: it is counted, and the log says so once. `refuse`: each
   * request waits for its record, and is refused without one. Default: `log`.
   */
  readonly onFailure?: 'log' | 'refuse' | undefined;
}

const sinkKind: Kind = {
  ...oneOf('log', 'table'),
  allowed: "'log', 'table' or a function",
  fits: (value) => value === 'log' || value === 'table' || typeof value === 'function',
};

const SETTINGS: SettingsOf<AuditOptions> = {
  sink: { kind: sinkKind },
  keepDays: { kind: days },
  onFailure: { kind: oneOf('log', 'refuse') },
};

export function checkedAudit(audit: AuditOptions): AuditOptions {
  const problems = problemsOfGroup('audit', SETTINGS, audit);
  if (problems.length === 0 && audit.sink === undefined)
    problems.push('`audit.sink` is missing: `log`, `table`, or a function.');
  if (audit.keepDays !== undefined && audit.sink !== 'table')
    problems.push("`audit.keepDays` has no effect without `sink: 'table'`; remove it.");
  if (problems.length > 0) throw new ConfigurationError(problems);
  return audit;
}
