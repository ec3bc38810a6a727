import { SessionService, type SessionServiceOptions } from '../../src/index.js';
import { SessionSearch } from '../../src/search/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import type { TestStore } from '../support/stores.js';
import { until } from '../support/until.js';

/** Sessions with a search over them. */
export interface SearchedSessions {
  readonly sessions: SessionService;
  readonly search: SessionSearch;
  readonly clock: ManualClock;
  readonly opened: OpenStorage;
  /** Waits until the index has all that was appended. */
  indexed(): Promise<void>;
  /** Appends what the user says. */
  say(sessionId: string, ...texts: readonly string[]): Promise<void>;
  destroy(): Promise<void>;
}

export const USER = { appName: 'shop', userId: 'ann' };

export async function openSearch(
  { open }: TestStore,
  settings: Omit<SessionServiceOptions, 'storage' | 'clock'> = {},
): Promise<SearchedSessions> {
  const clock = new ManualClock();
  const opened = await open({ clock });
  const sessions = new SessionService({ ...settings, storage: opened.storage, clock });
  const search = new SessionSearch({ sessions, pollMs: 10 });
  await search.start();
  return {
    sessions,
    search,
    clock,
    opened,
    indexed: () => untilIndexed(search),
    async say(sessionId, ...texts) {
      const session = await sessions.getOrCreateSession({ ...USER, sessionId });
      for (const text of texts) {
        clock.advanceSeconds(1);
        await sessions.appendEvent({
          session,
          event: { author: 'user', content: { role: 'user', parts: [{ text }] } },
        });
      }
    },
    async destroy() {
      await search.stop();
      await sessions.whenIdle();
      await opened.destroy();
    },
  };
}

export function untilIndexed(search: SessionSearch): Promise<void> {
  return until(async () => {
    const lag = await search.lag();
    return lag !== undefined && !lag.isFilling && lag.sessions + lag.undispatched === 0;
  });
}
