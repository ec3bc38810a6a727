import { branchView } from '../../sessions/domain/view/branch-view.js';
import { type Answer, isAnswer } from '../../sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import { sessionKeyOf } from '../../sessions/domain/values/ids.js';
import { lastGiven } from '../../sessions/domain/event/model-request.js';
import { rangesAbove } from '../../sessions/domain/values/seq-ranges.js';
import { readGivenTexts } from '../../sessions/operations/get-model-request.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import type { SessionService } from '../../sessions/session.service.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import type { LastRequest } from '../models/summary-model.js';
import { measureEventText, toConversationLines } from './conversation-lines.js';
import type { SummaryInput } from './summary-input.js';
import { VisibleLog } from './visible-log.js';

/** The last request to the model of a conversation, and where the part begins that is not summarised. */
export interface ReadRequest extends Omit<LastRequest, 'task'> {
  /** The first text that stays as it is; missing if nothing stays. */
  readonly keptFrom?: string | undefined;
}

/**
 * Reads the last request that was given all of the input up to its end, if it can be made again: its events are as they were given, and its
 * instructions and tools are kept. Undefined if there is none.
 */
export async function readLastRequest(
  { sessions, storage }: { readonly sessions: SessionService; readonly storage: SessionStorage },
  { record, previous, events, isPart }: SummaryInput,
  branch: string | undefined,
): Promise<ReadRequest | undefined> {
  if (isPart) return undefined;
  const log = new VisibleLog(storage, record);
  const after = await log.read({ ranges: rangesAbove(log.ranges, events.at(-1)?.seq ?? 0) });
  const kept = branch === undefined ? after : branchView(after, { branch });
  const readable = [...(previous ? [previous] : []), ...events, ...kept];
  const said = events.filter((event) => measureEventText(event) > 0);
  const bySeq = new Map(readable.map((event) => [event.seq, event]));
  for (const answer of readable.filter(isAnswer).toReversed()) {
    const given = eventsGivenTo(answer, bySeq);
    const last = lastGiven(answer.modelRequest);
    if (!given || (previous && !given.has(previous))) continue;
    if (!said.every((event) => event.seq > last || given.has(event))) continue;
    const texts = await keptTexts(sessions, answer, record);
    const later = readable.filter((event) => event.seq > last && !given.has(event));
    return texts && { ...texts, answer, given: [...given], later, keptFrom: toConversationLines(kept)[0]?.text };
  }
  return undefined;
}

/** In the order in which the model got them; undefined if they are not known exactly, or are no longer all there. */
function eventsGivenTo(
  { modelRequest: { given, isExact } }: Answer,
  bySeq: ReadonlyMap<number, LoggedEvent>,
): ReadonlySet<LoggedEvent> | undefined {
  if (isExact === false) return undefined;
  const events = new Set<LoggedEvent>();
  for (const [from, to] of given) {
    for (let seq = from; seq <= to; seq++) {
      const event = bySeq.get(seq);
      if (!event) return undefined;
      events.add(event);
    }
  }
  return events;
}

/** Undefined if one of them was given and is not kept. */
async function keptTexts(
  sessions: SessionService,
  answer: Answer,
  record: SummaryInput['record'],
): Promise<Pick<LastRequest, 'instructions' | 'tools'> | undefined> {
  const { instructions, tools } = await readGivenTexts(environmentBehind(sessions), sessionKeyOf(record), answer);
  if ([instructions, tools].some((text) => text && !text.isKept)) return undefined;
  return {
    ...(instructions && { instructions: instructions.value as LastRequest['instructions'] }),
    ...(tools && { tools: tools.value as LastRequest['tools'] }),
  };
}
