import { createHash } from 'node:crypto';
import type { Content, EventInput, FunctionCall } from '../sessions/domain/event.js';
import { getFunctionResponses } from '../sessions/domain/event-inspection.js';
import { InvalidInputError } from '../sessions/domain/errors.js';
import type { SessionKey } from '../sessions/domain/ids.js';
import type { SessionMetadata } from '../sessions/domain/metadata.js';
import type { Session } from '../sessions/domain/session.js';
import type { StandardSchema } from '../state/standard-schema.js';

/** What an approval is asked for. */
export interface ApprovalRequest<Payload = unknown> {
  /**
   * Identifies the request within the invocation, so that the handler finds the answer when it is called again. Default: the id
   * of the tool call, or its place among the calls of the invocation; without a call, the position among the requests of the
   * handler.
   */
  readonly id?: string | undefined;
  /** Tells the user what to approve. */
  readonly hint?: string | undefined;
  /** Details for the user. */
  readonly payload?: unknown;
  /** Checks the `payload` of an answer that confirms. */
  readonly schema?: StandardSchema<unknown, Payload> | undefined;
}

/** The answer of a user. */
export interface ApprovalAnswer<Payload = unknown> {
  readonly confirmed: boolean;
  readonly payload?: Payload;
}

/** An approval that waits for its answer. */
export interface PendingApproval extends SessionKey {
  readonly approvalId: string;
  readonly invocationId: string;
  readonly agentName: string;
  /** The tool that asks. */
  readonly tool?: string;
  readonly hint?: string;
  /** The message that began the invocation. */
  readonly messageSeq: number;
}

/** The parts of a pending approval that the metadata of its session holds. */
export interface ApprovalMark {
  readonly sessionId: string;
  readonly invocationId: string;
  readonly agentName: string;
  readonly tool?: string;
  readonly hint?: string;
  /** The message of the invocation. */
  readonly messageSeq: number;
}

/** A request that an invocation makes. */
export interface AskedApproval {
  readonly approvalId: string;
  readonly request: ApprovalRequest;
  readonly call: FunctionCall | undefined;
}

/** As in ADK. */
const REQUEST_NAME = 'adk_request_confirmation';
const FIELD = 'agents:approval:';
const LABEL = 'agents:approval';
const PENDING = 'pending';
const ANSWER_ID = 'answer:';
const MAX_HINT = 500;
const SEPARATOR = '@';
/** Leaves room for the prefixes of events and metadata. */
const MAX_ID_BYTES = 170;
/** Is in no encoded name. Fits beside the longest invocation id, with 108 bits of the hash. */
const HASHED = '=';
const HASH_LENGTH = 18;

/** The filter of a list of sessions with pending approvals. */
export const PENDING_FILTER = { labels: { [LABEL]: PENDING } } as const;

/** The event that asks for approvals, and marks the session. */
export function approvalEvent(asked: readonly AskedApproval[], mark: Omit<ApprovalMark, 'tool' | 'hint'>): EventInput {
  const fields = asked.map(({ approvalId, request: { hint }, call }) => {
    const details = {
      ...(call?.name && { tool: call.name }),
      ...(hint && { hint: hint.slice(0, MAX_HINT).toWellFormed() }),
    };
    return [FIELD + approvalId, { ...mark, ...details }] as const;
  });
  return {
    content: { role: 'model', parts: asked.map((each) => ({ functionCall: requestCall(each) })) },
    longRunningToolIds: asked.map(({ approvalId }) => approvalId),
    actions: {
      awaitsApproval: true,
      metadataDelta: { labels: { [LABEL]: PENDING }, fields: Object.fromEntries(fields) },
    },
  };
}

function requestCall({ approvalId, request: { hint, payload }, call }: AskedApproval): FunctionCall {
  return {
    id: approvalId,
    name: REQUEST_NAME,
    args: {
      ...(call && { originalFunctionCall: call }),
      toolConfirmation: {
        confirmed: false,
        ...(hint !== undefined && { hint }),
        ...(payload !== undefined && { payload }),
      },
    },
  };
}

/** The event that says that an invocation still waits for approvals. */
export function waitingEvent(): EventInput {
  return { turnComplete: true, actions: { awaitsApproval: true } };
}

