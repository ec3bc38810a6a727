import { questionAfter } from './near-miss.js';
import { type Kind, type SettingsWithDefaults, isRecord } from './setting.js';

/** What a user or an app may take, in all instances that share a store. A missing one has no limit. */
export interface Quotas {
  /** Sessions that exist. */
  readonly sessions?: number | undefined;
  /** Events in each minute, those of batches one by one. */
  readonly appendsPerMinute?: number | undefined;
  /** Bytes of events, initial states and copies by forks, in each UTC day. */
  readonly bytesPerDay?: number | undefined;
  /** Runs of agents that begin in each minute. */
  readonly runsPerMinute?: number | undefined;
}

/** The quotas of everyone, or of each: by plan, for example. A function is asked before each write, so it should answer from memory. */
export type QuotasOf<Owner> = Quotas | ((owner: Owner) => Quotas | Promise<Quotas>);

/** How much may be taken before writes are refused. */
export interface QuotaSettings {
  /** Of a user of an app. */
  readonly user: QuotasOf<{ readonly appName: string; readonly userId: string }>;
  /** Of an app. */
  readonly app: QuotasOf<{ readonly appName: string }>;
  /** Of this instance. */
  readonly process: Omit<Quotas, 'sessions'>;
}

/** The name of a quota. */
export type QuotaName = 'sessions' | 'appendsPerMinute' | 'bytesPerDay' | 'runsPerMinute';

const IN_PROCESS: readonly QuotaName[] = ['appendsPerMinute', 'bytesPerDay', 'runsPerMinute'];
const SHARED: readonly QuotaName[] = ['sessions', ...IN_PROCESS];

function isLimit(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0);
}

function fitsIn(known: readonly string[], value: unknown): value is Quotas {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(([name, limit]) => known.includes(name) && isLimit(limit));
}

/**
 * Whether these are quotas of a user or an app.
 *
 * @example if (!areQuotas(given)) throw new ConfigurationError(['quotas.user must return quotas']);
 */
export function areQuotas(value: unknown): value is Quotas {
  return fitsIn(SHARED, value);
}

function shapeOf(names: readonly string[]): string {
  return `{ ${names.map((name) => `${name}?`).join(', ')} } of whole numbers from 0 on`;
}

/** What the functions of `quotas.user` and `quotas.app` have to return. */
export const QUOTAS_SHAPE = shapeOf(SHARED);

function kindOfQuotas(known: readonly string[], { canBeFunction }: { readonly canBeFunction: boolean }): Kind {
  return {
    allowed: shapeOf(known) + (canBeFunction ? ', or a function that returns one' : ''),
    fits: (value) => (canBeFunction && typeof value === 'function') || fitsIn(known, value),
    hint: (value) => hintOf(known, value),
    read: readQuotas,
  };
}

function hintOf(known: readonly string[], value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return `${unknown} is no quota${questionAfter(unknown, known) || '.'}`;
}

/** Reads `sessions=100, appendsPerMinute=600`. */
function readQuotas(text: string): unknown {
  const parts = text.split(',').map((part) => /^\s*(\w+)\s*=\s*(\d+)\s*$/.exec(part));
  const names = new Set(parts.map((part) => part?.[1]));
  if (parts.includes(null) || names.size < parts.length) return text;
  return Object.fromEntries(parts.map((part) => [part?.[1], Number(part?.[2])]));
}

/** Only code can give a function. */
function settingOf(known: readonly string[], meaning: string, canBeFunction: boolean) {
  const variable = { kind: kindOfQuotas(known, { canBeFunction: false }) };
  return { kind: kindOfQuotas(known, { canBeFunction }), default: {}, otherwise: 'no limit', meaning, variable };
}

export const QUOTAS: SettingsWithDefaults<QuotaSettings> = {
  user: settingOf(SHARED, 'what a user of an app may take, such as `sessions=100, appendsPerMinute=600`', true),
  app: settingOf(SHARED, 'the same for an app', true),
  process: settingOf(IN_PROCESS, 'the same for this instance', false),
};
