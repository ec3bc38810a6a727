import type { SessionKey, SessionService } from '../../../src/index.js';
import { wholeLog } from './session-checks.js';

/** The content of a log with summaries. */
export interface SummarizedLog {
  /** The number of summaries. */
  readonly count: number;
  /** The ids of all other events. */
  readonly messageIds: readonly string[];
}

/**
 * Expects a log without gaps, one summary for each boundary, each including the previous one, and a view of the last
 * one and of the events after it, which are not enough for another summary.
 */
export async function expectConsistentSummaries(
  sessions: SessionService,
  { sessionId, ...user }: SessionKey,
  { events }: { readonly events: number },
): Promise<SummarizedLog> {
  const log = await wholeLog(sessions, { ...user, id: sessionId });
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  const summaries = log.filter(({ actions }) => actions.compaction);
  const messages = log.filter(({ actions }) => !actions.compaction);
  const boundaries = summaries.map(({ actions }) => actions.compaction?.toSeq ?? 0);
  expect(boundaries).toEqual([...new Set(boundaries)].toSorted((a, b) => a - b));
  for (const [index, { id, seq, actions }] of summaries.entries()) {
    const toSeq = boundaries[index] ?? 0;
    expect(id).toBe(`summary:${toSeq}`);
    expect(actions.compaction).toMatchObject({ fromSeq: 1 });
    expect(toSeq).toBeLessThan(seq);
  }
  const session = await sessions.getSession({ ...user, sessionId });
  const last = summaries.at(-1);
  const rest = messages.filter(({ seq }) => seq > (boundaries.at(-1) ?? 0));
  expect(session?.events.map(({ id }) => id)).toEqual([...(last ? [last.id] : []), ...rest.map(({ id }) => id)]);
  expect(rest.length).toBeLessThanOrEqual(events);
  return { count: summaries.length, messageIds: messages.map(({ id }) => id) };
}
