import {
  COMMON,
  HISTORY,
  type HistorySettings,
  LIMITS,
  QUOTAS,
  type QuotaSettings,
  SERVICE_ONLY,
  SETTING_GROUPS,
  type SessionLimits,
  TTL,
  type TtlSettings,
  USAGE,
  type UsageSettings,
} from '../config/session-settings.js';
import type { StateDefinitions } from '../state/define-state.js';

import { type Clock } from './domain/process/clock.js';
import { type IdGenerator, randomId, type SessionKey } from './domain/values/ids.js';
import { checkedClock } from './domain/process/checked-clock.js';
import type { AppendOutcome, Commit } from './domain/stored/commit.js';
import { DamageReports } from './domain/stored/damage-reports.js';
import { type Lifetimes, lifetimesOf } from './domain/values/expiry.js';
import { checkedIds } from './domain/values/generated-ids.js';
import { checkedSettings } from './domain/values/input-checks.js';
import { LatestWork } from './domain/process/latest-work.js';
import { type MisspelledFieldHandler, warningOfMisspelledField } from './domain/write/misspelled-event-fields.js';
import type { SessionRecord } from './domain/stored/session-record.js';
import { type StateLimits, stateLimitsOf } from './domain/stored/state-size.js';
import { type UnsavedStateHandler, warningOfUnsavedState } from './domain/session/unsaved-state.js';
import type { ViewFilter } from './domain/view/cut-view.js';
import { ShutdownSignal, TaskTracker } from './lifecycle.js';
import { type LogWatcher, logWatcherOf } from './log-watcher.js';
import { QuotaKeeper } from './quotas/quota-keeper.js';
import { RequestTexts } from './request-texts.js';
import { Holds } from './retention/holds.js';
import type { SessionHooks } from './session-hooks.js';
import { type ChangeBell, type SessionSignals, bellOf, signalsOf } from './session-signals.js';
import { type StartingWatches, startingWatchesOf } from './starting-watches.js';
import type { SessionStorage } from './storage/session-storage.js';
import { type TailReads, tailReadsOf } from './tail-reads.js';

const DEFAULT_WATCH_POLL_MS = 1_000;

/** The dependencies and settings of the service's operations. */
export interface SessionEnvironment {
  readonly storage: SessionStorage;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  readonly limits: SessionLimits;
  /** What `limits` means for the state in stores. */
  readonly stateLimits: StateLimits;
  readonly history: HistorySettings;
  readonly ttl: TtlSettings;
  readonly usage: UsageSettings;
  /** Missing without quotas. */
  readonly quotas: QuotaKeeper | undefined;
  /** Which sessions have to stay. */
  readonly holds: Holds;
  /** What `ttl` means for writes. */
  readonly lifetimes: Lifetimes;
  readonly hooks: SessionHooks;
  readonly requestTexts: RequestTexts;
  readonly tasks: TaskTracker;
  /** Saves checkpoints, of each session one after the other. */
  readonly checkpoints: LatestWork<SessionRecord>;
  /** Trims histories, of each session one after the other. */
  readonly trims: LatestWork<SessionRecord>;
  /** Learns about damaged events that are read. */
  readonly damage: DamageReports;
  readonly signals: SessionSignals;
  /** Wakes consumers. */
  readonly changeBell: ChangeBell;
  readonly logWatcher: LogWatcher;
  readonly startingWatches: StartingWatches;
  readonly tailReads: TailReads;
  readonly shutdown: ShutdownSignal;
  readonly onUnsavedState: UnsavedStateHandler;
  readonly onMisspelledField: MisspelledFieldHandler;
  readonly stateDefinitions: StateDefinitions | undefined;
}

/** The settings of a service. */
export interface SessionServiceSettings {
  /** Input limits. Default: 1 MiB per event, 64 levels, 1,000 keys, 4 MiB of state per session. */
  readonly limits?: Partial<SessionLimits> | undefined;
  /** Limits of views and of retained history. Default: none. */
  readonly history?: Partial<HistorySettings> | undefined;
  /** When sessions and shared state expire. Default: never. */
  readonly ttl?: Partial<TtlSettings> | undefined;
  /** Whether tokens are counted, what they cost, and budgets. Default: they are counted. */
  readonly usage?: Partial<UsageSettings> | undefined;
  /** How much a user, an app and this instance may take. Default: no limit. */
  readonly quotas?: Partial<QuotaSettings> | undefined;
  /** Time of new events. Default: the system clock. A store has its own clock. */
  readonly clock?: Clock | undefined;
  /** Generates missing ids of sessions and events. Default: UUIDs. */
  readonly newId?: IdGenerator | undefined;
  /** The longest pause between checks of watches, all together, for missed changes and deleted sessions. Default: 1,000 ms. */
  readonly watchPollMs?: number | undefined;
  /** Wakes watches. Default: within the process, shared by all services over the same storage. */
  readonly signals?: SessionSignals | undefined;
  /** Receives errors of background work, such as hooks after an append. Default: a warning on the console. */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
  /**
   * Called before an append through a session whose `state` has unsaved changes. If it throws, the append fails. Default:
   * a warning on the console, once for the same changes.
   */
  readonly onUnsavedState?: UnsavedStateHandler | undefined;
  /**
   * Called before a write with a field that looks like another one, such as `actions.statedelta` or the state key `User:theme`.
   * If it throws, the write fails. Default: a warning on the console, once for each such field.
   */
  readonly onMisspelledField?: MisspelledFieldHandler | undefined;
  /** Checks the state that is written, in all apps or by the name of the app. Default: any JSON is accepted. */
  readonly state?: StateDefinitions | undefined;
}

