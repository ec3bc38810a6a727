import { questionAfter } from './near-miss.js';
import { type Kind, type SettingsWithDefaults, isRecord } from './setting.js';

/** What a user or an app may take, in all instances that share a store. A missing one has no limit. */
export interface Quotas {
  /** Sessions that exist. */
  readonly sessions?: number | undefined;
  /** Bytes of the events that are kept, and of the states with which sessions begin. Only of a user. */
  readonly storedBytes?: number | undefined;
  /** Events in each minute, those of batches one by one. */
  readonly appendsPerMinute?: number | undefined;
  /** Bytes of events, initial states and copies by forks, in each UTC day. */
  readonly bytesPerDay?: number | undefined;
  /** Runs of agents that begin in each minute. */
  readonly runsPerMinute?: number | undefined;
}

/** The quotas of everyone, or of each: by plan, for example. A function is asked before each write, so it should answer from memory. */
export type QuotasOf<Owner, Given = Quotas> = Given | ((owner: Owner) => Given | Promise<Given>);

/** How much may be taken before writes are refused. */
export interface QuotaSettings {
  /** Of a user of an app. */
  readonly user: QuotasOf<{ readonly appName: string; readonly userId: string }>;
  /** Of an app. */
  readonly app: QuotasOf<{ readonly appName: string }, Omit<Quotas, 'storedBytes'>>;
  /** Of this instance. */
  readonly process: Omit<Quotas, 'sessions' | 'storedBytes'>;
}

/** The name of a quota. */
export type QuotaName = 'sessions' | 'storedBytes' | 'appendsPerMinute' | 'bytesPerDay' | 'runsPerMinute';

/** Whose quotas they are. */
export type QuotaScope = 'user' | 'app' | 'process';

const OF_USER: Readonly<Record<keyof Required<Quotas> & QuotaName, true>> = {
  sessions: true,
  storedBytes: true,
  appendsPerMinute: true,
  bytesPerDay: true,
  runsPerMinute: true,
};

/** All quotas. */
export const QUOTA_NAMES = Object.keys(OF_USER) as readonly QuotaName[];

/** What can be limited for whom. */
const NAMES: Readonly<Record<QuotaScope, readonly QuotaName[]>> = {
  user: QUOTA_NAMES,
  // Nobody can add up what all users of an app have stored in a short time.
  app: QUOTA_NAMES.filter((name) => name !== 'storedBytes'),
  process: QUOTA_NAMES.filter((name) => name !== 'storedBytes' && name !== 'sessions'),
};

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
 * @example if (!areQuotas('user', given)) throw new ConfigurationError(['quotas.user must return quotas']);
 */
export function areQuotas(scope: QuotaScope, value: unknown): value is Quotas {
  return fitsIn(NAMES[scope], value);
}

/** What the functions of `quotas.user` and `quotas.app` have to return. */
export function shapeOfQuotas(scope: QuotaScope): string {
  return `{ ${NAMES[scope].map((name) => `${name}?`).join(', ')} } of whole numbers from 0 on`;
}

function kindOfQuotas(scope: QuotaScope, { canBeFunction }: { readonly canBeFunction: boolean }): Kind {
  return {
    allowed: shapeOfQuotas(scope) + (canBeFunction ? ', or a function that returns one' : ''),
    fits: (value) => (canBeFunction && typeof value === 'function') || areQuotas(scope, value),
    hint: (value) => quotasHint(scope, value),
    read: readQuotas,
  };
}

/** What to write instead of quotas that do not fit. */
export function quotasHint(scope: QuotaScope, value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const known: readonly string[] = NAMES[scope];
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  if (unknown === 'storedBytes') return 'storedBytes can only be a quota of users.';
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
function settingOf(scope: QuotaScope, meaning: string, canBeFunction: boolean) {
  const variable = { kind: kindOfQuotas(scope, { canBeFunction: false }) };
  return { kind: kindOfQuotas(scope, { canBeFunction }), default: {}, otherwise: 'no limit', meaning, variable };
}

export const QUOTAS: SettingsWithDefaults<QuotaSettings> = {
  user: settingOf('user', 'what a user of an app may take, such as `sessions=100, appendsPerMinute=600`', true),
  app: settingOf('app', 'the same for an app', true),
  process: settingOf('process', 'the same for this instance', false),
};
