import { similarNames } from './near-miss.js';
import { type Kind, isRecord } from './setting.js';

/** How long sessions are kept after their last event. */
export interface RetentionRule {
  /** Only sessions of this app. Default: of all. */
  readonly app?: string | undefined;
  /** Only sessions with all of these labels. Default: any. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** A number with `h`, `d`, `w` or `y` (365 days): `7d`. */
  readonly keep: string;
}

/** When whole sessions end, and which must not. */
export interface RetentionSettings {
  /** Of the rules that fit a session, the first one counts. A session that none fits stays. */
  readonly rules: readonly RetentionRule[];
  /** Sessions with all of these labels are kept, whatever the rules say, and refuse to be deleted: a legal hold. */
  readonly hold?: { readonly labels: Readonly<Record<string, string>> } | undefined;
}

const KEEP = /^([1-9]\d{0,4})(h|d|w|y)$/;
const HOUR_MS = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 168 * HOUR_MS, y: 8_760 * HOUR_MS };

/**
 * Milliseconds of `7d`.
 *
 * @example const end = session.lastUpdateTime + keptMs(rule);
 */
export function keptMs({ keep }: Pick<RetentionRule, 'keep'>): number {
  const [, count, unit = ''] = KEEP.exec(keep) ?? [];
  return Number(count) * (UNITS[unit] ?? Number.NaN);
}

function areLabels(value: unknown): boolean {
  return (
    isRecord(value) && Object.keys(value).length > 0 && Object.values(value).every((one) => typeof one === 'string')
  );
}

function isRule(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { app, labels, keep, ...others } = value;
  const isWhere = (app === undefined || typeof app === 'string') && (labels === undefined || areLabels(labels));
  return isWhere && typeof keep === 'string' && KEEP.test(keep) && Object.keys(others).length === 0;
}

function isHold(value: unknown): boolean {
  return value === undefined || (isRecord(value) && areLabels(value.labels) && Object.keys(value).length === 1);
}

function isRetention(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { rules, hold, ...others } = value;
  return Array.isArray(rules) && rules.every(isRule) && isHold(hold) && Object.keys(others).length === 0;
}

const NAMES = ['rules', 'hold', 'app', 'labels', 'keep'];

function misspelled(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const rules: unknown[] = Array.isArray(value.rules) ? value.rules : [];
  const names = [value, ...rules].flatMap((one) => (isRecord(one) ? Object.keys(one) : []));
  const unknown = names.find((name) => !NAMES.includes(name));
  if (unknown === undefined) return undefined;
  const [meant] = similarNames(unknown, NAMES);
  return `${unknown} is not known${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

/** The option `retention` of `SessionsModule`. */
export const RETENTION: Kind = {
  allowed:
    "{ rules: [{ app?, labels?, keep: '7d' }], hold?: { labels } }, where keep has h, d, w or y, and labels are texts",
  fits: isRetention,
  hint: misspelled,
  read: (given) => given,
};
