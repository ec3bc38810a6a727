import { QUOTAS } from './quota-settings.js';
import { ENCRYPTION } from './encryption-settings.js';
import { RETENTION } from './retention-settings.js';
import { USAGE } from './usage-settings.js';
import {
  LONGEST_TIMER_MS,
  type Kind,
  type Setting,
  type SettingsWithDefaults,
  type Variable,
  defaultsOf,
  flag,
  isRecord,
  callable,
  kindOf,
  seconds,
  text,
  toVariables,
  wholeNumber,
} from './setting.js';

/** Limits of views and of retained history. 0 disables a setting. */
export interface HistorySettings {
  /** Number of newest events in a view, on append and on read. */
  readonly maxEvents: number;
  /** Age in seconds after which an event leaves the view, on append and on read. */
  readonly eventTtlSeconds: number;
  /** Number of newest events in a view, on read only. */
  readonly numRecentEvents: number;
  /** Whether events that left the view stay in the log. */
  readonly keepHistory: boolean;
  /** Whether instructions and tools of model requests are kept; else only their hashes are. */
  readonly keepPrompts: boolean;
}

export const HISTORY: SettingsWithDefaults<HistorySettings> = {
  maxEvents: { kind: wholeNumber(), default: 0, meaning: 'newest events in a view, on append and on read; 0 = all' },
  eventTtlSeconds: { kind: seconds, default: 0, meaning: 'events older than this leave the view; 0 = none' },
  numRecentEvents: { kind: wholeNumber(), default: 0, meaning: 'newest events in a view, on read only; 0 = all' },
  keepHistory: { kind: flag, default: true, meaning: 'whether events that left the view stay in the log' },
  keepPrompts: { kind: flag, default: true },
};

/** When sessions and shared state expire. Off unless `enabled`; 0 seconds means never. */
export interface TtlSettings {
  /** Whether anything expires. */
  readonly enabled: boolean;
  /** Lifetime of a session since the last read or append. */
  readonly sessionSeconds: number;
  /** Lifetime of user state. */
  readonly userStateSeconds: number;
  /** Lifetime of app state. */
  readonly appStateSeconds: number;
  /** Interval of the cleanup job of `SessionsModule`; 0 = never. */
  readonly cleanupIntervalSeconds: number;
  /** Whether reads renew lifetimes. */
  readonly refreshOnRead: boolean;
}

export const TTL: SettingsWithDefaults<TtlSettings> = {
  enabled: { kind: flag, default: false, meaning: 'whether anything expires' },
  sessionSeconds: {
    kind: seconds,
    default: 86_400,
    meaning: 'life of a session since it was last read or appended to; 0 = forever',
  },
  userStateSeconds: { kind: seconds, default: 0, meaning: 'the same for `user:` state' },
  appStateSeconds: { kind: seconds, default: 0, meaning: 'the same for `app:` state' },
  cleanupIntervalSeconds: { kind: seconds, default: 3_600 },
  refreshOnRead: { kind: flag, default: true },
};

/** Nothing expires. If enabled, sessions expire after a day. */
export const DEFAULT_TTL = defaultsOf(TTL);

/** Limits of events and state changes, and of results. */
export interface SessionLimits {
  /** Maximum size of an event (or initial state), in bytes of JSON text. */
  readonly maxEventBytes: number;
  /** Maximum nesting of objects and arrays in an event or a state value. */
  readonly maxDepth: number;
  /** Maximum size of instructions, or of a list of tools, that are kept with a model request, as JSON. Of more, only the hash is kept. */
  readonly maxPromptBytes: number;
  /** Maximum number of keys that one change sets and removes together. */
  readonly maxDeltaKeys: number;
  /** Maximum number of events in one append of several, at most 1,000. */
  readonly maxBatchEvents: number;
  /** Maximum size of these events together, in bytes of JSON text. An event that is appended alone is not limited by it. */
  readonly maxBatchBytes: number;
  /** Maximum number of state keys that these events set and remove, all deltas together. */
  readonly maxBatchDeltaKeys: number;
  /** Maximum bytes of a page of events or sessions. A page at the limit ends early, with a cursor. It has at least one entry. */
  readonly maxPageBytes: number;
  /**
   * Maximum bytes of the events in a view. A larger view keeps the newest events that fit, and `eventsTruncated` is set. The
   * tool call and the anchor that these events need are added.
   */
  readonly maxViewBytes: number;
  /** Maximum bytes of a session's own state: of all its keys, and their values as JSON. A write beyond it is refused, and a read too. */
  readonly maxSessionStateBytes: number;
  /** The same for the state of a user. */
  readonly maxUserStateBytes: number;
  /** The same for the state of an app. */
  readonly maxAppStateBytes: number;
}

/** With more events in one commit, statements bind too many values, and scripts run too long. */
const MOST_BATCH_EVENTS = 1_000;

