import { isSummary, textsOf } from '../sessions/domain/event-inspection.js';
import type { Compaction, EventInput, LoggedEvent } from '../sessions/domain/event.js';
import { isCount } from '../sessions/domain/input-checks.js';
import type { Session } from '../sessions/domain/session.js';

/** Tells a model that reads the event that its text is a summary. */
export const HEADING = 'Summary of the conversation so far:\n';

/** A summary in the log: the event with number `seq`. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly text: string;
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

export function summaryEvent(id: string, text: string, draft: SummaryDraft): EventInput {
  return {
    id,
    invocationId: 'summary',
    author: 'system',
    content: { role: 'user', parts: [{ text: HEADING + text }] },
    actions: { compaction: draft },
  };
}

export function summaryOf(sessionId: string, event: LoggedEvent, seqInForce: number): SessionSummary {
  const { compaction } = event.actions;
  const count = (name: keyof Compaction): number | undefined => countIn(compaction, name);
  const [original, compressed] = [count('originalEventCount') ?? 0, count('compressedEventCount') ?? 0];
  return {
    sessionId,
    text: textOfSummary(event),
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
 * The text of a summary, without its heading.
 *
 * @example const texts = session.events.filter(({ actions }) => actions.compaction).map(textOfSummary);
 */
export function textOfSummary(event: EventInput): string {
  const text = textsOf(event).join('\n');
  return text.startsWith(HEADING) ? text.slice(HEADING.length) : text;
}

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
