import { isSummary, listEventTexts } from '../sessions/domain/event/event-inspection.js';
import type { Part } from '../sessions/domain/event/content.js';
import type { Compaction, EventInput, EventLike, LoggedEvent } from '../sessions/domain/event/event.js';
import { isCount } from '../sessions/domain/values/input-checks.js';
import type { Session } from '../sessions/domain/session/session.js';

/** Tells a model that reads the event that its text is a summary. */
const HEADING = 'Summary of the conversation so far:\n';
/** Stands before a part that was added to a summary. Models may read parts as one text. */
const NEXT_HEADING = '\nSummary of what came next:\n';
const HEADINGS: readonly string[] = [HEADING, NEXT_HEADING];

/** A summary in the log: the event with number `seq`. */
export interface SessionSummary {
  readonly sessionId: string;
  /** The branch whose readers get it; missing for a summary of the whole conversation. */
  readonly branch?: string | undefined;
  readonly text: string;
  /** Of how many parts the text consists: more than one only with the setting `segments`. */
  readonly segments: number;
  readonly seq: number;
  /** The first event that it covers. */
  readonly fromSeq: number;
  /** The last event that it covers. */
  readonly toSeq: number;
  /** Epoch milliseconds. */
  readonly createTime: number;
  readonly model?: string | undefined;
  readonly promptVersion?: string | undefined;
  /** Events in the view before the summary. */
  readonly originalEventCount: number;
  /** Events in the view after the summary. */
  readonly compressedEventCount: number;
  /** By how many per cent the view became shorter. */
  readonly compressionRatio: number;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Whether readers see it: it was neither replaced by a later one nor rewound. */
  readonly isInForce: boolean;
}

/** The metadata of a summary that is not stored yet. */
export interface SummaryDraft extends Compaction {
  readonly model: string;
  readonly promptVersion: string;
  readonly originalEventCount: number;
  readonly compressedEventCount: number;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly durationMs: number;
  /** The last event of the log when it was read; not set if there was more to summarise than a model gets at once. */
  readonly readToSeq?: number;
}

/** @param kept parts of the summary before this one, which stay as they are; see {@link keptParts} */
export function summaryEvent(text: string, draft: SummaryDraft, kept: readonly Part[]): EventInput {
  const heading = kept.length === 0 ? HEADING : NEXT_HEADING;
  return {
    invocationId: 'summary',
    author: 'system',
    content: { role: 'user', parts: [...kept, { text: heading + text }] },
    actions: { compaction: draft },
  };
}

/** What a summary covers, and how it was made; `undefined` for other events. */
export function coverageOf({ actions }: EventLike): Compaction | undefined {
  return actions?.compaction ?? actions?.branchSummary;
}

/** The parts of a summary that stay when the next one is written; none if it is full, and all becomes one part again. */
export function keptParts(previous: LoggedEvent | undefined, segments: number): readonly Part[] {
  const parts = previous?.content?.parts ?? [];
  return parts.length < segments ? parts : [];
}

export function toSessionSummary(sessionId: string, event: LoggedEvent, seqInForce: number): SessionSummary {
  const compaction = coverageOf(event);
  const branch = event.actions.branchSummary?.branch;
  const count = (name: keyof Compaction): number | undefined => countIn(compaction, name);
  const [original, compressed] = [count('originalEventCount') ?? 0, count('compressedEventCount') ?? 0];
  return {
    sessionId,
    ...(branch !== undefined && { branch }),
    text: textOfSummary(event),
    segments: branch === undefined ? (event.content?.parts?.length ?? 0) : 1,
    seq: event.seq,
    fromSeq: compaction?.fromSeq ?? 0,
    toSeq: compaction?.toSeq ?? 0,
    createTime: event.timestamp,
    model: textIn(compaction, 'model'),
    promptVersion: textIn(compaction, 'promptVersion'),
    originalEventCount: original,
    compressedEventCount: compressed,
    compressionRatio: original > 0 ? ((original - compressed) / original) * 100 : 0,
    inputTokens: count('inputTokens'),
    outputTokens: count('outputTokens'),
    durationMs: count('durationMs'),
    isInForce: event.seq === seqInForce,
  };
}

/** Whether an event is a summary that left nothing to summarise, and no event was appended while it was written. */
export function isFinalSummary(event: LoggedEvent): boolean {
  const { compaction } = event.actions;
  return isSummary(event) && countIn(compaction, 'readToSeq') === event.seq - 1;
}

/**
 * The text of a summary, without its headings.
 *
 * @example const texts = session.events.filter(({ actions }) => actions.compaction).map(textOfSummary);
 */
export function textOfSummary(event: EventLike): string {
  return event.actions?.branchSummary?.text ?? listEventTexts(event).map(withoutHeading).join('\n');
}

function withoutHeading(text: string): string {
  const heading = HEADINGS.find((each) => text.startsWith(each)) ?? '';
  return text.slice(heading.length);
}

/** The headings as lines: a model may repeat those that it read. */
export const HEADING_LINES = HEADINGS.map((each) => each.trim());

/**
 * A conversation for a model that takes instructions separately from messages: the summary becomes part of the
 * instructions, and `events` are the other events.
 *
 * @example
 * const { system, events } = withSummaryAsInstruction(session, 'You are a helpful assistant.');
 */
export function withSummaryAsInstruction(
  { events }: Pick<Session, 'events'>,
  instruction = '',
): { system: string; events: LoggedEvent[] } {
  const summary = events.find(isSummary);
  const parts = [instruction, summary ? HEADING + textOfSummary(summary) : ''].filter((part) => part !== '');
  return { system: parts.join('\n\n'), events: events.filter((event) => event !== summary) };
}

/** Apps may append summaries of their own, with any value here. */
function countIn(compaction: Compaction | undefined, name: keyof Compaction): number | undefined {
  const value = compaction?.[name];
  return isCount(value) ? value : undefined;
}

function textIn(compaction: Compaction | undefined, name: keyof Compaction): string | undefined {
  const value = compaction?.[name];
  return typeof value === 'string' ? value : undefined;
}
