import { randomUUID } from 'node:crypto';
import { EventConflictError, StaleSessionError, StoreUnavailableError } from '../sessions/domain/errors.js';
import type { LoggedEvent } from '../sessions/domain/event.js';
import { summaryIdOf } from '../sessions/domain/summary-id.js';
import { openSession } from '../sessions/operations/open-session.js';
import type { SessionService } from '../sessions/session.service.js';
import type { Stretch } from './conversation/read-conversation.js';
import { type SummaryDraft, summaryEvent } from './session-summary.js';

/** A summary whose acknowledgement was lost is sent again as often as this. */
const MOST_TRIES = 4;

/**
 * Keeps a summary under one name for each boundary, so that it is kept once. Nothing where what it stands for changed
 * meanwhile: somebody rewound it, or was faster.
 */
export async function storeSummary(
  sessions: SessionService,
  stretch: Stretch,
  text: string,
  draft: SummaryDraft,
): Promise<LoggedEvent | undefined> {
  const name = summaryIdOf(draft.toSeq);
  // It may have been rewound, and is written anew. And who gives ids to events may have taken both names: without a third,
  // a model would be asked in vain with every append.
  for (const id of [name, `${name}:${stretch.record.marksSeq}`, `${name}:${randomUUID()}`]) {
    const stored = await storeAs(id, sessions, stretch, text, draft);
    if (stored) return stored;
  }
  return undefined;
}

/** Nothing where something else has this name. */
async function storeAs(
  id: string,
  sessions: SessionService,
  { record }: Stretch,
  text: string,
  draft: SummaryDraft,
): Promise<LoggedEvent | undefined> {
  const event = summaryEvent(id, text, draft);
  for (let tries = 1; ; tries++) {
    try {
      // Of this very session: one that was made anew under its id has nothing to do with it.
      const session = openSession({ record }, [], { items: [] });
      const stored = await sessions.append({ session, event, expectedMarksSeq: record.marksSeq });
      // The very same may be there already: rewound, or written by somebody else, unless it was sent before and not heard of.
      const isOwn = !stored.duplicate || (tries > 1 && stored.event.seq > record.lastSeq);
      return isOwn ? stored.event : undefined;
    } catch (error) {
      if (error instanceof StaleSessionError || error instanceof EventConflictError) return undefined;
      const isUnknown = error instanceof StoreUnavailableError && error.outcomeUnknown;
      if (!isUnknown || tries >= MOST_TRIES) throw error;
    }
  }
}
