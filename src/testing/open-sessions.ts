import type { HistorySettings, SessionLimits, TtlSettings } from '../config/session-settings.js';
import type { Clock } from '../sessions/domain/process/clock.js';
import { SessionService } from '../sessions/session.service.js';
import type { CreateStorage } from './describe-session-storage.js';
import type { RawData } from './open-storage.js';

/** What the contract asks of `SessionService`, or of a client: all that is not for the process of the server or its operators alone. */
export type SessionClient = Omit<
  SessionService,
  | 'hooks'
  | 'consumers'
  | 'keepsHistory'
  | 'listApps'
  | 'consume'
  | 'change'
  | 'withTurn'
  | 'getUsage'
  | 'checkBudget'
  | 'eraseUser'
  | 'finish'
  | 'close'
>;

/** The settings that a test of the contract needs. */
export interface SessionSettings {
  readonly limits?: Partial<SessionLimits> | undefined;
  readonly history?: Partial<HistorySettings> | undefined;
  readonly ttl?: Partial<TtlSettings> | undefined;
  readonly watchPollMs?: number | undefined;
}

/** The service under test. Its store is empty at first. */
export interface OpenSessions {
  readonly sessions: SessionClient;
  /** Reads the stored data without going through `sessions`. */
  raw(): Promise<RawData>;
  /** Closes everything and removes the data. */
  destroy(): Promise<void>;
}

/** Opens sessions that take their time from `clock`. */
export type CreateSessions = (options: SessionSettings & { clock: Clock }) => Promise<OpenSessions>;

/**
 * A session service over a storage, for `describeSessionService`.
 *
 * @example
 * describeSessionService({ name: 'my store', create: sessionsOver(openMyStorage) });
 */
export function sessionsOver(createStorage: CreateStorage): CreateSessions {
  return async ({ clock, ...settings }) => {
    const { storage, raw, destroy } = await createStorage({ clock });
    const failures: unknown[] = [];
    const onBackgroundError = (error: unknown): unknown => failures.push(error);
    const sessions = new SessionService({
      ...settings,
      storage,
      clock,
      onBackgroundError,
      onUnsavedState: ignore,
      onMisspelledField: ignore,
    });
    return {
      sessions,
      raw,
      async destroy() {
        await sessions.whenIdle();
        await destroy();
        if (failures.length > 0) throw new AggregateError(failures, 'Work in the background failed');
      },
    };
  };
}

/** Reports of unsaved state are tested elsewhere, since they do not depend on the store. */
function ignore(): void {}
