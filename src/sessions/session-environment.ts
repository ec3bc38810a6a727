import type { HistorySettings } from '../config/history.js';
import type { SessionLimits } from '../config/limits.js';
import type { TtlSettings } from '../config/ttl.js';
import type { BackgroundWork } from './background-work.js';
import type { Clock, IdGenerator } from './domain/clock.js';
import { type Lifetimes, lifetimesOf } from './domain/expiry.js';
import type { ViewFilter } from './domain/view.js';
import type { SessionHooks } from './session-hooks.js';
import type { SessionStorage } from './storage/session-storage.js';

/** Everything that the operations of the session service work with. */
export interface SessionEnvironment {
  readonly storage: SessionStorage;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  readonly limits: SessionLimits;
  readonly history: HistorySettings;
  readonly ttl: TtlSettings;
  readonly hooks: SessionHooks;
  readonly background: BackgroundWork;
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
