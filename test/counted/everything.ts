import type { SessionService, SessionServiceOptions } from '../../src/index.js';
import type { EventInput } from '../../src/sessions/domain/event.js';
import type { Agenda } from '../../src/storage.js';
import type { ManualClock } from '../../src/testing/manual-clock.js';
import { KEY, OPERATIONS, SESSION } from './operations.js';

const WITH_TTL = { enabled: true, sessionSeconds: 1_000, userStateSeconds: 1_000, appStateSeconds: 1_000 };

/** Settings that lead to different statements. */
export const SETTINGS: readonly Omit<SessionServiceOptions, 'storage' | 'clock'>[] = [
  {},
  { history: { maxEvents: 20 } },
  { history: { eventTtlSeconds: 60 }, ttl: WITH_TTL },
  { history: { maxEvents: 5, eventTtlSeconds: 60, keepHistory: false }, ttl: WITH_TTL },
];

/** A store, and how to put more into it than a test has time to. */
export interface FillableStore {
  readonly sessions: SessionService;
  readonly agenda: Agenda;
  readonly clock: ManualClock;
  fillSessions(count: number): Promise<void>;
  fillLog(count: number, eventAt: (seq: number) => EventInput): Promise<void>;
}

/** Makes a store send each kind of statement that it knows. */
export async function runEverything({ sessions, agenda, clock, fillSessions, fillLog }: FillableStore): Promise<void> {
  await sessions.createSession({ ...KEY, state: { step: 0, 'user:step': 0, 'app:step': 0 } });
  await fillSessions(50);
  await fillLog(620, (seq) => ({ author: seq < 10 ? 'user' : 'agent' }));
  // Deep enough for a trim of history, which takes place every 64 events.
  for (let number = 1; number <= 40; number++)
    await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
  await sessions.whenIdle();
  await sessions.appendEvent({ session: SESSION, event: { author: 'user', actions: { rewind: { toSeq: 640 } } } });
  await sessions.getSession(KEY);
  await sessions.appendEvent({
    session: SESSION,
    event: { author: 'user', actions: { compaction: { fromSeq: 630, toSeq: 635 } } },
  });
  clock.advanceSeconds(500);
  await sessions.getUserState(KEY);
  const session = await sessions.getSession(KEY);
  if (!session) throw new Error('The session expired too early');
  for (const { run } of OPERATIONS) await run({ sessions, session });
  // So many that a purge takes them away bit by bit.
  await fillLog(5_100, () => ({ author: 'agent' }));
  clock.advanceSeconds(2_000);
  await sessions.updateUserState({ ...KEY, stateDelta: { step: 4 } });
  await sessions.purgeExpired();
  await agenda.put('job', 0);
  for (const entry of await agenda.due(10)) await agenda.remove(entry);
}
