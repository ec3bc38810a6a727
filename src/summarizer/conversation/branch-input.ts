import { branchView } from '../../sessions/domain/view/branch-view.js';
import { NO_COUNTS, addCounters, countEvent } from '../../sessions/domain/stored/counters.js';
import { isBranchSummary } from '../../sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { rangesAbove } from '../../sessions/domain/values/seq-ranges.js';
import { loggedEvent } from '../../sessions/domain/stored/stored-json.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import { newestForBranch } from '../branch-summaries.js';
import type { SummaryFacts } from '../thresholds.js';
import { measureEventText } from './conversation-lines.js';
import { CutPoints } from './cut-points.js';
import type { SummaryInput, SummaryInputLimits } from './summary-input.js';
import { VisibleLog } from './visible-log.js';

/** What readers of a branch see and its last summary does not cover. */
export interface UncoveredBranch extends Pick<SummaryInput, 'record' | 'previous'> {
  readonly events: readonly LoggedEvent[];
  readonly facts: SummaryFacts;
  /** How many of the events are of this branch alone. */
  readonly own: number;
}

/** The input of a summary of a branch, and the facts by which it is due. */
export interface BranchInput extends SummaryInput, Pick<UncoveredBranch, 'facts' | 'own'> {}

/**
 * Reads what readers of a branch see and its last summary does not cover; `undefined` if the session is gone. Without a summary of the
 * branch, that of the whole conversation is the one to go on from: readers of the branch get the new one in its place.
 */
export async function readUncoveredBranch(
  storage: SessionStorage,
  key: SessionKey,
  branch: string,
): Promise<UncoveredBranch | undefined> {
  const read = await storage.read({ key, withSummary: true });
  if (!read) return undefined;
  const { record, now } = read;
  const ofBranch = await newestForBranch(storage, read, branch);
  const previous = ofBranch ?? (read.summary && loggedEvent(read.summary));
  const log = new VisibleLog(storage, record);
  const unread = rangesAbove(log.ranges, ofBranch?.actions.branchSummary?.toSeq ?? 0);
  const events: LoggedEvent[] = [];
  // What other branches said is not kept in memory.
  for await (const event of log.oldest(unread)) {
    if (!isBranchSummary(event)) events.push(...branchView([event], { branch }));
  }
  const since = events.map((event) => countEvent(event)).reduce(addCounters, NO_COUNTS);
  const facts = { key, since, idleMs: now - record.lastUpdateTime, event: events.at(-1) };
  return { record, previous, events, facts, own: events.filter((event) => event.branch === branch).length };
}

/** The input of the next summary of a branch, if there is something to summarise. */
export function branchInputOf(
  { events, ...rest }: UncoveredBranch,
  limits: SummaryInputLimits,
): BranchInput | undefined {
  const part = oldestPart(events, limits);
  return part && { ...rest, ...part, left: events.length - part.events.length };
}

/** All but the newest events, or as many of them as a model gets at once. */
function oldestPart(
  events: readonly LoggedEvent[],
  { keepRecentEvents, maxInputLength, isForced }: SummaryInputLimits,
): Pick<SummaryInput, 'events' | 'isPart'> | undefined {
  const cutPoints = new CutPoints(events, { isWhole: true, isForced });
  const all = cutPoints.lastUpTo(events.length - keepRecentEvents);
  if (all <= 0) return undefined;
  let length = 0;
  const tooLongAt = events.findIndex((event) => (length += measureEventText(event)) > maxInputLength);
  if (tooLongAt < 0 || tooLongAt >= all) return { events: events.slice(0, all), isPart: false };
  // Lines that are too long are shortened, if there is no cut before.
  const fitting = events.slice(0, cutPoints.lastUpTo(tooLongAt));
  const isPart = fitting.some((event) => measureEventText(event) > 0);
  return { events: isPart ? fitting : events.slice(0, all), isPart };
}
