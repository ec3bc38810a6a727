import type { Part } from '../../sessions/domain/event/content.js';
import type { EventLike } from '../../sessions/domain/event/event.js';

/** A part of a message, before it takes the form of a vendor. */
export type ConversationPart =
  | { readonly type: 'text'; readonly text: string; readonly signature?: string }
  | { readonly type: 'thought'; readonly text: string; readonly signature: string }
  | { readonly type: 'file'; readonly mimeType: string; readonly part: Part }
  | { readonly type: 'code'; readonly part: Part }
  | ConversationCall
  | ConversationResult;

/** A tool call. Its id is unique in the conversation. */
export interface ConversationCall {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signature?: string;
  /** Whether the event has this id, or it was made up. */
  readonly isIdGiven: boolean;
}

/** What a tool may give beside its response. */
export type ConversationResultPart = Extract<ConversationPart, { readonly type: 'text' | 'file' | 'code' }>;

/** The result of the call with the same id. */
export interface ConversationResult {
  readonly type: 'result';
  readonly id: string;
  readonly name: string;
  readonly response: unknown;
  /** Files, and what else belongs to the response. Missing if there is none. */
  readonly parts?: readonly ConversationResultPart[];
  readonly isError: boolean;
  readonly isIdGiven: boolean;
}

/**
 * A message of the conversation as one agent sees it. A `tool` message follows the `model` message with its calls, and
 * has one result for each of them.
 */
export interface ConversationMessage {
  readonly role: 'user' | 'model' | 'tool';
  readonly parts: readonly ConversationPart[];
  /** Who begins: the user a turn, a summary the conversation. Other messages continue a turn. */
  readonly begins?: 'turn' | 'summary';
}

/** Events as {@link toMessages} reads them: of a session, of `listEvents`, or of ADK for TypeScript. */
export type ConversationEvent = Pick<
  EventLike,
  'content' | 'author' | 'branch' | 'partial' | 'actions' | 'interrupted' | 'redaction'
> & {
  /** Without it, no summary of a branch covers the event. */
  readonly seq?: number | undefined;
};

/** Joins neighbours of one role, for vendors that demand that roles alternate. Tool results count as the user's. */
export function alternating(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const joined: ConversationMessage[] = [];
  for (const message of messages) {
    const role = message.role === 'model' ? 'model' : 'user';
    const last = joined.at(-1);
    if (last?.role === role) joined[joined.length - 1] = { role, parts: [...last.parts, ...message.parts] };
    else joined.push({ role, parts: message.parts });
  }
  return joined;
}
