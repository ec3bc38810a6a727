import {
  type AgentRegistry,
  type AgentRun,
  approvalsIn,
  invocationOfApproval,
  invocationOfMessage,
} from '../../agents/index.js';
import {
  type Content,
  EventConflictError,
  InvalidInputError,
  type Session,
  type SessionKey,
  type SessionService,
} from '../../index.js';
import { toJsonRecord } from '../shared/given-json.js';
import { listIdentifiedCalls, messageIdsOf, withMessageIds } from './event-messages.js';
import { newContent, newMessages } from './input-content.js';
import { type CheckedInput, requestDelta } from './run-input.js';

/** The runs that an input asks for: one for new messages, or one for each answer. */
export interface BegunRun {
  readonly starts: readonly (() => AgentRun)[];
  readonly invocationId: string;
  /** Of the messages that the client sent. */
  readonly messageIds: readonly string[];
  /** Whether the input was sent before, so that the client may lack what the session has. */
  readonly isRepeated: boolean;
}

/**
 * @throws InvalidInputError if the input says nothing new
 * @throws EventConflictError if it says something new under the id of a run that there is
 */
export function begunRun(
  { registry, sessions }: { readonly registry: AgentRegistry; readonly sessions: SessionService },
  key: SessionKey,
  session: Session,
  input: CheckedInput,
): BegunRun {
  const { runId, resume, request } = input;
  const [first] = resume;
  if (first) {
    const starts = resume.map(({ interruptId: approvalId, status, payload }) => () => {
      return registry.answerApproval({ ...key, approvalId, answer: toApprovalAnswer(status, payload) });
    });
    const waiting = new Set(approvalsIn(sessions, session).map(({ approvalId }) => approvalId));
    const isRepeated = resume.some(({ interruptId }) => !waiting.has(interruptId));
    return { starts, invocationId: invocationOfApproval(first.interruptId), messageIds: [], isRepeated };
  }
  // A repeated request gets what was stored, so that nothing runs twice.
  const before = session.events.find((event) => invocationOfMessage(event) === runId);
  if (before && newIn(session, input).length > 0) throw new EventConflictError(before.id, before.seq);
  const newMessage = before?.content ?? newContentOf(session, input);
  const run = { ...key, newMessage, invocationId: runId, stateDelta: requestDelta(request), create: false };
  return {
    starts: [() => registry.run(run)],
    invocationId: runId,
    messageIds: messageIdsOf({ content: newMessage }),
    isRepeated: before !== undefined,
  };
}

/** What is new in the messages. */
function newIn(session: Session, { messages }: CheckedInput): ReturnType<typeof newMessages> {
  return newMessages(messages, new Set(session.events.flatMap(messageIdsOf)));
}

/** The same as one content. */
function newContentOf(session: Session, input: CheckedInput): Content {
  const added = newIn(session, input);
  const tools = new Map(session.events.flatMap(listIdentifiedCalls).map(({ id, name }) => [id, name ?? ''] as const));
  const content = newContent(added, (callId) => {
    const name = tools.get(callId);
    if (name === undefined) throw new InvalidInputError(`answers a call that nobody made: ${callId}`, 'messages');
    return name;
  });
  if (content.parts?.length === 0)
    throw new InvalidInputError('has no new message of the user or of a tool', 'messages');
  return withMessageIds(
    content,
    added.map(({ id }) => id),
  );
}

/** `false`, `{ approved: false }` and `{ confirmed: false }` refuse, as does an interrupt that is cancelled. */
function toApprovalAnswer(status: string, payload: unknown): { confirmed: boolean; payload?: unknown } {
  const { approved, confirmed } = toJsonRecord(payload);
  const isRefused = status === 'cancelled' || [payload, approved, confirmed].includes(false);
  return { confirmed: !isRefused, ...(payload !== undefined && { payload }) };
}