export const LIMITS: SettingsWithDefaults<SessionLimits> = {
  maxEventBytes: {
    kind: wholeNumber(1),
    default: 1_048_576,
    meaning: 'size of an event, or of an initial state, as JSON',
  },
  maxDepth: { kind: wholeNumber(1), default: 64 },
  maxPromptBytes: { kind: wholeNumber(1), default: 262_144 },
  maxDeltaKeys: { kind: wholeNumber(1), default: 1_000 },
  maxBatchEvents: { kind: wholeNumber(1, MOST_BATCH_EVENTS), default: 100 },
  maxBatchBytes: { kind: wholeNumber(1), default: 2_097_152 },
  maxBatchDeltaKeys: { kind: wholeNumber(1), default: 1_000 },
  maxViewBytes: { kind: wholeNumber(1), default: 4_194_304 },
  maxPageBytes: { kind: wholeNumber(1), default: 4_194_304 },
  maxSessionStateBytes: {
    kind: wholeNumber(1),
    default: 4_194_304,
    meaning: 'size of the whole state of a session, keys and values as JSON, without `user:` and `app:`',
  },
  maxUserStateBytes: { kind: wholeNumber(1), default: 1_048_576, meaning: 'the same for the `user:` state of a user' },
  maxAppStateBytes: { kind: wholeNumber(1), default: 1_048_576, meaning: 'the same for the `app:` state of an app' },
};

/** The default limits. */
export const DEFAULT_LIMITS = defaultsOf(LIMITS);

/** The limits of writes. */
export type WriteLimits = Pick<SessionLimits, 'maxEventBytes' | 'maxDepth' | 'maxDeltaKeys'>;

/** A definition is known by its method: configuration does not import the state. */
function isDefinition(value: unknown): boolean {
  return isRecord(value) && typeof value.problemIn === 'function';
}

function isDefinitions(value: unknown): boolean {
  return isDefinition(value) || (isRecord(value) && Object.values(value).every(isDefinition));
}

/** Settings for every store that only code can give. */
export const COMMON = {
  watchPollMs: { kind: wholeNumber(1, LONGEST_TIMER_MS) },
  clock: { kind: kindOf('an object with now()', (value) => isRecord(value) && typeof value.now === 'function') },
  newId: { kind: callable },
  onUnsavedState: { kind: callable },
  onMisspelledField: { kind: callable },
  state: { kind: kindOf('what defineState() returns, or an object with that for each app', isDefinitions) },
};

/** A cron expression, and the time zone in which it is meant. Default: that of the machine. */
export interface CronSchedule {
  readonly cron: string;
  /** Such as `Europe/Berlin`. */
  readonly timeZone?: string | undefined;
}

/** Whether, or when, expired data is removed. */
export type CleanupTimes = boolean | string | CronSchedule;

/** Five or six fields, or a name such as `@daily`. The package that reads it knows the rest. */
const isCron = (value: unknown): boolean => typeof value === 'string' && /^(@\w+|\S+(\s+\S+){4,5})$/.test(value.trim());

function isCronSchedule(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { cron, timeZone, ...others } = value;
  return isCron(cron) && (timeZone === undefined || text.fits(timeZone)) && Object.keys(others).length === 0;
}

const cleanupTimes: Kind = {
  allowed: "true, false, a cron expression such as '0 3 * * *', or { cron, timeZone }",
  fits: (value) => flag.fits(value) || isCron(value) || isCronSchedule(value),
  read: flag.read,
};

const CLEANUP: Setting & { readonly meaning: string } = {
  kind: cleanupTimes,
  default: true,
  meaning: 'when expired data is removed: each hour, never, or by a cron expression such as `0 3 * * *`',
  variable: { kind: { ...cleanupTimes, allowed: 'true, false, or a cron expression' } },
};

/** How patient `SessionsModule` is with a store that is not up yet. */
export const START = {
  retryAttempts: {
    kind: wholeNumber(),
    default: 10,
    meaning: 'how often a store that cannot be reached at the start is tried again; 0 = the start fails at once',
  },
  retryDelayMs: { kind: wholeNumber(1, LONGEST_TIMER_MS), default: 3_000 },
};

/** What `SessionsModule` does besides. */
export const MODULE_ONLY = {
  ...START,
  cleanup: CLEANUP,
  retention: { kind: RETENTION },
  titler: {
    kind: kindOf(
      'an object with titleOf(), or a class of such objects',
      (value) => typeof value === 'function' || (isRecord(value) && typeof value.titleOf === 'function'),
    ),
  },
};

/** What a service without Nest needs besides. */
export const SERVICE_ONLY = {
  signals: {
    kind: kindOf(
      'an object with announce() and subscribe()',
      (value) => isRecord(value) && typeof value.announce === 'function' && typeof value.subscribe === 'function',
    ),
  },
  onBackgroundError: { kind: callable },
};

/** What a session shows and keeps, when it expires, what is accepted, what is counted, and how much there may be. */
export const SETTING_GROUPS = { history: HISTORY, ttl: TTL, limits: LIMITS, usage: USAGE, quotas: QUOTAS };

export const SETTING_VARIABLES: readonly Variable[] = [
  ...Object.entries(SETTING_GROUPS).flatMap(([group, settings]) => toVariables('SESSIONS_', group, settings)),
  ...toVariables('SESSIONS_', 'encryption', ENCRYPTION),
  ...toVariables('SESSIONS_', '', { cleanup: CLEANUP, ...START }),
];

export { USAGE, type UsageSettings } from './usage-settings.js';
export { QUOTAS, type QuotaSettings } from './quota-settings.js';
