import { branchSummaryOf, isSummaryOf } from '../sessions/domain/view/branch-view.js';
import { readableEvent } from '../sessions/domain/stored/damaged-event.js';
import { SessionNotFoundError } from '../sessions/domain/errors/errors.js';
import { groupOfInvocation } from '../sessions/domain/event/event-group.js';
import { EventActions, type EventInput, type LoggedEvent } from '../sessions/domain/event/event.js';
import { type SessionKey, sessionKeyOf } from '../sessions/domain/values/ids.js';
import { digestOf } from '../sessions/domain/values/json-digest.js';
import { RESERVED } from '../sessions/domain/values/reserved-words.js';
import { isInRanges } from '../sessions/domain/values/seq-ranges.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { loggedEvent } from '../sessions/domain/stored/stored-json.js';
import { visibleRanges } from '../sessions/domain/stored/view-marks.js';
import { EventFinder } from '../sessions/operations/event-finder.js';
import type { SessionStorage, StoredSession } from '../sessions/storage/session-storage.js';
import { type SessionSummary, type SummaryDraft, toSessionSummary } from './session-summary.js';

/** The event that says something to readers of the branch only. */
export function branchSummaryEvent(text: string, draft: SummaryDraft, branch: string): EventInput {
  return {
    invocationId: branchSummariesOf(branch),
    author: 'system',
    branch,
    actions: new EventActions({ branchSummary: { ...draft, branch, text } }),
  };
}

/** The invocation of all summaries of a branch, by which they are found. Branches may have any length. */
function branchSummariesOf(branch: string): string {
  return RESERVED.ids.summary + digestOf(branch);
}

/** The summary that readers of a branch get: that of their branch, or else that of the whole conversation. */
export async function summaryForBranch(
  storage: SessionStorage,
  key: SessionKey,
  branch: string,
): Promise<SessionSummary | undefined> {
  const read = await readSession(storage, key);
  const whole = wholeIn(read);
  const event = (await newestForBranch(storage, read, branch)) ?? whole;
  return event && toSessionSummary(key.sessionId, event, event.seq);
}

/** The summaries of a branch in the log, oldest first. */
export async function summariesOfBranch(
  storage: SessionStorage,
  key: SessionKey,
  branch: string,
): Promise<SessionSummary[]> {
  const read = await readSession(storage, key);
  const events: LoggedEvent[] = [];
  for await (const event of writtenFor(storage, read.record, branch)) events.unshift(event);
  const inForce = await newestForBranch(storage, read, branch, events.toReversed());
  return events.map((event) => toSessionSummary(key.sessionId, event, inForce?.seq ?? 0));
}

async function readSession(storage: SessionStorage, key: SessionKey): Promise<StoredSession> {
  const read = await storage.read({ key, withSummary: true });
  if (!read) throw new SessionNotFoundError(key.sessionId);
  return read;
}

function wholeIn({ summary }: StoredSession): LoggedEvent | undefined {
  return summary && loggedEvent(summary);
}

/** The newest one that was neither rewound nor redacted, unless that of the whole covers as much. */
export async function newestForBranch(
  storage: SessionStorage,
  read: StoredSession,
  branch: string,
  newestFirst: AsyncIterable<LoggedEvent> | readonly LoggedEvent[] = writtenFor(storage, read.record, branch),
): Promise<LoggedEvent | undefined> {
  const visible = visibleRanges(read.record);
  const whole = wholeIn(read);
  for await (const event of newestFirst) {
    if (!isInRanges(event.seq, visible) || !isSummaryOf(event, branch)) continue;
    return branchSummaryOf([...(whole ? [whole] : []), event], { branch });
  }
  return undefined;
}

/** Newest first. They are an invocation of their own, so that the log need not be read. */
async function* writtenFor(
  storage: SessionStorage,
  record: SessionRecord,
  branch: string,
): AsyncGenerator<LoggedEvent, void, void> {
  const finder = new EventFinder(storage, record);
  const group = groupOfInvocation(branchSummariesOf(branch));
  for (let from = record.lastSeq; from >= record.firstSeq;) {
    const seq = await finder.find({ group, direction: 'previous', from });
    if (seq < record.firstSeq) return;
    const range = { from: seq, to: seq };
    const read = await storage.read({ key: sessionKeyOf(record), window: { ranges: [range], limit: 1 } });
    const stored = read?.events.find((event) => event.seq === seq);
    const event = stored && readableEvent(stored);
    if (event?.actions.branchSummary?.branch === branch) yield event;
    from = seq - 1;
  }
}
