import type { UIMessage } from 'ai';
import { describeWrite } from '../../adapter.js';
import { InvalidInputError, type SessionKey } from '../../index.js';
import type { WriteDescription } from '../../sessions/rest/index.js';
import type { ChatRequest, PlannedRun } from './chat-request.js';
import { REQUEST_NAME, toEventContents } from './step-events.js';

/** What a page asks to write, for {@link ChatRules}. */
export interface ChatWrite extends SessionKey {
  /** What is written: the kinds of content, `rewind` for an edit or another answer, and `approval` for an answer to an approval. */
  readonly write: WriteDescription;
  /** Whether the message begins the chat. */
  readonly isNew: () => Promise<boolean>;
}

/** What pages may do. */
export interface ChatRules {
  /**
   * Whether a page may edit a message, and ask for another answer. Both rewind the chat. Default: `true`, unless the access rule of
   * the app refuses it.
   */
  readonly edits?: boolean | undefined;
  /** Asked before anything is stored, and throws if the page may not write this. `AnswersChat` asks the access rule of the app. */
  readonly mayWrite?: ((asked: ChatWrite) => void | Promise<void>) | undefined;
}

/** Which message of a page counts, and whether it replaces what is in the chat. */
export interface AskedMessage {
  readonly message: UIMessage;
  readonly isAgain: boolean;
  readonly isEdit: boolean;
  /** Of the assistant: answers to approvals and outputs of tools. */
  readonly isContinued: boolean;
}

export function askedMessage(message: UIMessage, { trigger, messageId }: ChatRequest): AskedMessage {
  const isAgain = trigger === 'regenerate-message';
  const isEdit = !isAgain && message.role === 'user' && messageId === message.id;
  return { message, isAgain, isEdit, isContinued: !isAgain && message.role === 'assistant' };
}

/** Refuses edits where an app wants none. */
export function assertEdits({ isAgain, isEdit }: AskedMessage, edits: boolean): void {
  if (edits || !(isAgain || isEdit)) return;
  throw new InvalidInputError(
    'must not replace what was said: chats of this app are not edited',
    isAgain ? 'request.trigger' : 'request.messageId',
  );
}

/** What a page writes with a message of the user, before anything is read. */
export function writeOfMessage({ message, isAgain, isEdit }: AskedMessage): WriteDescription {
  const replaces = isAgain || isEdit ? { controls: ['rewind'] } : {};
  if (isAgain) return describeWrite(replaces);
  const { contents } = toEventContents(message.parts);
  // An edit gets an id of its own.
  const invocationId = isEdit ? undefined : message.id;
  return describeWrite({
    ...replaces,
    event: { author: 'user', invocationId, content: { role: 'user', parts: contents } },
  });
}

/** What it writes with its answers to approvals and outputs of tools. */
export function writeOfAnswers({ newMessage }: PlannedRun): WriteDescription {
  const parts = newMessage.parts ?? [];
  const outputs = parts.filter(({ functionResponse }) => functionResponse?.name !== REQUEST_NAME);
  const event = { author: 'user', content: { role: 'user', parts: outputs } };
  return describeWrite({
    ...(outputs.length < parts.length && { controls: ['approval'] }),
    ...(outputs.length > 0 && { event }),
  });
}
