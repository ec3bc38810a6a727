import { randomUUID } from 'node:crypto';
import { EventConflictError, StaleSessionError } from '../sessions/domain/errors/errors.js';
import type { EventInput, LoggedEvent } from '../sessions/domain/event/event.js';
import { EMPTY_SOURCE } from '../sessions/domain/view/loaded-view.js';
import { isBranchSummary } from '../sessions/domain/event/event-inspection.js';
import { summaryIdOf } from '../sessions/domain/values/ids.js';
import { retryUnknown } from '../sessions/domain/process/retry-overtaken.js';
import { SessionOpener } from '../sessions/operations/create-session.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import type { SessionService } from '../sessions/session.service.js';
import { coverageOf } from './session-summary.js';

/**
 * Appends a summary. Its id is derived from its branch and the last event that it covers, so that it is stored once. Returns `undefined` if the
 * session has changed in the meantime: the input was rewound or redacted, or another process was faster.
 *
 * @param record of the session as it was when the input was read
 */
export async function appendSummary(
  sessions: SessionService,
  record: SessionRecord,
  summary: EventInput,
): Promise<LoggedEvent | undefined> {
  const { toSeq = 0 } = coverageOf(summary) ?? {};
  const baseId = isBranchSummary(summary) ? `${summary.invocationId}:${toSeq}` : summaryIdOf(toSeq);
  // The first id is taken if the summary was rewound and is written again. An app that sets event ids may have taken the
  // second one as well: without a third, every append would call the model without result.
  for (const id of [baseId, `${baseId}:${record.marksSeq}`, `${baseId}:${randomUUID()}`]) {
    const stored = await appendOnce(sessions, record, { ...summary, id });
    if (stored) return stored;
  }
  return undefined;
}

/** Returns `undefined` if another event has this id. */
async function appendOnce(
  sessions: SessionService,
  record: SessionRecord,
  event: EventInput,
): Promise<LoggedEvent | undefined> {
  try {
    return await retryUnknown(async (attempt) => {
      // Refers to this incarnation: a new session under the same id must not get the summary.
      const session = new SessionOpener({}).open({ record }, [], EMPTY_SOURCE);
      const stored = await sessions.append({ session, event, expectedMarksSeq: record.marksSeq });
      // A duplicate was rewound, or written by another process, unless an earlier attempt of this call stored it.
      const isOwn = !stored.duplicate || (attempt > 1 && stored.event.seq > record.lastSeq);
      return isOwn ? stored.event : undefined;
    });
  } catch (error) {
    if (error instanceof StaleSessionError || error instanceof EventConflictError) return undefined;
    throw error;
  }
}