/** Whether an invocation waits for approvals after this event. */
export function awaitsApproval({ actions }: EventInput): boolean {
  return Boolean(actions?.awaitsApproval);
}

/** Whether the event asks for an approval, or answers one. Models need not read it: the tool's response says what followed. */
export function isApprovalEvent({ actions }: EventInput): boolean {
  return Boolean(actions?.awaitsApproval ?? actions?.approvalAnswer);
}

/** The content of an answer. */
export function answerContent(approvalId: string, { confirmed, payload }: ApprovalAnswer): Content {
  const response = { confirmed, ...(payload !== undefined && { payload }) };
  return { role: 'user', parts: [{ functionResponse: { id: approvalId, name: REQUEST_NAME, response } }] };
}

/** The id of an approval: of the request, and of its invocation. If both are too long, the request is shown by its hash. */
export function approvalIdOf(id: string, invocationId: string): string {
  const name = encodeURIComponent(id.toWellFormed());
  const end = SEPARATOR + invocationId;
  if (Buffer.byteLength(name + end) <= MAX_ID_BYTES) return name + end;
  const hash = createHash('sha256').update(name).digest('base64url').slice(0, HASH_LENGTH);
  return HASHED + hash + end;
}

/** The invocation that asks for an approval. */
export function invocationOfApproval(approvalId: string): string {
  const place = approvalId.indexOf(SEPARATOR);
  if (place < 0) throw new InvalidInputError('must be the id of an approval', 'approvalId');
  return approvalId.slice(place + 1);
}

/** The id of the event with the answer. Ids are unique, so an approval is answered once. */
export function answerIdOf(approvalId: string): string {
  return ANSWER_ID + approvalId;
}

/** The event with an answer, which takes the mark away. */
export function answerEvent(
  approvalId: string,
  content: Content,
  { invocationId, messageSeq }: ApprovalMark,
  isLast: boolean,
): EventInput {
  return {
    id: answerIdOf(approvalId),
    invocationId,
    author: 'user',
    content,
    actions: {
      approvalAnswer: { messageSeq },
      metadataDelta: { fieldRemovals: [FIELD + approvalId], ...(isLast && { labels: { [LABEL]: null } }) },
    },
  };
}

/** The message of the invocation to which an answer belongs. */
export function answeredMessageSeq({ actions }: EventInput): number | undefined {
  return (actions?.approvalAnswer as { readonly messageSeq: number } | undefined)?.messageSeq;
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

/** The approvals that an event asks for. */
export function approvalsAskedIn({ content }: EventInput): string[] {
  return (content?.parts ?? []).flatMap(({ functionCall }) =>
    functionCall?.name === REQUEST_NAME && functionCall.id !== undefined ? [functionCall.id] : [],
  );
}

/** Whether an invocation asks for an approval. */
export function isAskedBy(invocationId: string): (approvalId: string, mark: ApprovalMark) => boolean {
  return (_approvalId, mark) => mark.invocationId === invocationId;
}

/** The events, so that the last one takes the marks of requests away that can no longer be answered. */
export function withoutApprovals(
  events: readonly EventInput[],
  { id, metadata }: Pick<Session, 'id' | 'metadata'>,
  isGone: (approvalId: string, mark: ApprovalMark) => boolean,
): EventInput[] {
  const marks = [...approvalMarksIn(id, metadata)];
  const gone = marks.filter(([approvalId, mark]) => isGone(approvalId, mark));
  const last = events.at(-1);
  if (gone.length === 0 || !last) return [...events];
  const isAll = gone.length === marks.length;
  const fieldRemovals = gone.map(([approvalId]) => FIELD + approvalId);
  const metadataDelta = { fieldRemovals, ...(isAll && { labels: { [LABEL]: null } }) };
  return [...events.slice(0, -1), { ...last, actions: { ...last.actions, metadataDelta } }];
}

/** The pending approvals of a session. A fork copies the marks of its source, but not its requests. */
export function approvalMarksIn(sessionId: string, { fields }: SessionMetadata): ReadonlyMap<string, ApprovalMark> {
  const marks = Object.entries(fields ?? {}).flatMap(([name, value]) => {
    const mark = value as ApprovalMark | null;
    return name.startsWith(FIELD) && mark?.sessionId === sessionId ? [[name.slice(FIELD.length), mark] as const] : [];
  });
  return new Map(marks);
}