/** The store and the settings of a service. */
export interface SessionServiceOptions extends SessionServiceSettings {
  /** The store. `close()` of the service closes it too. */
  readonly storage: SessionStorage;
}

/** What is left for the store of a service that makes its store. */
export type StoreOptionsIn<Options> = Options extends unknown
  ? Omit<Options, Exclude<keyof SessionServiceSettings, 'clock'>>
  : never;

const SETTINGS = new Set<string>([
  ...Object.keys(COMMON),
  ...Object.keys(SERVICE_ONLY),
  ...Object.keys(SETTING_GROUPS),
]);

/** Makes the store of a service, and returns what the service needs. Both share the clock. */
export function serviceOptions<Options extends SessionServiceSettings>(
  options: Options,
  makeStorage: (options: StoreOptionsIn<Options>) => SessionStorage,
): SessionServiceOptions {
  const entries = Object.entries(options);
  const ofStore = entries.filter(([name]) => name === 'clock' || !SETTINGS.has(name));
  const ofService = entries.filter(([name]) => SETTINGS.has(name));
  const storage = makeStorage(Object.fromEntries(ofStore) as StoreOptionsIn<Options>);
  return { ...(Object.fromEntries(ofService) as SessionServiceSettings), storage };
}

export function createSessionEnvironment(options: SessionServiceOptions, hooks: SessionHooks): SessionEnvironment {
  const ttl = checkedSettings(TTL, options.ttl, 'ttl');
  const limits = checkedSettings(LIMITS, options.limits, 'limits');
  const history = checkedSettings(HISTORY, options.history, 'history');
  const lifetimes = lifetimesOf(ttl);
  const { storage, onBackgroundError = warnOfBackgroundError } = options;
  const clock = checkedClock(options.clock);
  return {
    storage,
    clock,
    newId: options.newId ? checkedIds(options.newId) : randomId,
    limits,
    stateLimits: stateLimitsOf(limits),
    history,
    ttl,
    usage: checkedSettings(USAGE, options.usage, 'usage'),
    quotas: quotaKeeperOf(checkedSettings(QUOTAS, options.quotas, 'quotas'), storage, clock),
    holds: new Holds(storage),
    lifetimes,
    hooks,
    requestTexts: new RequestTexts({
      store: storage.components,
      clock,
      ttlMs: lifetimes.session.ttlMs,
      isKept: history.keepPrompts,
      maxBytes: limits.maxPromptBytes,
    }),
    tasks: new TaskTracker(onBackgroundError),
    checkpoints: new LatestWork(),
    trims: new LatestWork(),
    damage: new DamageReports(onBackgroundError),
    signals: options.signals ?? signalsOf(options.storage),
    changeBell: bellOf(options.storage),
    logWatcher: logWatcherOf(options.storage, options.watchPollMs ?? DEFAULT_WATCH_POLL_MS),
    startingWatches: startingWatchesOf(options.storage),
    tailReads: tailReadsOf(options.storage),
    shutdown: new ShutdownSignal(),
    stateDefinitions: options.state,
    onUnsavedState: options.onUnsavedState ?? warningOfUnsavedState((message) => console.warn(message)),
    onMisspelledField: options.onMisspelledField ?? warningOfMisspelledField((message) => console.warn(message)),
  };
}

/** Without quotas, nothing is asked. */
function quotaKeeperOf(quotas: QuotaSettings, storage: SessionStorage, clock: Clock): QuotaKeeper | undefined {
  const isUsed = Object.values(quotas).some(
    (given: object) => typeof given === 'function' || Object.keys(given).length > 0,
  );
  return isUsed ? new QuotaKeeper(quotas, storage, clock) : undefined;
}

/** The view filter of appends. */
export function appendFilter({ history }: Pick<SessionEnvironment, 'history'>): ViewFilter {
  return { newest: history.maxEvents, maxAgeMs: history.eventTtlSeconds * 1000 };
}

/** The view filter of reads: the stricter of the two limits. */
export function readFilter({ history }: SessionEnvironment): ViewFilter {
  const limits = [history.maxEvents, history.numRecentEvents].filter((limit) => limit > 0);
  return { newest: limits.length > 0 ? Math.min(...limits) : 0, maxAgeMs: history.eventTtlSeconds * 1000 };
}

/** Whether reads omit more than appends. */
export function isReadShorter(env: SessionEnvironment): boolean {
  return readFilter(env).newest !== appendFilter(env).newest;
}

/** Stores a commit, so that watches which start meanwhile follow it. */
export function storeCommit({ storage, startingWatches }: SessionEnvironment, commit: Commit): Promise<AppendOutcome> {
  const append = storage.append(commit);
  startingWatches.follow(commit, append);
  return append;
}

/** Wakes the session's watches, and consumers. Never fails, since the write is already done. */
export function announce({ signals, tasks, changeBell }: SessionEnvironment, key: SessionKey): void {
  changeBell.ring();
  try {
    signals.announce(key);
  } catch (error) {
    tasks.trackInBackground(Promise.reject(error));
  }
}

function warnOfBackgroundError(error: unknown): void {
  console.warn('nestjs-agent-sessions: work in the background failed', error);
}
