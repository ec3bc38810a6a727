import { DEFAULT_HISTORY, type HistorySettings } from '../config/history.js';
import { DEFAULT_LIMITS, type SessionLimits } from '../config/limits.js';
import { LONGEST_TIMER_MS } from '../config/store-rules.js';
import { DEFAULT_TTL, type TtlSettings } from '../config/ttl.js';
import { Closing } from './closing.js';
import { RunningWork } from './running-work.js';
import { type Clock, type IdGenerator, randomId, systemClock } from './domain/clock.js';
import { InvalidInputError } from './domain/errors.js';
import { type Lifetimes, lifetimesOf } from './domain/expiry.js';
import type { SessionKey } from './domain/ids.js';
import { checkedSettings } from './domain/settings.js';
import type { ViewFilter } from './domain/view.js';
import type { SessionHooks } from './session-hooks.js';
import { type SessionSignals, signalsOf } from './session-signals.js';
import type { SessionStorage } from './storage/session-storage.js';
import { type WatchedLogs, watchedLogsOf } from './watched-logs.js';

const DEFAULT_WATCH_POLL_MS = 1_000;

/** Everything that the operations of the session service work with. */
export interface SessionEnvironment {
  readonly storage: SessionStorage;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  readonly limits: SessionLimits;
  readonly history: HistorySettings;
  readonly ttl: TtlSettings;
  readonly hooks: SessionHooks;
  readonly running: RunningWork;
  readonly signals: SessionSignals;
  readonly watchedLogs: WatchedLogs;
  readonly closing: Closing;
}

/** Where a service keeps its sessions, and by which settings. */
export interface SessionServiceOptions {
  /** Where sessions are kept. The service closes it when it is closed. */
  readonly storage: SessionStorage;
  /** What is accepted; up to 1 MiB an event, 64 levels and 1,000 keys unless given. */
  readonly limits?: Partial<SessionLimits> | undefined;
  /** How long a view is, and what of the log is kept; all of it unless given. */
  readonly history?: Partial<HistorySettings> | undefined;
  /** When sessions and shared state expire; never unless given. */
  readonly ttl?: Partial<TtlSettings> | undefined;
  /** Where the time of new events comes from; this machine unless given. A store has a clock of its own. */
  readonly clock?: Clock | undefined;
  /** Makes the ids of sessions and events that are given none; UUIDs unless given. */
  readonly newId?: IdGenerator | undefined;
  /** How often watches look, all together, for what was not heard of, and whether sessions are still there; 1,000 ms. */
  readonly watchPollMs?: number | undefined;
  /** Wakes watches; within the process, among all services over the same storage, unless given. */
  readonly signals?: SessionSignals | undefined;
  /** Told what goes wrong beside what was asked for, such as hooks after an append; warns on the console unless given. */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
}

export function environmentOf(options: SessionServiceOptions, hooks: SessionHooks): SessionEnvironment {
  return {
    storage: options.storage,
    clock: options.clock ?? systemClock,
    newId: options.newId ?? randomId,
    limits: checkedSettings(DEFAULT_LIMITS, options.limits, 'limits'),
    history: checkedSettings(DEFAULT_HISTORY, options.history, 'history'),
    ttl: checkedSettings(DEFAULT_TTL, options.ttl, 'ttl'),
    hooks,
    running: new RunningWork(options.onBackgroundError ?? warnOfBackgroundError),
    signals: options.signals ?? signalsOf(options.storage),
    watchedLogs: watchedLogsOf(options.storage, checkedPollMs(options.watchPollMs ?? DEFAULT_WATCH_POLL_MS)),
    closing: new Closing(),
  };
}

function checkedPollMs(milliseconds: number): number {
  if (Number.isSafeInteger(milliseconds) && milliseconds >= 1 && milliseconds <= LONGEST_TIMER_MS) return milliseconds;
  throw new InvalidInputError(`must be a whole number from 1 to ${LONGEST_TIMER_MS}`, 'watchPollMs');
}

export function lifetimes({ ttl }: SessionEnvironment): Lifetimes {
  return lifetimesOf(ttl);
}

/** What the view keeps when an event is appended. */
export function appendFilter({ history }: SessionEnvironment): ViewFilter {
  return { newest: history.maxEvents, maxAgeMs: history.eventTtlSeconds * 1000 };
}

/** What the view keeps when a session is read: the stricter of the two limits. */
export function readFilter({ history }: SessionEnvironment): ViewFilter {
  const limits = [history.maxEvents, history.numRecentEvents].filter((limit) => limit > 0);
  return { newest: limits.length > 0 ? Math.min(...limits) : 0, maxAgeMs: history.eventTtlSeconds * 1000 };
}

/** Wakes whoever watches the session. What was done is done, whatever becomes of this. */
export function announce({ signals, running }: SessionEnvironment, key: SessionKey): void {
  try {
    signals.announce(key);
  } catch (error) {
    running.addInBackground(Promise.reject(error));
  }
}

function warnOfBackgroundError(error: unknown): void {
  console.warn('nestjs-agent-sessions: work in the background failed', error);
}
