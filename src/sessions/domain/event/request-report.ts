import type { UsageMetadata } from './event.js';
import type { Answer } from './event-inspection.js';
import type { ModelRequest, SeqPair } from './model-request.js';
import { type RequestDifference, requestDifference } from './request-difference.js';

/** Instructions or tools, as a request names them. */
export interface RequestText {
  /** Equal texts have equal hashes. */
  readonly hash: string;
  /** Whether the store has it. It does not keep what is too long, and nothing with `history.keepPrompts: false`. */
  readonly isKept: boolean;
  /** As it was given. Missing if it is not kept. Clients get it only if the access rule `allowsPrompts`. */
  readonly value?: unknown;
}

/** What a model was given for an answer. */
export interface ModelRequestReport extends Pick<ModelRequest, 'durationMs'> {
  /** The event that is the answer. */
  readonly seq: number;
  readonly id: string;
  readonly author?: string | undefined;
  readonly branch?: string | undefined;
  readonly timestamp: number;
  readonly model?: string | undefined;
  readonly usage?: UsageMetadata | undefined;
  /** The events that the model was given, in the order in which it got them. */
  readonly given: readonly SeqPair[];
  /** Whether it was given these events and no others. */
  readonly isExact: boolean;
  readonly instructions?: RequestText | undefined;
  readonly tools?: RequestText | undefined;
  /** What changed since the request to compare with, if there is one. */
  readonly change?: RequestDifference | undefined;
}

/** Whether two answers are of the same agent, so that the later request goes on with the earlier one. */
export function isOfSameAgent(one: Answer, other: Answer): boolean {
  return one.author === other.author && one.branch === other.branch;
}

/** What a model was given for an answer, by the fact in it; compared with the request of another answer, if there is one. */
export function toRequestReport(
  { seq, id, author, branch, timestamp, modelVersion: model, usageMetadata: usage, modelRequest }: Answer,
  other: Answer | undefined,
  { instructions, tools }: Pick<ModelRequestReport, 'instructions' | 'tools'>,
): ModelRequestReport {
  const { given, isExact = true, durationMs } = modelRequest;
  return {
    seq,
    id,
    ...(author !== undefined && { author }),
    ...(branch !== undefined && { branch }),
    timestamp,
    ...(model !== undefined && { model }),
    ...(usage && { usage }),
    given,
    isExact,
    ...(durationMs !== undefined && { durationMs }),
    ...(instructions && { instructions }),
    ...(tools && { tools }),
    ...(other && { change: requestDifference({ seq: other.seq, ...other.modelRequest }, modelRequest) }),
  };
}
