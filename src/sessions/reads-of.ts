import { readsOfStorage } from './reads/reads-of-storage.js';
import { findEnvironment } from './service-environment.js';
import { SessionReads } from './session-reads.js';
import type { SessionService } from './session.service.js';

/**
 * The reads of a service that may be a little old: those that people look at, not those on which something is decided. They go to the read
 * replica of the store, if it has one (`reads`), and are never older than its `maxLagMs`. What this process wrote for the same user is
 * always in them, and so is the event `minSeq` that the caller has seen.
 *
 * @example
 * const { events } = await readsOf(sessions).listEvents({ appName: 'shop', userId: 'ann', sessionId, minSeq: 12 });
 */
export function readsOf(sessions: SessionService): Pick<SessionReads, keyof SessionReads> {
  const env = findEnvironment(sessions);
  // Without a replica, and for a replacement in a test, its own methods answer.
  if (!env?.storage.replica) return sessions;
  return new SessionReads((minSeq) => ({ ...env, storage: readsOfStorage(env.storage, minSeq) }));
}
