import type { FunctionCall, FunctionCallInput } from '../../sessions/domain/event/content.js';
import { EventActions, type EventInput, type EventLike } from '../../sessions/domain/event/event.js';
import { getFunctionCalls } from '../../sessions/domain/event/event-inspection.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { type Speaker, eventBy, formatSpeakerName } from '../../sessions/domain/event/open-calls.js';
import type { SessionMetadata } from '../../sessions/domain/metadata/metadata.js';
import type { Session } from '../../sessions/domain/session/session.js';
import type { StandardSchema } from '../../state/standard-schema.js';
import { APPROVAL_LABEL, REQUEST_NAME } from './approval-names.js';

/** What an approval is asked for. */
export interface ApprovalRequest<Payload = unknown> {
  /**
   * Identifies the request within the invocation, so that the handler finds the answer when it is called again. Two requests with
   * the same id are one, and must ask the same. Default: the tool call, and the position among its requests; without a call, the
   * position among the requests of the handler.
   */
  readonly id?: string | undefined;
  /** Tells the user what to approve. */
  readonly hint?: string | undefined;
  /** Details for the user. */
  readonly payload?: unknown;
  /** Checks the `payload` of an answer that confirms. */
  readonly schema?: StandardSchema<unknown, Payload> | undefined;
  /** After this time, the request counts as refused. Default: never. */
  readonly expiresInMs?: number | undefined;
}

/** The answer of a user. */
export interface ApprovalAnswer<Payload = unknown> {
  readonly confirmed: boolean;
  readonly payload?: Payload;
}

/**
 * What `requestApproval` returns.
 *
 * @example const result: ApprovalResult<{ amount: number }> = { confirmed: true, payload: { amount: 5 } };
 */
export type ApprovalResult<Payload = unknown> =
  /** With a schema, the payload is what it made of the answer's. */
  | { readonly confirmed: true; readonly payload: Payload }
  /** `reason` is for the model: that the user refused, or that the request expired. */
  | { readonly confirmed: false; readonly reason: string; readonly payload?: unknown };

