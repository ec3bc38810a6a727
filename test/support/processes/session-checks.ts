import { diagnose } from '../../../src/doctor/index.js';
import { type LoggedEvent, type SessionReference, SessionService } from '../../../src/index.js';
import { ExpectedSession, prefixed } from './expected-session.js';
import type { SharedStore } from './shared-stores.js';
import { openDescribed } from './store-description.js';

/** Expects log, state, counters and usage to be consistent. */
export async function expectConsistent(
  sessions: SessionService,
  { id: sessionId, ...user }: SessionReference,
  initialState: Record<string, unknown>,
  log: readonly LoggedEvent[],
): Promise<ExpectedSession> {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  const expected = new ExpectedSession(initialState);
  for (const event of log) expected.add(event);

  const session = await sessions.getSession({ ...user, sessionId, config: { numRecentEvents: 0 } });
  expect(session).toMatchObject({ version: expected.events, conversationCount: expected.turns });
  expect(session?.state.toRecord()).toEqual(Object.fromEntries(expected.state));
  expect(prefixed('user:', await sessions.getUserState(user))).toEqual(expected.stateOf('user:'));
  expect(prefixed('app:', await sessions.getAppState(user))).toEqual(expected.stateOf('app:'));
  const { total } = await sessions.getUsage({ ...user, sessionId });
  expect(total).toMatchObject({ events: expected.tokens === 0 ? 0 : expected.events, totalTokens: expected.tokens });
  return expected;
}

export async function wholeLog(
  sessions: SessionService,
  { id: sessionId, appName, userId }: SessionReference,
): Promise<LoggedEvent[]> {
  const log: LoggedEvent[] = [];
  let cursor: string | undefined;
  do {
    const page = await sessions.listEvents({ appName, userId, sessionId, limit: 1_000, cursor });
    log.push(...page.events);
    cursor = page.nextCursor;
  } while (cursor);
  return log;
}

/** Expects the doctor to find nothing in a store of which only events changed the state. */
export async function expectHealthy({ description }: SharedStore): Promise<void> {
  const storage = await openDescribed(description);
  try {
    const { findings, sessions } = await diagnose({ storage });
    expect(findings).toEqual([]);
    expect(sessions).toBeGreaterThan(0);
  } finally {
    await storage.close();
  }
}

/** Opens the store for the duration of `work`. */
export async function inStore<Result>(
  { description }: SharedStore,
  work: (sessions: SessionService) => Promise<Result>,
): Promise<Result> {
  const sessions = new SessionService({ storage: await openDescribed(description) });
  try {
    return await work(sessions);
  } finally {
    await sessions.close();
  }
}
