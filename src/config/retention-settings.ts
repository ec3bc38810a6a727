import { questionAfter } from './near-miss.js';
import { type Kind, isRecord } from './setting.js';

/** What an event says, by part. Summaries are texts, too, and a kind of their own. What is no part belongs to the messages. */
export const EVENT_KINDS = ['messages', 'reasoning', 'toolCalls', 'toolResults', 'files', 'summaries'] as const;

/** A kind of what events say. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** How long sessions are kept after their last event, or what their events say after it was appended. */
export interface RetentionRule {
  /** Only sessions of this app. Default: of all. */
  readonly app?: string | undefined;
  /** Only sessions with all of these labels. Default: any. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Only what events say of these kinds: it is replaced, and the session stays. Default: whole sessions. */
  readonly kinds?: readonly EventKind[] | undefined;
  /** A number with `h`, `d`, `w` or `y` (365 days): `7d`. */
  readonly keep: string;
}

/** When sessions and what their events say end, and which must not. */
export interface RetentionSettings {
  /** Of the rules that fit a session, or a kind of its events, the first one counts. What none fits stays. */
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

function areKinds(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => isKind(one));
}

function isKind(value: unknown): value is EventKind {
  return EVENT_KINDS.some((kind) => kind === value);
}

function isRule(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { app, labels, kinds, keep, ...others } = value;
  const isOfApp = app === undefined || typeof app === 'string';
  const isWhere = isOfApp && (labels === undefined || areLabels(labels)) && (kinds === undefined || areKinds(kinds));
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

const NAMES = ['rules', 'hold', 'app', 'labels', 'kinds', 'keep'];

function misspelled(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const rules: unknown[] = Array.isArray(value.rules) ? value.rules : [];
  const names = [value, ...rules].flatMap((one) => (isRecord(one) ? Object.keys(one) : []));
  const unknown = names.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) return `${unknown} is not known${questionAfter(unknown, NAMES)}`;
  const kinds = rules.flatMap((one): unknown[] => (isRecord(one) && Array.isArray(one.kinds) ? one.kinds : []));
  const kind = kinds.find((one) => typeof one === 'string' && !isKind(one));
  return typeof kind === 'string' ? `${kind} is no kind${questionAfter(kind, EVENT_KINDS)}` : undefined;
}

/** The option `retention` of `SessionsModule`. */
export const RETENTION: Kind = {
  allowed:
    "{ rules: [{ app?, labels?, kinds?, keep: '7d' }], hold?: { labels } }, where keep has h, d, w or y, labels are texts, and kinds are " +
    `of ${EVENT_KINDS.join(', ')}`,
  fits: isRetention,
  hint: misspelled,
  read: (given) => given,
};