/** A call that is to be approved. */
export interface AskedCall {
  readonly id?: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** An approval that waits for its answer. */
export interface PendingApproval extends SessionKey {
  readonly approvalId: string;
  readonly invocationId: string;
  /** The agent that asks. */
  readonly agentName: string;
  /** The tool that asks. */
  readonly tool?: string;
  readonly hint?: string;
  /** Details, as the request has them. */
  readonly payload?: unknown;
  /** The JSON Schema of the `payload` of an answer that confirms, if the library of the request's schema gives one. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The call to approve, if a tool asks. */
  readonly call?: AskedCall;
  /** When it counts as refused, in epoch milliseconds, if it ever does. */
  readonly expiresAt?: number;
  /** The message that began the invocation. */
  readonly messageSeq: number;
}

/** The parts of a pending approval that the metadata of its session holds. */
export interface ApprovalMark {
  readonly sessionId: string;
  readonly invocationId: string;
  /** The agent that asks. */
  readonly agentName: string;
  /** The agent of the run, if it is another one. */
  readonly runBy?: string;
  readonly tool?: string;
  readonly hint?: string;
  readonly expiresAt?: number;
  /** The message of the invocation. */
  readonly messageSeq: number;
}

/** A request that an invocation makes. */
export interface AskedApproval {
  readonly approvalId: string;
  readonly question: Question;
  /** The agent that asks. Default: the one of the run. */
  readonly speaker?: Speaker | undefined;
  readonly call: FunctionCall | undefined;
}

const FIELD = `${APPROVAL_LABEL}:`;
const PENDING = 'pending';
const MAX_HINT = 500;

/** The filter of a list of sessions with pending approvals. */
export const PENDING_FILTER = { labels: { [APPROVAL_LABEL]: PENDING } } as const;

/** The invocation that asks. */
export interface AskingRun extends Pick<ApprovalMark, 'sessionId' | 'invocationId' | 'messageSeq'> {
  /** The agent of the run. */
  readonly agentName: string;
}

/** The events that ask for approvals, one for each agent, and mark the session. */
export function approvalEvents(asked: readonly AskedApproval[], run: AskingRun): EventInput[] {
  const root = { author: run.agentName };
  const speakers = new Map(asked.map(({ speaker = root }) => [formatSpeakerName(speaker), speaker]));
  return [...speakers].map(([name, speaker]) =>
    approvalEvent(
      asked.filter((each) => formatSpeakerName(each.speaker ?? root) === name),
      run,
      speaker,
    ),
  );
}

function approvalEvent(asked: readonly AskedApproval[], run: AskingRun, { author, branch }: Speaker): EventInput {
  const fields = asked.map(({ approvalId, question: { hint, expiresAt }, call }) => {
    const mark: ApprovalMark = {
      ...run,
      agentName: author,
      ...(author !== run.agentName && { runBy: run.agentName }),
      ...(call?.name && { tool: call.name }),
      ...(hint && { hint: hint.slice(0, MAX_HINT).toWellFormed() }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
    return [FIELD + approvalId, mark] as const;
  });
  return {
    ...eventBy({ author, branch }, run.invocationId),
    content: { role: 'model', parts: asked.map((each) => ({ functionCall: requestCall(each) })) },
    longRunningToolIds: asked.map(({ approvalId }) => approvalId),
    actions: new EventActions({
      awaitsApproval: true,
      metadataDelta: { labels: { [APPROVAL_LABEL]: PENDING }, fields: Object.fromEntries(fields) },
    }),
  };
}

function requestCall({
  approvalId,
  question: { hint, payload, schema, expiresAt },
  call,
}: AskedApproval): FunctionCallInput {
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
      // Beside what ADK has, which takes no other fields.
      ...(schema && { schema }),
      ...(expiresAt !== undefined && { expiresAt }),
    },
  };
}

/** The event that says that an invocation still waits for approvals. */
export function waitingEvent(): EventInput {
  return { turnComplete: true, actions: new EventActions({ awaitsApproval: true }) };
}

/** Whether an invocation waits for approvals after this event. */
export function awaitsApproval({ actions }: EventLike): boolean {
  return Boolean(actions?.awaitsApproval);
}

/**
 * Whether the event asks for an approval, or answers one. Models need not read it: the tool's response says what followed.
 *
 * @example const said = events.filter((event) => !isApprovalEvent(event));
 */
export function isApprovalEvent({ actions }: EventLike): boolean {
  return Boolean(actions?.awaitsApproval ?? actions?.approvalAnswer);
}

/** What a user is asked. */
export interface Question extends Pick<ApprovalRequest, 'hint' | 'payload'> {
  /** The JSON Schema of the answer's payload, if its library gives one. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly expiresAt?: number | undefined;
}

/** What was asked, and for which call. */
export interface AskedQuestion extends Question {
  readonly call?: AskedCall;
}

/** The approvals that an event asks for. */
export function questionsIn(event: EventInput): (readonly [approvalId: string, asked: AskedQuestion])[] {
  return getFunctionCalls(event).flatMap(({ id, name, args }) => {
    if (name !== REQUEST_NAME || id === undefined) return [];
    const { toolConfirmation, originalFunctionCall: call, schema, expiresAt } = (args ?? {}) as RequestArgs;
    const { hint, payload } = toolConfirmation ?? {};
    const asked: AskedQuestion = {
      ...(hint !== undefined && { hint }),
      ...(payload !== undefined && { payload }),
      ...(schema && { schema }),
      ...(expiresAt !== undefined && { expiresAt }),
      ...(call && { call: askedCall(call) }),
    };
    return [[id, asked] as const];
  });
}

function askedCall({ id, name = '', args = {} }: FunctionCall): AskedCall {
  return { ...(id !== undefined && { id }), name, args };
}

/** The arguments of a request, with the names of ADK. */
interface RequestArgs {
  readonly originalFunctionCall?: FunctionCall;
  readonly toolConfirmation?: Pick<Question, 'hint' | 'payload'>;
  readonly schema?: Question['schema'];
  readonly expiresAt?: number;
}

/** Whether nobody can answer a request any more. */
export function isExpired({ expiresAt = Infinity }: Pick<ApprovalMark, 'expiresAt'>, now: number): boolean {
  return expiresAt <= now;
}

/** Whether an invocation asks for an approval. */
export function isAskedBy(invocationId: string): (approvalId: string, mark: ApprovalMark) => boolean {
  return (_approvalId, mark) => mark.invocationId === invocationId;
}

/** Whether the session has such approvals. */
export function hasApprovals(
  { id, metadata }: Pick<Session, 'id' | 'metadata'>,
  is: (approvalId: string, mark: ApprovalMark) => boolean,
): boolean {
  return [...approvalMarksIn(id, metadata)].some(([approvalId, mark]) => is(approvalId, mark));
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
  const metadataDelta = { fieldRemovals, ...(isAll && { labels: { [APPROVAL_LABEL]: null } }) };
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
