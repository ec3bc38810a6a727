import { isSummary, textsOf } from '../sessions/domain/event-inspection.js';
import type { Compaction, EventInput, LoggedEvent } from '../sessions/domain/event.js';
import { isCount } from '../sessions/domain/optional-count.js';
import type { Session } from '../sessions/domain/session.js';

/** So that a model which is shown the event as it is knows what it reads. */
export const HEADING = 'Summary of the conversation so far:\n';

/** A summary as it is kept: in the log, as the event of number `seq`. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly text: string;
  readonly seq: number;
  /** It stands for the events from here … */
  readonly fromSeq: number;
  /** … to here. */
  readonly toSeq: number;
  /** Epoch milliseconds. */
  readonly createTime: number;
  readonly model?: string | undefined;
  readonly promptVersion?: string | undefined;
  /** Events that a reader saw before it, and after it. */
  readonly originalEventCount: number;
  readonly compressedEventCount: number;
  /** Per cent of the events that a reader is spared. */
  readonly compressionRatio: number;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Whether readers see it: it was not replaced by a later one, nor rewound. */
  readonly isInForce: boolean;
}

/** What is known of a summary that is about to be kept. */
export interface SummaryDraft extends Compaction {
  readonly model: string;
  readonly promptVersion: string;
  readonly originalEventCount: number;
  readonly compressedEventCount: number;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly durationMs: number;
  /** How far the log went when it was read; not told where more could be summarised than a model takes at once. */
  readonly readToSeq?: number;
}

/** The id says what it stands for, so that one boundary has one summary, whoever writes it. */
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
  const count = (name: string): number | undefined => countIn(compaction, name);
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

/** Whether an event is a summary of ours that left nothing to summarise, and nothing came while it was written. */
export function isLastWord(event: LoggedEvent): boolean {
  const { compaction } = event.actions;
  return isSummary(event) && countIn(compaction, 'readToSeq') === event.seq - 1;
}

/**
 * The text of a summary, without what tells models that it is one.
 *
 * @example const texts = session.events.filter(({ actions }) => actions.compaction).map(textOfSummary);
 */
export function textOfSummary(event: EventInput): string {
  const text = textsOf(event).join('\n');
  return text.startsWith(HEADING) ? text.slice(HEADING.length) : text;
}

/**
 * A conversation for a model that takes instructions apart from messages: the summary goes to the instructions, and
 * the events are what is left.
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

/** Whoever appends a summary of their own may have written anything there. */
function countIn(compaction: Compaction | undefined, name: string): number | undefined {
  const value = compaction?.[name];
  return isCount(value) ? value : undefined;
}

function textIn(compaction: Compaction | undefined, name: string): string | undefined {
  const value = compaction?.[name];
  return typeof value === 'string' ? value : undefined;
}
