import { hash } from 'node:crypto';
import type { DynamicToolUIPart, ToolUIPart, UIMessage } from 'ai';
import { assertId, defined, describeWrite, isPlainObject, RESERVED } from '../../adapter.js';
import { type Content, InvalidInputError, type LoggedEvent, type Part } from '../../index.js';
import { type SdkFields, type StoredOutcome, sdkFieldsOf, sdkMetadata } from './sdk-fields.js';
import { REQUEST_NAME, toEventContents, isToolPart, toolNameOf } from './step-events.js';
import { type ToolOutcome, toFunctionResponse, storedOutcome } from './tool-outcome.js';
import { type ChatEntry, formatAnswerMessageId } from './ui-messages.js';

/** What a page sends: `useChat` with its default transport, or with `message` instead of `messages`. */
export interface ChatRequest {
  /** The id of the chat. */
  readonly id?: unknown;
  /** Only the last one counts: the others are in the log. */
  readonly messages?: unknown;
  readonly message?: unknown;
  readonly trigger?: unknown;
  readonly messageId?: unknown;
}

/** The run that a request of a page asks for. */
export interface PlannedRun {
  readonly invocationId: string;
  readonly newMessage: Content;
  readonly customMetadata?: Record<string, unknown>;
  readonly rewindTo?: number;
  /** The message that the answer continues. */
  readonly continued?: string;
}

/** The message that a run replaces. */
export interface ReplacedMessage {
  readonly replaced?: ChatEntry | undefined;
  readonly isTaken: boolean;
}

/** How a description of a write names reserved words. */
const RESERVED_WORD = 'reserved:';

/** Leaves room for what distinguishes edits of one message. */
const MAX_ID_BYTES = 100;

/** Plain JavaScript gives any body. */
export function assertBody(request: unknown): void {
  if (typeof request === 'object' && request !== null) return;
  throw new InvalidInputError('must be the body of a request of a page', 'request');
}

/** The message of the request that counts. */
export function sentMessage({ messages, message }: ChatRequest): unknown {
  const sent: unknown = message ?? (Array.isArray(messages) ? messages.at(-1) : undefined);
  if (isPlainObject(sent)) return sent;
  throw new InvalidInputError('must have the message to answer', 'request.messages');
}

/** A new message of the user. The same one again is answered once. */
export function newMessageRun(message: UIMessage): PlannedRun {
  assertMessageId(message.id);
  const word = describeWrite({ event: { id: message.id } }).fields.find((name) => name.startsWith(RESERVED_WORD));
  if (word !== undefined) {
    throw new InvalidInputError(
      `must not begin with the reserved word ${word.slice(RESERVED_WORD.length)}`,
      'message.id',
    );
  }
  const { fields, newMessage } = contentOfUser(message, undefined);
  const hasFields = Object.keys(fields).length > 0;
  return { invocationId: message.id, newMessage, ...(hasFields && { customMetadata: sdkMetadata(fields) }) };
}

/** A message that replaces one of the user, and all that follows: with new content, or to be answered again. */
export function replacingRun(
  replaced: ChatEntry,
  { message, messageId }: { readonly message?: UIMessage; readonly messageId?: unknown },
  newId: () => string,
): PlannedRun {
  const { id } = replaced.message;
  const [event] = replaced.events;
  const invocationId = `${Buffer.byteLength(id) > MAX_ID_BYTES ? 'message' : id}~${newId()}`;
  const { fields, newMessage } = contentOfUser(message ?? replaced.message, id);
  const customMetadata = sdkMetadata({ ...fields, ...(isAnswer(messageId) && { again: messageId }) });
  return { invocationId, rewindTo: (event?.seq ?? 1) - 1, newMessage, customMetadata };
}

/** Whether the message was stored to replace this answer. That answer is gone, so the request was repeated. */
export function isAskedAgain(said: LoggedEvent, messageId: unknown): boolean {
  return isAnswer(messageId) && sdkFieldsOf(said)?.again === messageId;
}

/** Without the id of an answer, nobody can tell a repeated request from another one. */
function isAnswer(messageId: unknown): messageId is string {
  return typeof messageId === 'string' && messageId.startsWith(formatAnswerMessageId(''));
}

export function findChatEntry(entries: readonly ChatEntry[], id: string): ChatEntry | undefined {
  return entries.findLast(({ message }) => message.id === id);
}

