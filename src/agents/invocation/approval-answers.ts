import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { type StandardSchema, issuePath } from '../../state/standard-schema.js';
import { getFunctionResponses } from '../../sessions/domain/event/event-inspection.js';
import type { Content } from '../../sessions/domain/event/content.js';
import { EventActions, type EventInput, type EventLike, type LoggedEvent } from '../../sessions/domain/event/event.js';
import { ApprovalAnsweredError, ApprovalExpiredError, ApprovalWithdrawnError } from '../errors/approval-errors.js';
import { formatApprovalAnswerId } from './approval-ids.js';
import { REQUEST_NAME } from './approval-names.js';
import type { ApprovalAnswer, ApprovalMark, ApprovalResult } from './approval-requests.js';

/** The content of an answer. */
export function answerContent(approvalId: string, { confirmed, payload }: ApprovalAnswer): Content {
  const response = { confirmed, ...(payload !== undefined && { payload }) };
  return { role: 'user', parts: [{ functionResponse: { id: approvalId, name: REQUEST_NAME, response } }] };
}

/** The event with an answer. Who stores it takes the mark away. */
export function answerEvent(
  approvalId: string,
  content: Content,
  { invocationId, messageSeq }: Pick<ApprovalMark, 'invocationId' | 'messageSeq'>,
): EventInput {
  return {
    id: formatApprovalAnswerId(approvalId),
    invocationId,
    author: 'user',
    content,
    actions: new EventActions({ approvalAnswer: { messageSeq } }),
  };
}

/** Why nobody can answer any more. */
export type Refusal = 'withdrawn' | 'expired';

const REFUSED: Readonly<Record<Refusal, string>> = {
  withdrawn: 'The request was withdrawn.',
  expired: 'The request for approval expired: nobody answered in time.',
};

/** The event that counts as the answer if nobody can give one any more. */
export function refusalEvent(
  approvalId: string,
  refused: Refusal,
  run: Pick<ApprovalMark, 'invocationId' | 'messageSeq'>,
): EventInput {
  const response = { confirmed: false, reason: REFUSED[refused] };
  const content = { role: 'user', parts: [{ functionResponse: { id: approvalId, name: REQUEST_NAME, response } }] };
  const event = answerEvent(approvalId, content, run);
  return { ...event, actions: new EventActions({ approvalAnswer: { messageSeq: run.messageSeq, refused } }) };
}

/** What an event with an answer says of it. */
export interface AnswerNote {
  /** The message of the invocation. */
  readonly messageSeq: number;
  /** Why it is no answer of a user, if it is none. */
  readonly refused?: Refusal;
}

/** What the event says of the answer that it holds, if it holds one. */
export function answerNoteOf({ actions }: EventLike): AnswerNote | undefined {
  return actions?.approvalAnswer as AnswerNote | undefined;
}

/** The answers in an event. */
export function answersIn(event: EventInput): readonly (readonly [approvalId: string, answer: ApprovalAnswer])[] {
  return getFunctionResponses(event).flatMap(({ id, name, response }) =>
    name === REQUEST_NAME && id !== undefined ? [[id, response as ApprovalAnswer] as const] : [],
  );
}

/**
 * The answers that a message of an ADK client consists of; none if it says something else, too. ADK's web UI wraps an
 * answer in a field `response`, as JSON text.
 */
export function confirmationsIn(message: Content): (readonly [approvalId: string, answer: unknown])[] {
  const answers = answersIn({ content: message });
  if (answers.length !== message.parts?.length) return [];
  return answers.map(([approvalId, answer]) => [approvalId, unwrapped(answer)] as const);
}

function unwrapped(answer: unknown): unknown {
  const [[name, text] = [], ...others] = Object.entries(answer ?? {}) as [string, unknown][];
  if (name !== 'response' || typeof text !== 'string' || others.length > 0) return answer;
  try {
    return JSON.parse(text);
  } catch {
    return answer;
  }
}

/** Why an approval with this answer takes no other one. */
export function answeredError(approvalId: string, stored: LoggedEvent): Error {
  const { refused } = answerNoteOf(stored) ?? {};
  if (refused === 'withdrawn') return new ApprovalWithdrawnError(approvalId);
  if (refused === 'expired') return new ApprovalExpiredError(approvalId);
  return new ApprovalAnsweredError(approvalId, stored.seq);
}

/** Refuses an answer that does not fit the schema. A refusal needs no payload. */
export async function checkedAnswer<Payload>(
  answer: unknown,
  schema: StandardSchema<unknown, Payload> | undefined,
): Promise<ApprovalResult<Payload>> {
  const { confirmed, payload } = (answer ?? {}) as ApprovalAnswer;
  if (typeof confirmed !== 'boolean') throw new InvalidInputError('must be true or false', 'answer.confirmed');
  if (!confirmed) return { reason: 'The user refused.', ...(answer as object), confirmed };
  if (!schema) return answer as ApprovalResult<Payload>;
  const result = await schema['~standard'].validate(payload);
  if (!result.issues) return { confirmed, payload: result.value };
  const [issue] = result.issues;
  const path = issue ? issuePath(issue) : '';
  throw new InvalidInputError(issue?.message ?? 'does not fit the schema', `answer.payload${path}`);
}