/** The message of the user whose answer is to be replaced, unless these entries do not tell. */
export function againOf(
  entries: readonly ChatEntry[],
  messageId: unknown,
  lastId: string,
): { readonly replaced: ChatEntry | undefined } | undefined {
  const wanted = entries.findLastIndex(({ message }) => message.id === messageId);
  const place = wanted >= 0 ? wanted : entries.findLastIndex(({ message }) => message.id === lastId);
  if (place < 0) return undefined;
  return { replaced: entries.slice(0, place + 1).findLast(({ message }) => message.role === 'user') };
}

/** Whether an edited message has this content. */
export function isSameAs({ content }: LoggedEvent, edited: UIMessage): boolean {
  return JSON.stringify(newMessageRun(edited).newMessage.parts) === JSON.stringify(content?.parts);
}

/** What the page answers in a message of the assistant: approvals, and outputs of tools that it ran. */
export function continuingRun(known: UIMessage, sent: UIMessage, waiting: ReadonlySet<string>): PlannedRun {
  const answers = answersIn(known, sent, waiting);
  const ids = answers.map(({ id }) => id).toSorted();
  const digest = hash('sha256', JSON.stringify([known.id, ids]), 'base64url').slice(0, 22);
  const stored = answers.flatMap(({ id, outcome }) => (outcome ? [[id, outcome] as const] : []));
  return {
    invocationId: RESERVED.ids.continued + digest,
    newMessage: { role: 'user', parts: answers.map(({ part }) => part) },
    customMetadata: sdkMetadata({
      continues: known.id,
      ...(stored.length > 0 && { results: Object.fromEntries(stored) }),
    }),
    continued: known.id,
  };
}

interface Answer {
  readonly id: string;
  readonly part: Part;
  readonly outcome?: StoredOutcome | undefined;
}

/** Only what waits for an answer can be answered. Everything else that the page says of the message is ignored. */
function answersIn(known: UIMessage, sent: UIMessage, waiting: ReadonlySet<string>): Answer[] {
  return known.parts.filter(isToolPart).flatMap((part): Answer[] => {
    const { toolCallId } = part;
    const said = sent.parts.filter(isToolPart).find((each) => each.toolCallId === toolCallId);
    if (!said) return [];
    if (part.state === 'approval-requested' && said.approval?.approved !== undefined) {
      const { id } = part.approval;
      const { approved, reason } = said.approval;
      const response = { confirmed: approved, ...(reason !== undefined && { payload: { reason } }) };
      return said.approval.id === id ? [{ id, part: { functionResponse: { id, name: REQUEST_NAME, response } } }] : [];
    }
    if (part.state !== 'input-available' || !waiting.has(toolCallId)) return [];
    const result = resultIn(said);
    if (!result) return [];
    const outcome: ToolOutcome = { toolCallId, toolName: toolNameOf(part), result };
    return [
      { id: toolCallId, part: { functionResponse: toFunctionResponse(outcome) }, outcome: storedOutcome(outcome) },
    ];
  });
}

function resultIn(said: ToolUIPart | DynamicToolUIPart): ToolOutcome['result'] | undefined {
  if (said.state === 'output-available') return { type: 'output', output: said.output };
  return said.state === 'output-error' ? { type: 'error', errorText: said.errorText } : undefined;
}

/** A message of the user as content, and what only pages understand of it. */
function contentOfUser(
  message: UIMessage,
  knownId: string | undefined,
): { readonly newMessage: Content; readonly fields: SdkFields } {
  if (message.role !== 'user') throw new InvalidInputError('must be user', 'message.role');
  const parts = message.parts.filter(({ type }) => type !== 'step-start');
  const wrong = parts.find(({ type }) => type !== 'text' && type !== 'file' && !type.startsWith('data-'));
  if (wrong) throw new InvalidInputError(`must not be ${wrong.type} in a message of the user`, 'message.parts');
  const { contents, references, isWhole } = toEventContents(parts);
  // Data of the page is for the handler, and in no content.
  const isSaid = contents.some(({ text }) => text === undefined || text.trim() !== '');
  if (!isSaid && !parts.some(({ type }) => type.startsWith('data-'))) {
    throw new InvalidInputError('must have a text, a file or data', 'message.parts');
  }
  const fields: SdkFields = defined({
    message: knownId,
    metadata: message.metadata,
    parts: isWhole ? undefined : references,
  });
  return { fields, newMessage: { role: 'user', parts: contents } };
}

export function assertMessageId(id: string): void {
  assertId(id, 'message.id');
  if (Buffer.byteLength(id) <= MAX_ID_BYTES) return;
  throw new InvalidInputError(`must be at most ${MAX_ID_BYTES} UTF-8 bytes long`, 'message.id');
}
